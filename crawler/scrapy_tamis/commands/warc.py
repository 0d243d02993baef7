"""``tamis warc``: archives of pages in, clean pages out, each cleaned with the evidence of its host."""

from __future__ import annotations

import importlib.util
import os
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scrapy_tamis.commands.common import (
    FAILED,
    CommandError,
    CommandParser,
    Progress,
    add_model_options,
    load_rules,
    model_switches,
    report_errors,
    warn,
)
from scrapy_tamis.fetching import STANDARD_INPUT
from scrapy_tamis.fields import OPTIONAL_FIELDS
from scrapy_tamis.messages import counted

if TYPE_CHECKING:
    import argparse

    from scrapy_tamis.archives.runs import Summary

_FORMATS: Final = ("jsonl", "parquet", "warc")
_FILE_SUFFIXES: Final = (".jsonl", ".json", ".parquet", ".warc", ".gz")
_SHOWN_ERRORS: Final = 20
HELP = """\
clean archives (WARC), each page with the counts of its host
IN is a WARC file, plain or compressed with gzip, zstd or lz4; a pattern such as 'crawl-*.warc.gz'; or an address that
fsspec opens: https://, or s3:// with the extra [s3], also as a pattern. OUT gets a file for each. All files are read
twice: first to count what the pages of each host repeat, then to clean every page with these counts, so that neither
the order of the pages nor the number of processes changes the result. Start a stopped run again with the same options
to resume it.

With --one-pass they are read once, in the order given, and each page is cleaned with what was counted before it: for
streams, also from standard input (-). The first page of a host is then cleaned alone.

exit codes: 0 all went well, 1 an archive could not be read to its end, or pages could not be cleaned, 2 wrong usage

examples:
  tamis warc crawl-*.warc.gz -o clean/
  tamis warc crawl-*.warc.gz -o clean/ --format parquet -j 8
  tamis warc 's3://bucket/crawl-*.warc.gz' -o clean/
  tamis warc s3://bucket/a.warc.gz s3://bucket/b.warc.gz -o clean/ --ray ray-head:6379
  curl -s https://host.example/crawl.warc.gz | tamis warc - --one-pass -o clean/
  tamis warc https://host.example/segment.warc.gz -o clean/ --format warc
"""


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
    add = parser.add
    add("sources IN", "archive, pattern, or address; - with --one-pass", nargs="+")
    add("-o --output OUT", "folder or address", required=True)
    add("--format", "what to write (default: %(default)s)", choices=_FORMATS, default=_FORMATS[0])
    add("--with", "an optional column", dest="columns", choices=OPTIONAL_FIELDS, many=True)
    add_model_options(parser)
    add("--rules FILE", "rules for sites, in TOML or JSON")
    add("--one-pass", "read each archive once, and clean with what was counted before each page")
    add("-j --processes N", "number of processes (default: one a core)", type=int, default=os.cpu_count() or 1)
    add(
        "--ray ADDRESS",
        "work on a Ray cluster, whose nodes open the archives (default: RAY_ADDRESS, or one started here)",
        nargs="?",
        const="",
    )


def run(options: argparse.Namespace) -> int:
    """Clean the archives and report the result."""
    _check(options)
    from scrapy_tamis.archives import ArchiveRun, OnePassRun, Options

    if options.ray is not None and importlib.util.find_spec("ray") is None:
        raise ModuleNotFoundError(name="ray")
    sources = _find_sources(options)
    run_options = Options(
        format=options.format,
        **model_switches(options),
        rules=load_rules(options.rules),
        outputs=frozenset(options.columns),
        processes=options.processes,
        ray=options.ray,
    )
    show = Progress()

    def show_step(step: str, done: int, total: int, pages: int) -> None:
        show(done, total, step + (f", {pages:,} pages" if pages else ""))

    try:
        with report_errors():
            kind = OnePassRun if options.one_pass else ArchiveRun
            archive_run = kind(sources, options.output, run_options, show_step)
            if archive_run.is_resumed:
                warn("resuming the run that was stopped")
            summary = archive_run.run()
    except BrokenProcessPool:
        if STANDARD_INPUT not in sources:
            warn("this run is resumed when the same command is started again")
        raise
    _report(summary)
    return FAILED if summary.broken or summary.failed else 0


def _check(options: argparse.Namespace) -> None:
    """Refuse options that do not go together."""
    if options.processes < 1:
        raise CommandError("-j: at least 1")
    if options.one_pass and options.ray is not None:
        raise CommandError("--one-pass reads the pages in their order, which --ray does not: give one of them")
    if STANDARD_INPUT in options.sources and not options.one_pass:
        raise CommandError("standard input can be read only once: add --one-pass")
    is_folder = options.output.endswith("/") or Path(options.output).is_dir()
    if options.output.endswith(_FILE_SUFFIXES) and not is_folder:
        raise CommandError(f"-o {options.output}: OUT is a folder, which gets a file for each archive, as in -o clean/")


def _find_sources(options: argparse.Namespace) -> list[str]:
    """Return the archives that the arguments name, in stores that can be read."""
    from scrapy_tamis.archives.addresses import check_access, find_archives

    sources: list[str] = []
    with report_errors():
        for pattern in options.sources:
            found = [pattern] if pattern == STANDARD_INPUT else find_archives(pattern)
            if not found:
                hint = f", but a folder: give its files, as in {pattern.rstrip('/')}/*.warc.gz"
                raise CommandError(f"no such archive: {pattern}{hint if Path(pattern).is_dir() else ''}")
            sources += found
        if options.ray is None:  # the nodes of a cluster may have rights that this machine lacks
            check_access(sources)
    return sources


def _report(summary: Summary) -> None:
    pages, hosts = counted(summary.pages, "page"), counted(summary.hosts, "host")
    warn(f"{pages} of {hosts}, {summary.duplicates:,} of them near-duplicates")
    for why, number in sorted(summary.skipped.items()):
        warn(f"skipped, {why}: {number:,}{_first(summary, why)}")
    for why, number in summary.failed.most_common(_SHOWN_ERRORS):
        warn(f"failed, {why}: {number:,}{_first(summary, why)}")
    for source, why in sorted(summary.broken.items()):
        warn(f"broken: {source}: {why}")


def _first(summary: Summary, why: str) -> str:
    return f", the first {summary.first[why]}" if why in summary.first else ""
