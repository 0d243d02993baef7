"""``tamis dedup``: marks near-duplicates in files of documents."""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from scrapy_tamis.commands.common import (
    FAILED,
    CommandError,
    CommandParser,
    json_rows,
    open_input,
    report_errors,
    warn,
)
from scrapy_tamis.messages import counted
from tamis.duplicates import MIN_RESEMBLANCE, MemoryIndex, Windows
from tamis.files import open_output

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

HELP = """\
mark the documents in files that nearly repeat an earlier one
Each line of a FILE, or each member of a JSON array, is an object with the address and the clean text of a document, as
crawls and `tamis warc` write them. They come out as lines, in the same order, with two more fields: "duplicate_of", the
address of the earlier document that this one repeats, or null; "resemblance", the estimated fraction of windows of 6
words that both have. The last 1,000,000 different texts are remembered.

exit codes: 0 all went well, 1 some lines are not documents, 2 the command line is wrong

examples:
  tamis dedup items.jsonl -o marked.jsonl
  tamis dedup monday.jsonl tuesday.jsonl --drop -o unique.jsonl
"""


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
    add = parser.add
    add("files FILE", "JSON lines or one JSON array, also compressed (.gz), or - for standard input", nargs="+")
    add("-o --output OUT", "file to write (default: standard output)", type=Path)
    add("--drop", "leave out near-duplicates of 30 words or more")
    add("--url-field NAME", "field with the address (default: %(default)s)", default="url")
    add("--text-field NAME", "field with the clean text (default: %(default)s)", default="text")
    help_text = "least resemblance, as TAMIS_DUPLICATES_RESEMBLANCE (default: %(default)s)"
    add("--resemblance X", help_text, type=float, default=MIN_RESEMBLANCE)


def run(options: argparse.Namespace) -> int:
    """Decide the documents in their order."""
    if not 0.5 <= options.resemblance <= 1:
        raise CommandError("--resemblance: from 0.5 to 1")
    index = MemoryIndex(min_resemblance=options.resemblance)
    broken = total = repeated = dropped = 0
    with ExitStack() as stack:
        output: IO[str] = sys.stdout
        if options.output not in {None, Path("-")}:
            stack.enter_context(report_errors(f"-o {options.output}: "))
            # Half a character of a text becomes an escape of JSON.
            output = stack.enter_context(open_output(options.output, options.files, "backslashreplace"))
        for document in _documents(options):
            if document is None:
                broken += 1
                continue
            row, url, windows = document
            verdict = index.find(url, windows)
            total += 1
            repeated += verdict.duplicate_of is not None
            if options.drop and verdict.duplicate_of is not None and not windows.is_short:
                dropped += 1
            else:
                output.write(json.dumps(row | verdict._asdict(), ensure_ascii=False) + "\n")
    dropped_note = f", {dropped:,} of them dropped" if options.drop else ""
    broken_note = f"; not documents: {counted(broken, 'line')}" if broken else ""
    warn(f"{counted(total, 'document')}, {counted(repeated, 'near-duplicate')}{dropped_note}{broken_note}")
    if broken and not total:
        warn(f"no line has texts named {options.url_field} and {options.text_field}: see --url-field and --text-field")
    return FAILED if broken else 0


def _documents(options: argparse.Namespace) -> Iterator[tuple[dict[str, Any], str, Windows] | None]:
    """Yield the object, address and windows of the document in each line of the files; ``None`` for other lines."""
    for name in options.files:
        with report_errors(f"{name}: "), open_input(name) as file:
            for row in json_rows(file):
                try:
                    url, text = row[options.url_field], row[options.text_field]
                except (LookupError, TypeError):
                    url = text = None
                is_document = isinstance(url, str) and isinstance(text, str)
                yield (row, url, Windows(text)) if is_document else None
