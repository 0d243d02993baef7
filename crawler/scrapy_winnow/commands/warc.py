"""``winnow warc``: archives of pages in, clean pages out, each with the evidence of its whole host."""

from __future__ import annotations

import argparse
import glob
import importlib.util
import os
import sys
import time
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scrapy_winnow.commands.shared.failures import FAILED, CommandError, reason
from scrapy_winnow.commands.shared.inputs import STANDARD_INPUT
from scrapy_winnow.commands.shared.progress import left

if TYPE_CHECKING:
    from scrapy_winnow.archives.job import Summary

_FORMATS: Final = ("jsonl", "parquet", "warc")
_COLUMNS: Final = ("clean_html", "markdown", "segments")
_EPILOG = """\
IN is a WARC file, plain or compressed with gzip, zstd or lz4; a pattern such as 'crawl-*.warc.gz'; or an address that
fsspec opens: https://, or s3:// with the extra [s3], there a pattern, too. OUT gets a file for each. All files are read
twice: first to count what the pages of each host repeat, then to clean every page with that, so that neither the order
of the pages nor the number of processes changes anything. A run that was stopped goes on when it is started again with
the same options.

With --one-pass they are read once, in the order given, and each page is cleaned with what its host had counted when it
came: for streams, also from standard input (-). The first 10 pages of a host are then cleaned by the page alone.

exit codes: 0 all went well, 1 an archive could not be read to its end, or pages could not be cleaned, 2 wrong usage

examples:
  winnow warc crawl-*.warc.gz -o clean/
  winnow warc crawl-*.warc.gz -o clean/ --format parquet -j 8
  winnow warc 's3://bucket/crawl-*.warc.gz' -o clean/
  winnow warc s3://bucket/a.warc.gz s3://bucket/b.warc.gz -o clean/ --ray ray-head:6379
  curl -s https://host.example/crawl.warc.gz | winnow warc - --one-pass -o clean/
  winnow warc https://host.example/segment.warc.gz -o clean/ --format warc
"""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command and its options."""
    parser = commands.add_parser(
        "warc",
        help="clean whole archives (WARC), with the evidence of each host",
        description="Clean the pages of archives, each with the evidence of all pages of its host.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("sources", nargs="+", metavar="IN", help="archive, pattern, or address; - with --one-pass")
    parser.add_argument("-o", "--output", required=True, metavar="OUT", help="folder, made if need be, or address")
    parser.add_argument(
        "--work",
        type=Path,
        metavar="FOLDER",
        help="for what is half done (default: .winnow in OUT, or here where OUT is an address)",
    )
    parser.add_argument("--format", choices=_FORMATS, default=_FORMATS[0], help="what to write (default: %(default)s)")
    parser.add_argument(
        "--with", dest="columns", choices=_COLUMNS, action="append", default=[], help="a further column; repeatable"
    )
    parser.add_argument("--model", metavar="MODEL", help="model, by name or file (default: the package's own)")
    parser.add_argument("--no-duplicates", action="store_true", help="do not look for near-duplicates")
    parser.add_argument(
        "--one-pass", action="store_true", help="read each archive once, and clean with what was counted by then"
    )
    parser.add_argument(
        "-j", "--processes", type=int, default=os.cpu_count() or 1, metavar="N", help="(default: one a core)"
    )
    parser.add_argument(
        "--ray",
        nargs="?",
        const="",
        metavar="ADDRESS",
        help="work on the nodes of a Ray cluster, which reach the archives themselves (default: RAY_ADDRESS, or else "
        "one that is started here)",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Clean the archives and say what came of it."""
    _check(options)
    try:
        from scrapy_winnow.archives import ArchiveRun, OnePassRun, Options  # noqa: PLC0415  (help need not wait for them)
        from scrapy_winnow.archives.folder import OtherRunError  # noqa: PLC0415

        if options.format == "parquet":
            import pyarrow  # noqa: F401, PLC0415
    except ImportError as error:
        raise CommandError(f"{error.name} is not installed: pip install 'scrapy-winnow[archives]'") from error
    if options.ray is not None and importlib.util.find_spec("ray") is None:
        raise CommandError("ray is not installed: pip install 'scrapy-winnow[ray]'")
    sources = _sources(options)
    wanted = Options(
        format=options.format,
        model=options.model,
        outputs=frozenset(options.columns),
        duplicates=not options.no_duplicates,
        processes=options.processes,
        ray=options.ray,
    )
    progress = _Progress(sources)
    try:
        kind = OnePassRun if options.one_pass else ArchiveRun
        work = kind(sources, options.output, wanted, progress, options.work)
        if work.goes_on:
            print("going on with the run that was stopped", file=sys.stderr)
        summary = work.run()
    except OtherRunError as error:
        raise CommandError(f"-o: {error}") from error
    except BrokenProcessPool as error:
        again = "" if STANDARD_INPUT in sources else ": start the same command again to go on"
        raise CommandError(f"a process died (out of memory?){again}", FAILED) from error
    except (OSError, ValueError) as error:
        raise CommandError(reason(error)) from error
    finally:
        progress.end()
    print(_told(summary), file=sys.stderr)
    return FAILED if summary.broken or summary.failed else 0


