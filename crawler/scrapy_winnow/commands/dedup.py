"""``winnow dedup``: marks near-duplicates in files of documents."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from scrapy_winnow.commands.common import FAILED, CommandError, CommandParser, counted, open_input, warn
from scrapy_winnow.fetching import reason
from winnow.duplicates import SAME_TEXT_RESEMBLANCE, SAME_TEXT_SKETCH, MemoryIndex, shingles

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

    import numpy as np
    from numpy.typing import NDArray

    from winnow.duplicates import Verdict

    Document = tuple[str, NDArray[np.uint64]]

HELP = """\
mark the documents in files that nearly repeat an earlier one
Each line of a FILE is a JSON object with the address and the clean text of a document, as `scrapy crawl site -o
items.jsonl` and `winnow warc` write them. The lines come out in their order with three more fields: "duplicate_of", the
address of the earlier document that this one repeats, or null; "resemblance", the estimated fraction of windows of 6
words that both have; "cluster", the same for all documents with one text.

Without --redis-url the index is in memory, and holds 1,000,000 texts. With it the index is that of the crawls with the
same prefix, and several runs may share it.

exit codes: 0 all went well, 1 some lines are not documents, 2 the command line is wrong or Redis cannot be reached

examples:
  winnow dedup items.jsonl -o marked.jsonl
  winnow dedup monday.jsonl tuesday.jsonl --drop -o unique.jsonl
  winnow dedup items.jsonl --redis-url redis://localhost:6379/0
"""

_BATCH: Final = 500
"""Documents looked up together in Redis."""

_TIMEOUT_S: Final = 30.0


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
    add = parser.add
    add("files FILE", "JSON lines, also compressed (.gz), or - for standard input", nargs="+")
    add("-o --output OUT", "file to write (default: standard output)", type=Path)
    add("--drop", "leave out what has nearly all its text in common")
    add("--url-field NAME", "(default: %(default)s)", default="url")
    add("--text-field NAME", "(default: %(default)s)", default="text")
    add("--sketch N", "hashes kept of a text, from 8 on, as WINNOW_DUPLICATES_SKETCH", default=8)
    add("--resemblance X", "least resemblance, as WINNOW_DUPLICATES_RESEMBLANCE", type=float)
    add("--redis-url URL", "keep the index in this Redis, as WINNOW_REDIS_URL")
    add("--prefix PREFIX", "first part of every key there (default: %(default)s)", default="winnow")
    add("--ttl S", "seconds that Redis keeps a document, as WINNOW_DUPLICATES_TTL (%(default)s)", default=2_592_000)


def run(options: argparse.Namespace) -> int:
    """Decide the documents in their order."""
    if not 8 <= options.sketch <= 1024:
        raise CommandError("--sketch: from 8 to 1024")
    if options.ttl < 1:
        raise CommandError("--ttl: at least 1")
    if options.resemblance is not None and not 0 < options.resemblance <= 1:
        raise CommandError("--resemblance: above 0 and at most 1")
    if options.drop:
        options.sketch = max(options.sketch, SAME_TEXT_SKETCH)
        options.resemblance = options.resemblance or SAME_TEXT_RESEMBLANCE
    broken = total = repeated = dropped = 0
    documents = _documents(options)
    with _index(options) as decide, _output(options) as output:
        while batch := list(islice(documents, _BATCH)):
            found = list(filter(None, batch))
            broken += len(batch) - len(found)
            total += len(found)
            verdicts = decide([(url, hashes) for _, url, hashes in found])
            for (row, _, hashes), verdict in zip(found, verdicts, strict=True):
                repeated += verdict.duplicate_of is not None
                if options.drop and verdict.is_same_text(hashes, options.sketch, options.resemblance):
                    dropped += 1
                else:
                    row |= {name: getattr(verdict, name) for name in ("duplicate_of", "resemblance", "cluster")}
                    output.write(json.dumps(row, ensure_ascii=False) + "\n")
    dropped_note = f", {dropped:,} of them dropped" if options.drop else ""
    broken_note = f"; not documents: {counted(broken, 'line')}" if broken else ""
    warn(f"{counted(total, 'document')}, {counted(repeated, 'near-duplicate')}{dropped_note}{broken_note}")
    if broken and not total:
        warn(f"no line has texts named {options.url_field} and {options.text_field}: see --url-field and --text-field")
    return FAILED if broken else 0


@contextmanager
def _index(options: argparse.Namespace) -> Iterator[Callable[[list[Document]], list[Verdict]]]:
    """What decides documents: an index in memory, or the one in Redis."""
    if options.redis_url is None:
        index = MemoryIndex(keep=options.sketch, min_resemblance=options.resemblance)
        yield lambda documents: [index.find(*document) for document in documents]
        return
    from scrapy_winnow.storage.clients import check_address
    from scrapy_winnow.storage.connection import Connection
    from scrapy_winnow.storage.index import DuplicateIndex

    if problem := check_address(options.redis_url):
        raise CommandError(f"--redis-url {problem}")
    connection = Connection(options.redis_url, timeout=_TIMEOUT_S)
    how = {"ttl": options.ttl, "keep": options.sketch, "min_resemblance": options.resemblance}
    stored = DuplicateIndex(connection, options.prefix, **how)
    with asyncio.Runner() as runner:

        def decide(documents: list[Document]) -> list[Verdict]:
            verdicts = runner.run(stored.find_all(documents))
            if verdicts is None:
                raise CommandError("Redis cannot be reached, or refused the look-up: see the message above")
            return verdicts

        try:
            yield decide
        finally:
            runner.run(connection.close())


@contextmanager
def _output(options: argparse.Namespace) -> Iterator[IO[str]]:
    """Standard output, or a file that is put in its place when all lines are written."""
    if options.output is None:
        yield sys.stdout
        return
    part = options.output.with_name(f"{options.output.name}.part")
    try:
        with part.open("w", encoding="utf-8", errors="surrogatepass") as file:
            yield file
        part.replace(options.output)
    except OSError as error:
        raise CommandError(f"-o {options.output}: {reason(error)}") from error


def _documents(options: argparse.Namespace) -> Iterator[tuple[dict[str, Any], str, NDArray[np.uint64]] | None]:
    """Yield the object, address and shingles of the document in each line of the files; ``None`` for other lines."""
    for name in options.files:
        with open_input(name) as file:
            for line in filter(bytes.strip, file):
                try:
                    row = json.loads(line)
                    url, text = row[options.url_field], row[options.text_field]
                except (ValueError, LookupError, TypeError, RecursionError):
                    url = text = None
                is_document = isinstance(url, str) and isinstance(text, str)
                yield (row, url, shingles(text, keep=options.sketch)) if is_document else None
