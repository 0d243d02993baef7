"""``tamis hosts``: show what Redis knows of the hosts that were crawled; export and import it."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scrapy_tamis.commands.common import (
    FAILED,
    CommandError,
    CommandParser,
    add_server_options,
    connect_to,
    find_server,
    report_errors,
    warn,
    write_output,
)
from scrapy_tamis.fetching import InputError, read_page, reason
from scrapy_tamis.messages import counted
from scrapy_tamis.storage.evidence import HashedPage
from scrapy_tamis.storage.keys import MAX_TTL_S, site_of
from tamis import Page, PageTooLarge
from tamis.counting import THETA
from tamis.folders import page_files

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator, Sequence

    from scrapy_tamis.storage.hosts import HostRecord, HostRecords

_MAX_SAMPLED: Final = 50
HELP = """\
show the hosts that were counted; forget, reopen, export or import some
A host counts until its labels stop changing; then it is settled, its labels are frozen, and its pages cost no call.
"labels" is the number of units that are template so far, "changed" the fraction of the template's text whose label
changed since it was last stable, and "settles" the number of pages at which the host settles if the labels stay. A host
that was forgotten or reopened counts from its next page on. Running crawls notice after a minute and 16 pages of the
host, or after an hour.

examples:
  tamis hosts                                                  in a project: all hosts of its crawls
  tamis hosts --redis-url redis://localhost:6379/0 news.example
  tamis hosts --redis-url redis://localhost:6379/0 --json | jq -s 'sort_by(-.bytes) | .[:10]'
  tamis hosts --redis-url redis://localhost:6379/0 --reopen news.example    its template has changed
  tamis hosts --redis-url redis://localhost:6379/0 --forget news.example
  watch tamis hosts                                                         while a crawl runs
  tamis hosts --export news.example --sample mirror/news.example -o news.json
  tamis hosts --import news.json                                            a settled start for another crawl