def _check(options: argparse.Namespace) -> None:
    """Refuse what cannot go together."""
    if options.processes < 1:
        raise CommandError("-j: at least 1")
    if options.one_pass and options.ray is not None:
        raise CommandError("--one-pass goes through the pages in their order, which --ray does not: give one of them")
    if STANDARD_INPUT in options.sources and not options.one_pass:
        raise CommandError("standard input can be read only once: add --one-pass")


def _sources(options: argparse.Namespace) -> list[str]:
    """The archives that the arguments name; stores have to let theirs be read."""
    from scrapy_winnow.archives.reading import addresses  # noqa: PLC0415  (help need not wait for it)

    try:
        sources = [source for pattern in options.sources for source in _expanded(pattern)]
        if options.ray is None:  # the nodes of a cluster may have rights that this machine has not
            addresses.check_rights(sources)
    except addresses.AddressError as error:
        raise CommandError(str(error)) from error
    return sources


def _expanded(pattern: str) -> list[str]:
    """The archives that an argument names."""
    from scrapy_winnow.archives.reading import addresses  # noqa: PLC0415

    if pattern == STANDARD_INPUT:
        return [pattern]
    if addresses.is_address(pattern):
        found = addresses.matching(pattern)
        if not found:
            raise CommandError(f"no such archive: {pattern}")
        return found
    found = sorted(glob.glob(pattern, recursive=True)) if glob.has_magic(pattern) else [pattern]  # noqa: PTH207
    files = [name for name in found if Path(name).is_file()]
    if not files:
        raise CommandError(f"no such file: {pattern}")
    return files


def _told(summary: Summary) -> str:
    hosts = f"{summary.hosts:,} host{'' if summary.hosts == 1 else 's'}"
    lines = [f"{summary.pages:,} pages of {hosts}, {summary.duplicates:,} of them near-duplicates"]
    lines += [f"left out, {why}: {number:,}" for why, number in sorted(summary.skipped.items())]
    lines += [f"failed, {why}: {number:,}" for why, number in sorted(summary.failed.items())]
    lines += [f"broken: {source}: {why}" for source, why in sorted(summary.broken.items())]
    return "\n".join(lines)


class _Progress:
    """Says how far a run is: on a terminal in one line, elsewhere a line every half minute."""

    def __init__(self, sources: list[str]) -> None:
        files = [Path(source) for source in sources if Path(source).is_file()]
        self._bytes = sum(file.stat().st_size for file in files) if len(files) == len(sources) else 0
        self._step = ""
        self._since = self._last = 0.0
        self._before = 0
        self._is_terminal = sys.stderr.isatty()

    def __call__(self, step: str, done: int, whole: int, read_bytes: int, pages: int) -> None:
        now = time.monotonic()
        if step != self._step:
            self.end()
            self._step, self._since, self._before = step, now, done
            self._last = 0.0 if self._is_terminal else now
        if now - self._last < (0.2 if self._is_terminal else 30) and done < whole:
            return
        self._last = now
        line = f"{step}: {done:,} of {whole:,}"
        seconds = max(now - self._since, 1e-3)
        if pages:
            line += f", {pages:,} pages" + (f", {pages / seconds:,.0f} a second" if seconds > 1 else "")
        if share := self._share(done, whole, read_bytes):
            line += f", {left(seconds * (1 - share) / share)}"
        print(f"\r{line:<78}" if self._is_terminal else line, end="" if self._is_terminal else "\n", file=sys.stderr)

    def _share(self, done: int, whole: int, read_bytes: int) -> float:
        """How much of what was left of the step is done: by bytes where they are known, or else by archives."""
        if done == whole:
            return 0.0
        if read_bytes and self._bytes and not self._before:
            return min(read_bytes / self._bytes, 1.0)
        return (done - self._before) / (whole - self._before)

    def end(self) -> None:
        """End the line on a terminal."""
        if self._step and self._is_terminal:
            print(file=sys.stderr)
