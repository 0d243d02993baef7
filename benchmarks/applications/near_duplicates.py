"""Near-duplicates: which marks are right, what is found, how fast, and in how much memory: Tamis, datasketch and rensa.

    python -m benchmarks.applications.near_duplicates SITES_DIR ... [--sample N] [--rounds N]

The documents are the clean texts of the pages of whole sites, one folder a site, each page cleaned with the counts of
its site, in the order of their names. Every way says of each document which earlier one it repeats, and enters it if it
repeats none. What is true is known: the resemblance of two texts is the fraction of their 6-word windows that both
have. *Wrong* are marks of documents that resemble the one they name by less than .8; *found* are the documents marked
of those that resemble an earlier one by .9 or more. Texts of fewer than 25 windows are left out. The first table has
what several sketches make of all pairs.

The server is a Valkey on loopback that keeps nothing on disk. Rates are those of the index alone, without the hashing
of texts: Tamis has 256 look-ups under way at a time, as a crawl has many, the others have one, since their calls block.
All use windows of 6 words and a threshold of .8; datasketch and rensa 128 permutations.
"""

from __future__ import annotations

import asyncio
import time
import tracemalloc
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import urlsplit

import numpy as np
from scipy.sparse import csr_matrix, triu

from benchmarks.shared.common import installed
from benchmarks.shared.servers import Server
from scrapy_tamis.storage import batches
from scrapy_tamis.storage.connection import Connection
from scrapy_tamis.storage.index import DuplicateIndex
from tamis import Site, clean
from tamis.duplicates import (
    KEEP,
    MIN_RESEMBLANCE,
    MIN_WINDOWS,
    SKETCH_BYTES,
    MemoryIndex,
    Windows,
    near_duplicates,
    shingles,
)
from tamis_papers.experiments.harness import parser_of, say, table, write_json
from tamis_papers.pages import find_sites, spread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Finder = Callable[[Sequence["Document"], Server], "Found"]

_PERMUTATIONS: Final = 128
_CLOSE, _FAR = 0.9, 0.3  # resemblance


class Document(NamedTuple):
    """A text, its address, and the hashes of all its windows, ascending."""

    url: str
    text: str
    windows: np.ndarray


class Found(NamedTuple):
    """What a way says: for each document the number of the earlier one that it repeats, and what that has cost."""

    originals: list[int | None]
    seconds: float
    figures: dict[str, Any] = {}  # noqa: RUF012  it is not changed


def main() -> None:
    """Measure each way."""
    parser = parser_of(__doc__)
    parser.add_argument("sites", type=Path, nargs="+", metavar="SITES_DIR", help="folders with one folder a site")
    parser.add_argument("--sample", type=int, metavar="N", help="so many sites of each folder, evenly spread")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="the best time counts (%(default)s)")
    options = parser.parse_args()
    documents = list(read_documents(options.sites, options.sample))
    pairs = _close_pairs(documents)
    close = np.isin(np.arange(len(documents)), pairs[1][pairs[2] >= _CLOSE]).tolist()
    say(f"{len(documents):,} documents, {sum(close):,} of them close to an earlier one")
    headings = ["kept of a text", "bytes", "error at .8", "wrong, %", "found, %", "most at less than .6"]
    print(table(headings, _sketch_rows(documents, pairs)))
    figures: dict[str, dict[str, Any]] = {}
    with Server() as server:
        for turn in range(options.rounds):
            for label, find in _finders().items():
                server.empty()
                found = find(documents, server)
                row = figures.setdefault(label, _judge(found, documents, close))
                row["look-ups a second"] = max(row["look-ups a second"], round(len(documents) / found.seconds))
                say(f"round {turn + 1}: {label}")
    columns = list(dict.fromkeys(column for row in figures.values() for column in row))
    rows = [[label, *(row.get(column, "") for column in columns)] for label, row in figures.items()]
    print(table(["", *columns], rows))
    write_json(options, figures)


def read_documents(folders: Sequence[Path], sample: int | None) -> Iterator[Document]:
    """Clean the pages of whole sites, each with the counts of its site."""
    for folder in folders:
        for pages in spread(find_sites(folder), sample):
            site = Site()
            for each in pages.read_all():
                site.count(each.page)
            for each in pages.read_all():
                text = clean(each.page, url=each.page.url, site=site).text
                windows = shingles(text, keep=max(len(text), 1))
                if len(windows) >= MIN_WINDOWS:
                    yield Document(each.page.url or "", text, windows)
            say(pages.name)


