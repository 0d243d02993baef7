"""``winnow hosts``: what Redis knows of the hosts that were crawled."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy_winnow.commands.shared.failures import FAILED, CommandError
from scrapy_winnow.commands.shared.profiles import export_profile, import_profiles
from scrapy_winnow.commands.shared.server import add_server_options, connected
from scrapy_winnow.commands.shared.watching import watch

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy_winnow.hosts.records import HostRecord, HostRecords

_EPILOG = """\
A host is counting until its labels have stopped changing; then it is settled, its labels are frozen, and its pages cost
no call. A host that was forgotten or opened again counts from its next page on. Crawls that are running notice within a
minute.

examples:
  winnow hosts                                                  in a project: all hosts of its crawls
  winnow hosts --redis-url redis://localhost:6379/0 news.example
  winnow hosts --redis-url redis://localhost:6379/0 --json | jq -s 'sort_by(-.bytes) | .[:10]'
  winnow hosts --redis-url redis://localhost:6379/0 --reopen news.example    its template has changed
  winnow hosts --redis-url redis://localhost:6379/0 --forget news.example
  winnow hosts --watch                                                       while a crawl runs
  winnow hosts --export news.example --sample mirror/news.example -o news.json
  winnow hosts --import news.json                                            a settled start for another crawl
"""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command and its options."""
    parser = commands.add_parser(
        "hosts",
        help="show the hosts that were counted; forget, reopen, export or import some",
        description="Show the hosts that were counted: state, pages, labels, bytes in Redis, time since the last page.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("hosts", nargs="*", metavar="HOST", help="host or address of a page (default: all hosts)")
    add_server_options(parser)
    parser.add_argument("--json", action="store_true", help="write one JSON object a host")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--forget", action="store_true", help="delete the counts and labels of each HOST")
    what.add_argument("--reopen", action="store_true", help="have each HOST that is settled count again")
    what.add_argument("--watch", action="store_true", help="show the hosts again every other second, in a terminal")
    what.add_argument("--export", action="store_true", help="write what was learned of one HOST as JSON")
    what.add_argument(
        "--import", dest="import_", action="store_true", help="each HOST is a file of --export: make its host settled"
    )
    parser.add_argument(
        "--sample",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="for --export: pages of the host, or a folder of them, that CSS selectors are made from",
    )
    parser.add_argument("-o", "--output", type=Path, metavar="OUT", help="for --export: file to write")
    parser.add_argument(
        "--ttl",
        type=int,
        default=2_592_000,
        metavar="S",
        help="for --import: as WINNOW_HOST_TTL (default: %(default)s)",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Show hosts, or change those that are named; hosts that are not known are named on standard error."""
    from scrapy_winnow.hosts.records import HostRecords  # noqa: PLC0415  (help and usage errors need not wait for Redis)
    from winnow.fingerprints.units import FINGERPRINT_VERSION  # noqa: PLC0415

    if (options.forget or options.reopen) and not options.hosts:
        raise CommandError(f"--{'forget' if options.forget else 'reopen'} needs a HOST")
    if options.export and len(options.hosts) != 1:
        raise CommandError("--export needs one HOST")
    if options.import_ and (not options.hosts or options.ttl < 1):
        raise CommandError("--import needs a FILE, and --ttl at least 1")
    if options.watch and not sys.stdout.isatty():
        raise CommandError("--watch needs a terminal; without it, winnow hosts --json is there for programs")
    names = [] if options.import_ else [_name(host) for host in options.hosts]
    with connected(options, create=options.import_) as client:
        records = HostRecords(client, options.prefix, FINGERPRINT_VERSION)
        if options.export:
            return export_profile(client, options.prefix, names[0], options.sample, options.output)
        if options.import_:
            return import_profiles(client, options.prefix, options.hosts, options.ttl)
        if options.watch:
            watch(records, names)
        if options.forget or options.reopen:
            return _change(records, names, forget=options.forget)
        unknown = _show(records.named(names) if names else records.all(), set(names), as_json=options.json)
    for name in sorted(unknown):
        print(f"winnow: {name}: no such host was counted", file=sys.stderr)
    return FAILED if unknown else 0


def _name(host: str) -> str:
    from scrapy_winnow.hosts.names import site_of  # noqa: PLC0415

    name = site_of(host if "://" in host else f"http://{host}/")
    if name is None:
        raise CommandError(f"{host!r} is neither a host nor the address of a page")
    return name


def _change(records: HostRecords, names: list[str], *, forget: bool) -> int:
    code = 0
    for name in names:
        if records.forget(name) if forget else records.reopen(name):
            print(f"{name}: {'forgotten' if forget else 'counts again'}")
        else:
            print(f"winnow: {name}: {'no such host was counted' if forget else 'is not settled'}", file=sys.stderr)
            code = FAILED
    return code


def _show(records: Iterable[HostRecord], names: set[str], *, as_json: bool) -> set[str]:
    """Write the hosts as they come, with their sums on standard error; return those of the names that did not come."""
    from scrapy_winnow.hosts.records import ago  # noqa: PLC0415

    hosts = settled = size = 0
    for record in records:
        hosts, settled, size = hosts + 1, settled + (record.state == "settled"), size + (record.bytes or 0)
        names.discard(record.host)
        if as_json:
            print(json.dumps(asdict(record)))
            continue
        if hosts == 1:
            print(f"{'host':<40}  {'state':<8} {'pages':>6} {'nodes':>6} {'labels':>6} {'bytes':>8} version  used")
        print(
            f"{record.host:<40}  {record.state:<8} {record.pages:>6} {record.nodes:>6} {record.labels:>6} "
            f"{'-' if record.bytes is None else record.bytes:>8} {record.label_version:>7}  {ago(record.used)} ago"
        )
    if not as_json:
        print(
            f"{hosts:,} host{'' if hosts == 1 else 's'}, {settled:,} of them settled, {size:,} bytes", file=sys.stderr
        )
    return names