"""


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
    add = parser.add
    add("hosts HOST", "host or address of a page (default: all hosts)", nargs="*")
    add_server_options(parser)
    add("--json", "write one JSON object a host")
    what = parser.add_mutually_exclusive_group()
    add("--forget", "delete the counts and labels of each HOST", group=what)
    add("--reopen", "let each settled HOST count again", group=what)
    add("--export", "write what was learned of one HOST as JSON", group=what)
    add("--import", "each HOST is a file of --export, whose host becomes settled", dest="import_", group=what)
    sample = "for --export: page of the host, or folder of pages, to make CSS selectors from"
    add("--sample FILE", sample, many=True)
    add("-o --output OUT", "for --export: file to write (default: standard output)", type=Path, default=Path("-"))
    add("--ttl S", "for --import: as TAMIS_TTL (default: %(default)s)", default=2_592_000)


def run(options: argparse.Namespace) -> int:
    """Show hosts, or change those that are named; unknown hosts are named on standard error."""
    from scrapy_tamis.storage.hosts import HostRecords

    if (options.forget or options.reopen) and not options.hosts:
        raise CommandError(f"--{'forget' if options.forget else 'reopen'} needs a HOST")
    if options.export and len(options.hosts) != 1:
        raise CommandError("--export needs one HOST")
    if not options.export and (options.sample or options.output != Path("-")):
        raise CommandError("-o and --sample go with --export")
    if options.import_ and (not options.hosts or not 1 <= options.ttl <= MAX_TTL_S):
        raise CommandError(f"--import needs a FILE, and --ttl from 1 to {MAX_TTL_S}")
    names = [] if options.import_ else [_host_name(host) for host in options.hosts]
    if not find_server(options):
        raise CommandError("neither a Scrapy project nor .scrapy/tamis is here: give --redis-url or --state-dir")
    with connect_to(options.redis_url, options.state_dir, create=options.import_) as client:
        records = HostRecords(client, options.prefix)
        if options.export:
            return _export_profile(records, names[0], options.sample, options.output)
        if options.import_:
            return _import_profiles(records, options.hosts, options.ttl)
        if options.forget or options.reopen:
            return _change_hosts(records, names, forget=options.forget)
        unknown = _show_hosts(records.named(names) if names else records.all(), set(names), as_json=options.json)
    for name in sorted(unknown):
        warn(f"{name}: no such host was counted")
    return FAILED if unknown else 0


def _host_name(host: str) -> str:
    name = site_of(host if "://" in host else f"http://{host}/")
    if name is None:
        raise CommandError(f"{host!r} is neither a host nor the address of a page")
    return name


def _change_hosts(records: HostRecords, names: list[str], *, forget: bool) -> int:
    code = 0
    for name in names:
        if records.forget(name) if forget else records.reopen(name):
            print(f"{name}: {'forgotten' if forget else 'counts again'}")
        else:
            warn(f"{name}: {'no such host was counted' if forget else 'is not settled'}")
            code = FAILED
    return code


def _show_hosts(records: Iterable[HostRecord], names: set[str], *, as_json: bool) -> set[str]:
    """Write the hosts, with sums on standard error; return the names that were not found."""
    from scrapy_tamis.storage.hosts import ago

    hosts = settled = size = 0
    for record in records:
        hosts, settled, size = hosts + 1, settled + (record.state == "settled"), size + (record.bytes or 0)
        names.discard(record.host)
        if as_json:
            print(json.dumps(asdict(record)))
            continue
        if hosts == 1:
            print(f"{'host':<40}  state     pages labels changed settles  nodes    bytes version  used")
        print(
            f"{record.host:<40}  {record.state:<8} {record.pages:>6} {record.labels:>6} {record.changed:>7.1%} "
            f"{f'at {record.settles_at}' if record.settles_at else '-':>7} {record.nodes:>6} "
            f"{'-' if record.bytes is None else record.bytes:>8} {record.label_version:>7}  {ago(record.used)} ago"
        )
    if not as_json:
        sums = f"{counted(hosts, 'host')}, {settled:,} of them settled, {size:,} bytes"
        print(sums, file=sys.stderr)
    return names


def _export_profile(records: HostRecords, host: str, samples: Sequence[Path], output: Path) -> int:
    """Write the profile of a host to a file, or to standard output."""
    from scrapy_tamis.profiles import dump_profile, find_repeated_parts

    with report_errors(f"{host}: its counts are damaged: "):
        labels = records.labels_of(host)
    if labels is None:
        warn(f"{host}: not counted, or fewer than 10 of its pages")
        return FAILED
    pages = list(_read_samples(samples, host))
    template = find_repeated_parts(pages, labels, THETA)
    if not samples:
        warn("without --sample pages there are labels, but no selectors")
    elif not template:
        warn(f"the pages of --sample have no template elements of {host}")
    profile = dump_profile(host, labels, template, len(pages))
    write_output(output, f"{profile}\n", _sample_files(samples))
    return 0


def _import_profiles(records: HostRecords, files: Sequence[str], ttl: int) -> int:
    """Settle the hosts of profiles; hosts that are known already do not change."""
    from scrapy_tamis.profiles import load_profile

    code = 0
    for file in files:
        try:
            host, labels = load_profile(Path(file).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            warn(f"{file}: {reason(error)}")
            code = FAILED
            continue
        if records.settle(host, labels, ttl):
            print(f"{host}: settled with {len(labels.fingerprints):,} labels")
        else:
            warn(f"{host}: is known already; delete it first: tamis hosts --forget")
            code = FAILED
    return code


def _sample_files(samples: Sequence[Path]) -> list[Path]:
    return [file for sample in samples for file in (page_files(sample) if sample.is_dir() else [sample])]


def _read_samples(samples: Sequence[Path], host: str) -> Iterator[HashedPage]:
    for file in _sample_files(samples)[:_MAX_SAMPLED]:
        try:
            yield HashedPage.of(Page.parse(read_page(str(file)), f"http://{host}/{file.name}"))
        except (InputError, PageTooLarge) as error:
            warn(f"{file}: {error}")
