"""What the commands read: pages from files and standard input, and the model that judges them."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from scrapy_winnow.commands.shared.failures import CommandError, reason

if TYPE_CHECKING:
    import argparse

    from winnow import Cleaned
    from winnow.models.base import Model

STANDARD_INPUT: Final = "-"


_ADDRESSES: Final = re.compile(rb"\s*https?://[^\s<>]+(?:\s+https?://[^\s<>]+)*\s*(?:\S{0,8})?")
_LOOKED_AT: Final = 4_096  # bytes


class InputError(Exception):
    """A file that cannot be worked on; the message says why."""


def add_page_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of every command that cleans pages named on the command line."""
    parser.add_argument("files", nargs="+", metavar="FILE", help="HTML file, or - for standard input")
    parser.add_argument("--url", help="address of the page: tells in-site links from others; for a single FILE only")
    add_model_options(parser)


def add_model_options(parser: argparse.ArgumentParser) -> None:
    """Add the choice of a model and of smoothing."""
    parser.add_argument(
        "--model", metavar="MODEL", help="model file, or name of a model of the package (default: the package's own)"
    )
    parser.add_argument(
        "--scope",
        choices=("auto", "article", "page"),
        default="auto",
        help="what is wanted: the story alone, all that is not template, or (default) what the kind of page suggests",
    )
    parser.add_argument(
        "--favor",
        choices=("balanced", "precision", "recall"),
        default="balanced",
        help="which mistake is worse: template that stays (precision) or content that goes (recall)",
    )
    parser.add_argument("--no-smooth", action="store_true", help="judge every part of a page alone, without smoothing")


def load(options: argparse.Namespace) -> Model:
    """Load the model that the options name."""
    from winnow import load_model  # noqa: PLC0415  (help and usage errors need not wait for numpy)

    try:
        return load_model(options.model)
    except (OSError, ValueError) as error:
        raise CommandError(f"--model: {reason(error)}") from error


def clean_input(name: str, options: argparse.Namespace, model: Model) -> Cleaned:
    """Read and clean one page, and say on standard error what a user should know of the result.

    Raises:
        InputError: the file cannot be read, or is no HTML.
    """
    cleaned, notes = cleaned_page(name, options, model)
    for note in notes:
        print(f"winnow: {name}: {note}", file=sys.stderr)
    return cleaned


def cleaned_page(name: str, options: argparse.Namespace, model: Model, **switches: Any) -> tuple[Cleaned, list[str]]:
    """Read and clean one page; return what came out, and what a user should know of it.

    Raises:
        InputError: the file cannot be read, or is no HTML.
    """
    from winnow import clean  # noqa: PLC0415  (help and usage errors need not wait for numpy)

    switches |= {"smooth": not options.no_smooth, "scope": options.scope, "favor": options.favor}
    cleaned = clean(read_page(name), options.url, model=model, **switches)
    notes = []
    if cleaned.passed_through:
        notes.append(f"too large ({cleaned.passed_through}); all its text is kept")
    if cleaned.fallback:
        notes.append("everything looks like template; its least template-like section is kept")
    return cleaned, notes


def check_url(options: argparse.Namespace) -> None:
    """Refuse one address for many pages."""
    if options.url and len(options.files) > 1:
        raise CommandError("--url goes with a single FILE")


def read_page(name: str) -> bytes:
    """Read the bytes of a page.

    Raises:
        InputError: the file cannot be read, is empty, or holds something other than text.
    """
    if not name:
        raise InputError("no such file or directory (its name is empty)")
    if name.startswith(("http://", "https://")):
        raise InputError(
            f"is an address; curl -sL {name} | winnow clean - --url {name} cleans one page, "
            f"scrapy crawl site -a url={name} a site"
        )
    from winnow.page.charset import is_binary  # noqa: PLC0415  (help and usage errors need not wait for numpy)

    try:
        html = sys.stdin.buffer.read() if name == STANDARD_INPUT else Path(name).read_bytes()
    except OSError as error:
        raise InputError(reason(error)) from error
    if not html.strip():
        raise InputError("is empty")
    if _ADDRESSES.fullmatch(html[:_LOOKED_AT]):
        raise InputError(f"is a list of addresses; scrapy crawl site -a urls_file={name} crawls and cleans them")
    if is_binary(html):
        raise InputError("is a binary file, not HTML")
    return html
