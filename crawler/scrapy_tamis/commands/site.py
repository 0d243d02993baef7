"""``tamis site``: the pages of one site in, their content by a site-level method out."""

from __future__ import annotations

import argparse
from dataclasses import Field, fields
from inspect import getdoc
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from scrapy_tamis.commands.common import (
    FAILED,
    CommandError,
    CommandParser,
    Progress,
    report_errors,
    warn,
    write_output,
)
from tamis.folders import SitePages, page_files
from tamis_papers.methods import METHODS, LabelledSitePage, labelled_pages, method, summary
from tamis_papers.pages import SiteError

if TYPE_CHECKING:
    from collections.abc import Iterable

_FORMATS: Final = {"text": ".txt", "html": "", "labels": ".json"}  # with the suffix of their files
HELP = """\
clean the pages of one site by a site-level method alone; tamis clean --site uses the model as well
DIR holds the pages of one site, HTML files anywhere below it. The method learns from all of them what the site repeats,
and labels each. With -o, what is left of page a/b.html is written to OUT/text/a/b.html.txt, OUT/html/a/b.html and
OUT/labels/a/b.html.json; without, there is only the table.

examples:
  tamis site --list                                    all methods
  tamis site node-hashes --help                        what a method does, and its parameters
  tamis site site-level mirror/example.org -o cleaned/
  tamis site text-windows mirror/example.org --window 24 --format text -o cleaned/
"""


def add_options(parser: CommandParser) -> None:
    """Add a parser for each method."""
    listing = "\n".join(f"{name:<24} {summary(name)}" for name in METHODS)
    parser.add_argument("--list", action="version", version=listing, help="list the methods and exit")
    methods = parser.add_subparsers(title="methods", dest="method", metavar="METHOD", required=True)
    for name in METHODS:
        style: Any = {"help": summary(name), "formatter_class": argparse.RawDescriptionHelpFormatter}
        _add_method_options(methods.add_parser(name, description=getdoc(METHODS[name]), **style), name)


def _add_method_options(parser: CommandParser, name: str) -> None:
    """Add the options of all methods, and one for each parameter of this one."""
    add = parser.add
    add("folder DIR", "folder with the pages of one site", type=Path)
    add("-o --output OUT", "folder to write to, made if need be", type=Path)
    add("--format", "what to write (default: all three)", choices=tuple(_FORMATS), default=None, many=True)
    add("--base-url URL", "address of the folder, which links are in-site or not relative to")
    parameters = parser.add_argument_group("parameters of the method")
    for parameter in fields(METHODS[name]):
        _add_parameter(parameters, parameter)


def run(options: argparse.Namespace) -> int:
    """Learn, label, write, and print the table."""
    if not options.folder.is_dir():
        raise CommandError(f"no such folder: {options.folder}")
    if options.output and options.output.resolve().is_relative_to(options.folder.resolve()):
        raise CommandError(
            f"-o: {options.output} lies in {options.folder}; what is written there would be read as pages"
        )
    files = page_files(options.folder)
    if not files:
        raise CommandError(f"{options.folder}: no HTML files in it")
    with report_errors(f"--base-url {options.base_url}: " if options.base_url else f"{options.folder}: "):
        pages = SitePages.of_files(options.folder, files, options.base_url)
    pages.progress = Progress("pages")
    parameters = {each.name: getattr(options, each.name) for each in fields(METHODS[options.method])}
    with report_errors():
        chosen = method(options.method, **parameters)
        try:
            table = _write_pages(labelled_pages(pages, chosen), options)
        except SiteError as error:
            raise CommandError(f"{options.folder}: {error}") from error
    print(table)
    for name, why in pages.skipped.items():
        warn(f"{options.folder / name}: {why}")
    return FAILED if pages.skipped else 0


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