def resemblance(one: Document, other: Document) -> float:
    """The fraction of the windows of two texts that both have."""
    common = len(np.intersect1d(one.windows, other.windows, assume_unique=True))
    return common / (len(one.windows) + len(other.windows) - common)


def _close_pairs(documents: Sequence[Document]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Numbers of the earlier and the later document, and resemblance, of all pairs that resemble each other by .3."""
    sizes = np.array([len(document.windows) for document in documents])
    _, window = np.unique(np.concatenate([document.windows for document in documents]), return_inverse=True)
    has = csr_matrix((np.ones(len(window), np.int32), window, np.append(0, np.cumsum(sizes))))
    common = triu(has @ has.T, 1).tocoo()
    alike = common.data / (sizes[common.row] + sizes[common.col] - common.data)
    chosen = alike >= _FAR
    return common.row[chosen], common.col[chosen], alike[chosen]


def _sketch_rows(documents: Sequence[Document], pairs: tuple[np.ndarray, np.ndarray, np.ndarray]) -> list[list[Any]]:
    """What several sketches make of all pairs."""
    windows = [Windows(document.text) for document in documents]

    def smallest(keep: int, one: int, other: int) -> float:
        a, b = (documents[number].windows[:keep] for number in (one, other))
        lowest = np.union1d(a, b)[:keep]
        return len(np.intersect1d(np.intersect1d(lowest, a), b)) / len(lowest)

    def odd(one: int, other: int) -> float:
        return windows[other].resemblance(windows[one].sketch)

    truth, rows = pairs[2], []
    for label, size, least, estimate in (
        ("8 smallest hashes, as in the paper", 8 * 6, MIN_RESEMBLANCE, partial(smallest, 8)),
        ("64 smallest hashes", 64 * 6, MIN_RESEMBLANCE, partial(smallest, 64)),
        ("odd sketch", SKETCH_BYTES, MIN_RESEMBLANCE, odd),
        ("odd sketch, .02 more asked for", SKETCH_BYTES, MIN_RESEMBLANCE + 0.02, odd),
    ):
        estimates = np.array(
            [estimate(one, other) for one, other in zip(pairs[0].tolist(), pairs[1].tolist(), strict=True)]
        )
        error = np.std((estimates - truth)[np.abs(truth - MIN_RESEMBLANCE) < 0.05])
        marked, wrong = estimates >= least, truth < MIN_RESEMBLANCE
        found = np.mean(marked[truth >= _CLOSE])
        rows.append([label, size, error, 100 * np.mean(wrong[marked]), 100 * found, estimates[truth < 0.6].max()])
    return rows


def _judge(found: Found, documents: Sequence[Document], close: Sequence[bool]) -> dict[str, Any]:
    marked = [(number, original) for number, original in enumerate(found.originals) if original is not None]
    wrong = sum(resemblance(documents[number], documents[original]) < MIN_RESEMBLANCE for number, original in marked)
    right = sum(close[number] for number, _ in marked)
    return {
        "marks": len(marked),
        "wrong, %": 100 * wrong / max(len(marked), 1),
        "found, %": 100 * right / max(sum(close), 1),
        "look-ups a second": 0,
    } | found.figures


def _finders() -> dict[str, Finder]:
    there = installed("datasketch", "rensa")
    found: dict[str, Finder] = {"Tamis, in memory": _in_memory, "Tamis, Redis": _in_redis, "4 of 8 shingles": _by_paper}
    if "datasketch" in there:
        found |= {
            "datasketch, in memory": partial(_by_datasketch, on_redis=False),
            "datasketch, Redis": partial(_by_datasketch, on_redis=True),
        }
    if "rensa" in there:
        found["rensa, in memory"] = _by_rensa
    return found


def _numbers(documents: Sequence[Document], originals: Sequence[str | None]) -> list[int | None]:
    numbers = {document.url: number for number, document in reversed(list(enumerate(documents)))}
    return [None if url is None else numbers[url] for url in originals]


def _in_memory(documents: Sequence[Document], _: Server) -> Found:
    windows = [(document.url, Windows(document.text)) for document in documents]
    index = MemoryIndex()
    began = time.perf_counter()
    originals = [index.find(url, own).duplicate_of for url, own in windows]
    seconds = time.perf_counter() - began
    traced = MemoryIndex()
    tracemalloc.start()
    for url, own in windows:
        traced.find(url, own)
    size = tracemalloc.get_traced_memory()[0] / sum(original is None for original in originals)
    tracemalloc.stop()
    return Found(_numbers(documents, originals), seconds, {"bytes an original": round(size)})


def _in_redis(documents: Sequence[Document], server: Server) -> Found:
    windows = [(number, document.url, Windows(document.text)) for number, document in enumerate(documents)]
    originals: list[str | None] = [None] * len(documents)
    empty, trips = server.used_bytes(), 0
    exchange = batches.CommandBatches._run_on_server

    async def counted(self: Any, commands: Any) -> list[Any]:
        nonlocal trips
        trips += 1
        return await exchange(self, commands)

    async def look_up(at_a_time: int, *, enter: bool) -> float:
        connection = Connection(server.url, timeout=60)
        index, left = DuplicateIndex(connection, "tamis"), iter(windows)

        async def work() -> None:
            for number, url, own in left:
                found = await index.find(url, own, enter=enter)
                assert found is not None
                if enter:
                    originals[number] = found[0].duplicate_of

        await connection.ping()
        began = time.perf_counter()
        await asyncio.gather(*(work() for _ in range(at_a_time)))
        await connection.close()
        return time.perf_counter() - began

    seconds = asyncio.run(look_up(256, enter=True))
    server.empty()
    batches.CommandBatches._run_on_server = counted  # type: ignore[method-assign]
    wait, batches.MAX_WAIT_S = batches.MAX_WAIT_S, 0.0  # type: ignore[misc]
    try:
        asyncio.run(look_up(1, enter=True))  # one after the other, as the verdicts of the others are
    finally:
        batches.CommandBatches._run_on_server = exchange  # type: ignore[method-assign]
        batches.MAX_WAIT_S = wait  # type: ignore[misc]
    figures = _held(server, empty, originals) | {"round trips": trips / len(documents)}
    return Found(_numbers(documents, originals), seconds, figures)


def _held(server: Server, empty: int, originals: Sequence[object]) -> dict[str, float]:
    """What the server holds for each original, above the bytes that it took when it was empty."""
    entered = originals.count(None)
    return {
        "bytes an original": round((server.used_bytes() - empty) / entered),
        "keys an original": server.client.dbsize() / entered,
    }


def _by_paper(documents: Sequence[Document], _: Server) -> Found:
    """The rule of the paper, against all that share a hash."""
    holders: dict[int, list[int]] = {}
    originals: list[int | None] = []
    began = time.perf_counter()
    for number, document in enumerate(documents):
        own = document.windows[:KEEP]
        candidates = sorted({other for window in own.tolist() for other in holders.get(window, ())})
        near = (other for other in candidates if near_duplicates(own, documents[other].windows[:KEEP]))
        originals.append(next(near, None))
        if originals[-1] is None:
            for window in own.tolist():
                holders.setdefault(window, []).append(number)
    return Found(originals, time.perf_counter() - began)


def _by_datasketch(documents: Sequence[Document], server: Server, *, on_redis: bool) -> Found:
    from datasketch import MinHash, MinHashLSH  # noqa: PLC0415

    hashed = []
    for document in documents:
        own = MinHash(num_perm=_PERMUTATIONS)
        own.update_batch([window.tobytes() for window in document.windows])
        hashed.append(own)
    at = urlsplit(server.url)
    redis = {"type": "redis", "basename": b"lsh", "redis": {"host": at.hostname, "port": at.port}}
    empty = server.used_bytes()
    index = MinHashLSH(MIN_RESEMBLANCE, num_perm=_PERMUTATIONS, storage_config=redis if on_redis else None)
    found = _queried(hashed, index.query, index.insert)
    return found._replace(figures=_held(server, empty, found.originals)) if on_redis else found


def _by_rensa(documents: Sequence[Document], _: Server) -> Found:
    from rensa import RMinHash, RMinHashLSH  # noqa: PLC0415

    hashed = []
    for document in documents:
        own = RMinHash(num_perm=_PERMUTATIONS, seed=1)
        own.update([f"{window:x}" for window in document.windows.tolist()])
        hashed.append(own)
    index = RMinHashLSH(threshold=MIN_RESEMBLANCE, num_perm=_PERMUTATIONS, num_bands=16)  # it needs a divisor
    return _queried(hashed, index.query, index.insert)


def _queried(hashed: Sequence[Any], near: Callable[[Any], Any], enter: Callable[[int, Any], object]) -> Found:
    """Ask for what is near each text, and enter what is near nothing; the first of several counts."""
    originals: list[int | None] = []
    began = time.perf_counter()
    for number, own in enumerate(hashed):
        originals.append(min(near(own), default=None))
        if originals[-1] is None:
            enter(number, own)
    return Found(originals, time.perf_counter() - began)


if __name__ == "__main__":
    main()
