"""``tamis report``: the results of a crawl as one HTML file."""

from __future__ import annotations

from codecs import BOM_UTF8
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scrapy_tamis.commands.common import (
    CommandError,
    CommandParser,
    add_server_options,
    connect_to,
    find_server,
    json_rows,
    open_input,
    report_errors,
    warn,
    write_output,
)
from scrapy_tamis.messages import counted

if TYPE_CHECKING:
    import argparse

    from scrapy_tamis.report.records import CrawlRecord

HELP = """\
write the results of a crawl as one self-contained HTML file
Give the items of a crawl (JSON lines or one JSON array). The counts of its hosts are read from the server of the
project here, or from the one that you name. A crawl with TAMIS_REPORT writes a report that also has the results of its
requests, errors, speed over time and the template of each host.

examples:
  tamis report items.jsonl
  tamis report items.jsonl --state-dir my-project/.scrapy/tamis -o report.html
  tamis report items.jsonl --redis-url redis://localhost:6379/0 -o report.html
"""

_OUTPUT: Final = Path("report.html")


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
    add = parser.add
    add("sources FILE", "items, also compressed (.gz), or folder of the private server", nargs="*", type=Path)
    add("-o --output OUT", f"file to write (default: {_OUTPUT}, unless there is one)", type=Path)
    add_server_options(parser)


def run(options: argparse.Namespace) -> int:
    """Read the sources and write the report."""
    from scrapy_tamis.report.document import render_report
    from scrapy_tamis.report.records import CrawlRecord
    from scrapy_tamis.storage.hosts import HostRecords

    files = [source for source in options.sources if not source.is_dir()]
    if not files:
        raise CommandError("nothing to report: give the items of a crawl; `tamis hosts` shows its hosts")
    if options.output is None and _OUTPUT.exists():  # perhaps that of TAMIS_REPORT
        raise CommandError(f"there is a {_OUTPUT} already: -o {_OUTPUT} replaces it")
    output = options.output or _OUTPUT
    record = CrawlRecord(title=f"Crawl of {files[0].stem}")
    for file in files:
        _read_source(record, file)
    options.state_dir = next((source for source in options.sources if source.is_dir()), options.state_dir)
    is_given = bool(options.state_dir or options.redis_url)
    try:
        if find_server(options):
            names = dict.fromkeys(page.host for page in record.pages)
            with connect_to(options.redis_url, options.state_dir) as client:
                record.hosts = {host.host: host for host in HostRecords(client, options.prefix).named(names)}
    except CommandError as error:
        if is_given:
            raise
        warn(f"without what was counted of the hosts: {error}")
    if not record.pages:
        raise CommandError("nothing to report: no items of Tamis there")
    write_output(output, render_report(record), options.sources)
    warn(f"wrote {output}")
    return 0


def _read_source(record: CrawlRecord, source: Path) -> None:
    from scrapy_tamis.report.records import page_record

    unused = 0
    with report_errors(f"{source}: "), open_input(str(source)) as opened:
        if not opened.peek(64).removeprefix(BOM_UTF8).strip():
            raise CommandError(f"{source}: is empty")
        for item in json_rows(opened):
            page = page_record(item, -1.0) if isinstance(item, dict) else None
            if page is None:
                unused += 1
            else:
                record.add(page)
    if unused:
        warn(f"{source}: {counted(unused, 'item')} without an address or the fields of Tamis")
