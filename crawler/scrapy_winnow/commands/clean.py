"""``winnow clean``: pages in; text, Markdown, clean HTML or JSON out."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy_winnow.commands.shared.cleaning import FURTHER, SUFFIXES, Source, cleaned_sources, sources_of
from scrapy_winnow.commands.shared.failures import FAILED, CommandError, reason
from scrapy_winnow.commands.shared.inputs import InputError, add_page_options, check_url, load
from scrapy_winnow.commands.shared.outputs import FileOutput, FolderOutput, Output, StandardOutput
from scrapy_winnow.commands.shared.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Sequence

_EPILOG = """\
examples:
  winnow clean page.html
  winnow clean --format markdown --url https://host.example/story page.html -o story.md
  winnow clean --format json *.html > pages.jsonl       one JSON object a line
  winnow clean *.html -o cleaned/                       a file each, in a folder
  winnow clean mirror/ -o cleaned/ -j 4                 a folder of pages, as the same folders of texts
  winnow clean mirror/ --format json --with metadata -o pages.jsonl
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
        choices=tuple(SUFFIXES),
        default="text",
        help="what to write (default: text); json has the title, text, share of text cut and more",
    )
    parser.add_argument(
        "--with",
        dest="further",
        action="append",
        choices=FURTHER,
        default=[],
        help="write this into JSON, too; may be given more than once",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        help="file to write to; a folder, made if need be, for several FILEs; one file of JSON lines, OUT.jsonl",
    )
    parser.add_argument(
        "-j", "--processes", type=int, default=1, metavar="N", help="processes to clean in (default: 1)"
    )
    parser.add_argument("--encoding", metavar="NAME", help="charset of the pages (default: found out for each)")
    parser.add_argument("--no-links", action="store_true", help="leave out where links lead")
    parser.add_argument("--no-images", action="store_true", help="leave out pictures")
    parser.add_argument("--no-tables", action="store_true", help="leave out tables of data")
    parser.add_argument("--keep-copies", action="store_true", help="keep text that a page has twice")
    parser.add_argument(
        "--comments",
        choices=("separate", "include", "drop"),
        default="separate",
        help="what readers wrote below the content: out of the text (default), in it, or nowhere at all",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Clean every page; those that fail are named on standard error."""
    check_url(options)
    if options.processes < 1:
        raise CommandError("--processes: at least 1")
    if options.further and options.format != "json":
        raise CommandError("--with goes with --format json")
    sources, failed = _sources(options)
    output = _output(options, sources)
    model = load(options)
    progress = Progress("pages") if output.quiet else None
    code = FAILED if failed else 0
    with output:
        for done, (source, page) in enumerate(cleaned_sources(sources, options, model), 1):
            for note in page.notes:
                print(f"winnow: {source.name}: {note}", file=sys.stderr)
            try:
                if page.content is not None:
                    output.write(source, page.content)
            except BrokenPipeError:
                raise
            except (InputError, OSError) as error:
                print(f"winnow: {source.name}: {reason(error)}", file=sys.stderr)
                code = FAILED
            if page.content is None:
                code = FAILED
            if progress is not None and len(sources) > 1:
                progress(done, len(sources), source.name)
    return code


def _sources(options: argparse.Namespace) -> tuple[list[Source], bool]:
    """Every page named, those of folders included, and whether some name stands for none."""
    sources: list[Source] = []
    failed = False
    for name in options.files:
        try:
            sources += sources_of(name)
        except (InputError, OSError) as error:
            print(f"winnow: {name}: {reason(error)}", file=sys.stderr)
            failed = True
    if options.url and len(sources) > 1:
        raise CommandError("--url goes with a single FILE")
    return sources, failed


def _output(options: argparse.Namespace, sources: Sequence[Source]) -> Output:
    """Where to write to.

    Raises:
        CommandError: that cannot be.
    """
    suffix = SUFFIXES[options.format]
    many = len(options.files) > 1 or len(sources) > 1
    try:
        if options.output in {None, "-"}:
            return StandardOutput(headed=many and options.format != "json")
        if options.format == "json" and options.output.endswith((".jsonl", ".json", ".ndjson")):
            return FileOutput.of(options.output)
        to_folder = many or options.output.endswith("/") or any(source.in_folder for source in sources)
        if to_folder or Path(options.output).is_dir():
            return FolderOutput.of(options.output, suffix)
        return FileOutput.of(options.output)
    except OSError as error:
        raise CommandError(f"-o {options.output}: {reason(error)}") from error
