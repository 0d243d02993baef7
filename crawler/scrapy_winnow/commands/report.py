"""``winnow report``: the results of a crawl as one HTML file."""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy_winnow.commands.common import (
    CommandError,
    CommandParser,
    connect_to,
    counted,
    open_input,
    report_errors,
    warn,
    write_output,
)

if TYPE_CHECKING:
    import argparse

    from scrapy_winnow.report.records import CrawlRecord

HELP = """\
write the results of a crawl as one self-contained HTML file
Give the items of a crawl (JSON lines or one JSON array), and for what was counted of its hosts the folder of its
private server (.scrapy/winnow in a project) or its Redis. A crawl with WINNOW_REPORT writes the report itself, and adds
the results of its requests, its errors, its speed over time and the template of each host, from some of its pages.

examples:
  winnow report items.jsonl
  winnow report items.jsonl .scrapy/winnow -o report.html
  winnow report items.jsonl --redis-url redis://localhost:6379/0
"""


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
    add = parser.add
    add("sources FILE", "items, also compressed (.gz), or folder of the private server", nargs="*", type=Path)
    add("-o --output OUT", "file to write (default: %(default)s)", type=Path, default=Path("report.html"))
    add("--redis-url URL", "read the hosts from this Redis, as WINNOW_REDIS_URL")
    add("--prefix PREFIX", "first part of every key (default: %(default)s)", default="winnow")


def run(options: argparse.Namespace) -> int:
    """Read the sources and write the report."""
    from scrapy_winnow.report.document import render_report
    from scrapy_winnow.report.records import CrawlRecord
    from scrapy_winnow.storage.hosts import HostRecords

    files = [source for source in options.sources if not source.is_dir()]
    if not files:
        raise CommandError("nothing to report: give the items of a crawl; `winnow hosts` shows its hosts")
    record = CrawlRecord(title=f"Crawl of {files[0].stem}")
    for file in files:
        _read_source(record, file)
    state = next((source for source in options.sources if source.is_dir()), None)
    if state is not None or options.redis_url:
        names = dict.fromkeys(page.host for page in record.pages)
        with connect_to(options.redis_url, state) as client:
            record.hosts = {host.host: host for host in HostRecords(client, options.prefix).named(names)}
    if not record.pages:
        raise CommandError("nothing to report: no items of Winnow there")
    write_output(options.output, render_report(record))
    warn(f"wrote {options.output}")
    return 0


def _read_source(record: CrawlRecord, source: Path) -> None:
    from scrapy_winnow.report.records import page_record

    unused = 0
    with report_errors(f"{source}: "), open_input(str(source)) as opened:
        start = opened.peek(64).removeprefix(BOM_UTF8).lstrip()[:1]
        if not start:
            raise CommandError(f"{source}: is empty")
        items = json.load(opened) if start == b"[" else map(_item_in, filter(bytes.strip, opened))
        for item in items:
            page = page_record(item, -1.0) if isinstance(item, dict) else None
            if page is None:
                unused += 1
            else:
                record.add(page)
    if unused:
        warn(f"{source}: {counted(unused, 'item')} without an address or the fields of Winnow")


def _item_in(line: bytes) -> object:
    """Return the item in a line of JSON; ``None`` for half a line, as a crawl that was killed leaves one."""
    with suppress(ValueError, RecursionError):
        return json.loads(line)
    return None
