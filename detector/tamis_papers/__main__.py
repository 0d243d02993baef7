"""Clean the pages of one site by a site-level method alone; ``tamis clean --site`` uses the model as well.

    python -m tamis_papers --list                                    all methods
    python -m tamis_papers node-hashes --help                        what a method does, and its parameters
    python -m tamis_papers site-level mirror/example.org -o cleaned/
    python -m tamis_papers text-windows mirror/example.org --window 24 --format text -o cleaned/

DIR holds the pages of one site, HTML files anywhere below it. The method learns from all of them what the site repeats,
and labels each. With -o, what is left of page a/b.html is written to OUT/text/a/b.html.txt, OUT/html/a/b.html and
OUT/labels/a/b.html.json; without, there is only the table.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import Field, fields
from inspect import getdoc
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tamis.files import write_output
from tamis.folders import SitePages, page_files
from tamis_papers.methods import METHODS, LabelledSitePage, labelled_pages, method, summary
from tamis_papers.pages import SiteError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_FORMATS: Final = {"text": ".txt", "html": "", "labels": ".json"}  # with the suffix of their files


def main(arguments: Sequence[str] | None = None) -> int:
    """Learn, label, write, and print the table; return the exit code, 1 when pages could not be read."""
    parser = _parser()
    options = parser.parse_args(arguments)
    folder = options.folder
    files = page_files(folder) if folder.is_dir() else []
    if not files:
        parser.error(f"{folder}: no HTML files in it")
    if options.output and options.output.resolve().is_relative_to(folder.resolve()):
        parser.error(f"-o: {options.output} lies in {folder}; what is written there would be read as pages")
    try:
        pages = SitePages.of_files(folder, files, options.base_url)
        chosen = method(
            options.method, **{each.name: getattr(options, each.name) for each in fields(METHODS[options.method])}
        )
        print(_write_pages(labelled_pages(pages, chosen), options))
    except (OSError, SiteError, ValueError) as error:
        parser.error(f"{folder}: {error}")
    for name, why in pages.skipped.items():
        print(f"{folder / name}: {why}", file=sys.stderr)
    return 1 if pages.skipped else 0


def _parser() -> argparse.ArgumentParser:
    """Return a parser with one for each method, which has the method's parameters as options."""
    style: Any = {"formatter_class": argparse.RawDescriptionHelpFormatter}
    parser = argparse.ArgumentParser("python -m tamis_papers", description=__doc__, **style)
    listing = "\n".join(f"{name:<24} {summary(name)}" for name in METHODS)
    parser.add_argument("--list", action="version", version=listing, help="list the methods and exit")
    methods = parser.add_subparsers(title="methods", dest="method", metavar="METHOD", required=True)
    for name, kind in METHODS.items():
        of_method = methods.add_parser(name, description=getdoc(kind), help=summary(name), **style)
        add = of_method.add_argument
        add("folder", metavar="DIR", help="folder with the pages of one site", type=Path)
        add("-o", "--output", metavar="OUT", help="folder to write to, made if need be", type=Path)
        add("--format", help="what to write (default: all three)", choices=tuple(_FORMATS), action="append")
        add("--base-url", metavar="URL", help="address of the folder, which links are in-site or not relative to")
        parameters = of_method.add_argument_group("parameters of the method")
        for parameter in fields(kind):
            _add_parameter(parameters, parameter)
    return parser


def _write_pages(pages: Iterable[LabelledSitePage], options: argparse.Namespace) -> str:
    """Write each page in the formats that were asked for, and lay sums over the pages out as a table."""
    count = learned_from = cut = characters = 0
    nodes_cut = 0.0
    for page in pages:
        for kind in (options.format or _FORMATS) if options.output else ():
            file = options.output / kind / f"{page.read.name}{_FORMATS[kind]}"
            file.parent.mkdir(parents=True, exist_ok=True)
            write_output(file, f"{page.text}\n" if kind == "text" else page.html if kind == "html" else page.json)
        template, all_text = page.characters
        count += 1
        learned_from = page.learned.pages
        cut += template
        characters += all_text
        nodes_cut += float(page.labels.template[: page.read.page.n].mean()) if page.read.page.n else 0.0
        del page  # its tree goes before the next one is made
    return (
        f"{'':<8}{'pages':>8}{'learned from':>14}{'text cut':>10}{'nodes cut':>11}\n"
        f"{'all':<8}{count:>8,}{learned_from:>14,}{cut / max(characters, 1):>10.1%}{nodes_cut / max(count, 1):>11.1%}"
    )


def _add_parameter(group: argparse._ArgumentGroup, parameter: Field[Any]) -> None:
    description, unit, choices = (parameter.metadata[key] for key in ("description", "unit", "choices"))
    default, shown = parameter.default, repr(parameter.default)
    kind: dict[str, Any] = {"type": type(default), "metavar": {int: "N", float: "X"}.get(type(default), "NAME")}
    if isinstance(default, bool):
        kind, shown = {"action": argparse.BooleanOptionalAction}, "on" if default else "off"
    elif choices:
        kind = {"choices": choices}
    says = f"{description}{f', in {unit}' if unit else ''} (default: {shown})".replace("%", "%%")
    group.add_argument(f"--{parameter.name.replace('_', '-')}", default=default, help=says, **kind)


if __name__ == "__main__":
    sys.exit(main())
