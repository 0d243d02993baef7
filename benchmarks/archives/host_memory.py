"""Peak memory of counting by number of hosts: both passes, and one pass.

    python -m benchmarks.archives.host_memory [--pages 20000]

Made-up pages, evenly spread over the hosts in an order of chance, each with 140 leaves of which 60 are on all pages of
its host; their HTML is left out, so that what is measured is the counts. Every figure is of a process of its own, less
what the imports take.
"""

from __future__ import annotations

import resource
import sqlite3
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.shared.common import parser_of, say, table, write_json
from benchmarks.sites.counted_pages import LEAVES, TEMPLATE
from scrapy_winnow.archives.counting import MAX_HOST_PAGES, SHARDS, HostCounts, LeafWriter, StreamCounts, count_shard

if TYPE_CHECKING:
    import argparse

HOSTS = (1, 1_000, 100_000)


def main() -> None:
    """Measure and print."""
    parser = parser_of(__doc__ or "")
    parser.add_argument("--pages", type=int, default=20_000, help="pages, or one a host where there are more hosts")
    options = parser.parse_args()
    rows = []
    for hosts in HOSTS:
        for name, work in (("two passes", _two_passes), ("one pass", _one_pass)):
            say(f"{name}, {hosts:,} hosts")
            rows.append([f"{name}, {hosts:,} hosts", *_apart(work, hosts, options)])
    print(table(["", "pages", "MB", "ms a page"], rows))
    write_json(options, {row[0]: row[2] for row in rows})


def _apart(work: Any, hosts: int, options: argparse.Namespace) -> tuple[int, int, float]:
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(_measured, work, hosts, max(options.pages, hosts)).result()


def _measured(work: Any, hosts: int, pages: int) -> tuple[int, int, float]:
    before, start = _peak(), time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        work(Path(folder), hosts, pages)
    return pages, (_peak() - before) >> 10, 1e3 * (time.process_time() - start) / pages


def _peak() -> int:
    """Most resident memory so far, in kB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _made_up(hosts: int, pages: int) -> Any:
    """Each page's address, host, leaves, and what stands for its contents."""
    chance = np.random.default_rng(1)
    for number, host in enumerate(chance.permutation(pages) % hosts):
        common = np.arange(TEMPLATE, dtype=np.uint64) + np.uint64(1 + int(host) * TEMPLATE)
        own = chance.integers(1 << 40, 1 << 63, LEAVES - TEMPLATE, np.uint64)
        yield f"http://h{host}.example/{number}", f"h{host}.example", np.concatenate([common, own]), chance.bytes(8)


def _two_passes(folder: Path, hosts: int, pages: int) -> None:
    writer = LeafWriter(folder / "leaves")
    for url, host, leaves, contents in _made_up(hosts, pages):
        page: Any = SimpleNamespace(fingerprints=leaves, contents_id=contents)
        writer.add(url, host, page)
    writer.flush()
    for shard in range(SHARDS):
        count_shard([folder / "leaves"], shard, folder / "counts", MAX_HOST_PAGES)
    counts = HostCounts(folder / "counts")
    for _, host, leaves, _ in _made_up(hosts, pages):
        counts.evidence(host, leaves)


def _one_pass(folder: Path, hosts: int, pages: int) -> None:
    database = sqlite3.connect(folder / "counts.sqlite")
    counts = StreamCounts(database, MAX_HOST_PAGES)
    for url, host, leaves, contents in _made_up(hosts, pages):
        counts.count(url, host, leaves, contents)
    counts.save()
    database.close()


if __name__ == "__main__":
    main()
