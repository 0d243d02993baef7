"""``winnow clean``: pages in; text, Markdown, clean HTML or JSON out."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scrapy_winnow.commands.shared.failures import FAILED, CommandError, reason
from scrapy_winnow.commands.shared.inputs import (
    STANDARD_INPUT,
    InputError,
    add_page_options,
    check_url,
    clean_input,
    load,
)

if TYPE_CHECKING:
    from winnow import Cleaned

_SUFFIXES: Final = {"text": ".txt", "markdown": ".md", "html": ".html", "json": ".json"}
_EPILOG = """\
examples:
  winnow clean page.html
  winnow clean --format markdown --url https://host.example/story page.html -o story.md
  winnow clean --format json *.html > pages.jsonl       one JSON object a line
  winnow clean *.html -o cleaned/                       a file each, in a folder
  curl -s https://host.example/ | winnow clean -
"""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command and its options."""
    parser = commands.add_parser(
        "clean",
        help="take the template out of pages",
        description="Take the template out of pages and write their content.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_page_options(parser)
    parser.add_argument(
        "--format",
        choices=tuple(_SUFFIXES),
        default="text",
        help="what to write (default: text); json has the title, text, share of text cut and more",
    )
    parser.add_argument(
        "-o", "--output", metavar="OUT", help="file to write to; a folder, made if need be, for several FILEs"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Clean every file; those that fail are named on standard error."""
    check_url(options)
    target = _target(options)
    model = load(options)
    code = 0
    written: set[Path] = set()
    for name in options.files:
        try:
            content = _content(name, clean_input(name, options, model), options)
            if target is None:
                _print(name, content, options)
                continue
            file = target / f"{_stem(name)}{_SUFFIXES[options.format]}" if target.is_dir() else target
            if file in written:
                raise InputError(f"would overwrite {file}, written for another FILE")  # noqa: TRY301
            file.write_text(content, "utf-8")
            written.add(file)
        except BrokenPipeError:
            raise
        except (InputError, OSError) as error:
            print(f"winnow: {name}: {reason(error)}", file=sys.stderr)
            code = FAILED
    return code


def _target(options: argparse.Namespace) -> Path | None:
    """The file or folder to write to, ``None`` for standard output."""
    if options.output is None or options.output == STANDARD_INPUT:
        return None
    target = Path(options.output)
    try:
        if len(options.files) > 1 or options.output.endswith("/"):
            target.mkdir(parents=True, exist_ok=True)
        elif not target.parent.is_dir():
            raise CommandError(f"-o: no such folder: {target.parent}")
    except OSError as error:
        raise CommandError(f"-o {target}: {reason(error)}") from error
    return target


def _stem(name: str) -> str:
    return "stdin" if name == STANDARD_INPUT else Path(name).stem


def _content(name: str, cleaned: Cleaned, options: argparse.Namespace) -> str:
    if options.format == "json":
        row = {
            "file": name,
            "url": options.url,
            "title": cleaned.title,
            "text": cleaned.text,
            "template_share": round(cleaned.template_share, 4),
            "fallback": cleaned.fallback,
            "passed_through": cleaned.passed_through,
            "model": cleaned.model_version,
        }
        return json.dumps(row, ensure_ascii=False) + "\n"
    content: str = getattr(cleaned, options.format)
    return content if content.endswith("\n") else f"{content}\n"


def _print(name: str, content: str, options: argparse.Namespace) -> None:
    if len(options.files) > 1 and options.format != "json":
        content = f"==> {name} <==\n{content}\n"
    sys.stdout.write(content)
