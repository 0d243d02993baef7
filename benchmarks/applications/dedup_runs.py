"""Runs of ``winnow dedup`` on generated documents: how fast, what a ``kill -9`` changes, how much memory it takes."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from benchmarks.shared.common import say
from scrapy_winnow.duplicates.index import IndexOptions
from scrapy_winnow.duplicates.stream import DOCUMENTS
from scrapy_winnow.duplicates.worker import VERDICTS, Worker
from winnow.duplicates.documents import document_id

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from benchmarks.shared.local_server import LocalServer

_COPIES: Final = 0.3
_CHUNK: Final = 1000
_COMMAND: Final = (sys.executable, "-c", "from scrapy_winnow.commands import main; raise SystemExit(main())", "dedup")
_MANY: Final = "10000000"


def rates_by_workers(server: LocalServer, number: int, workers: Sequence[int], seed: int) -> list[list[Any]]:
    """Documents a second by number of workers: the best of three rounds, in which the numbers take turns.

    The time is that between the first verdict and the last, so that neither the start of Python counts nor its end.
    """
    rates: dict[int, list[float]] = {count: [] for count in workers}
    for turn in range(3):
        for count in workers:
            options = IndexOptions(f"workers-{turn}-{count}")
            server.empty()
            _feed(server, options, _documents(number, seed, _COPIES))
            processes = [_start(server, options, "--until-empty", "--kept", _MANY) for _ in range(count)]
            for process in processes:
                process.wait()
            about: Any = server.client.xinfo_stream(options.key(VERDICTS))
            first, last = (_milliseconds(about[end][0]) for end in ("first-entry", "last-entry"))
            assert about["length"] == number
            rates[count].append(1000 * number / (last - first))
            say(f"{count} workers: {rates[count][-1]:,.0f} documents a second")
    best = {count: max(of) for count, of in rates.items()}
    return [[count, round(rate), rate / best[workers[0]]] for count, rate in best.items()]


def kill_and_compare(server: LocalServer, number: int, seed: int) -> list[list[Any]]:
    """Verdicts of a run whose workers are killed with 9 in the middle, next to those of a run that is left alone."""
    with tempfile.TemporaryDirectory(prefix="winnow-dedup-") as name:
        alone, killed = (Path(name) / f"{run}.jsonl" for run in ("alone", "killed"))
        options = IndexOptions("alone")
        _feed(server, options, _documents(number, seed, _COPIES))
        _start(server, options, "--until-empty", "--out", alone, "--kept", _MANY).wait()
        options = IndexOptions("killed")
        _feed(server, options, _documents(number, seed, _COPIES))
        arguments = ("--out", killed, "--kept", _MANY)
        writer, other = _start(server, options, *arguments), _start(server, options, "--kept", _MANY)
        for process, share in ((other, 1 / 3), (writer, 1 / 2)):
            while server.client.xlen(options.key(VERDICTS)) < share * number:
                time.sleep(0.001)
            process.kill()
            process.wait()
            done = server.client.xlen(options.key(VERDICTS))
            say(f"a worker is killed; {done:,} of {number:,} documents are decided")
        _start(server, options, "--until-empty", *arguments).wait()
        expected, found = (_verdicts(path) for path in (alone, killed))
    urls = {url for url, _ in _documents(number, seed, _COPIES)}
    rows = []
    for run, by_url in (("undisturbed", expected), ("killed", found)):
        counts = Counter({url: len(of) for url, of in by_url.items()})
        differing = sum(by_url.get(url, []) != expected[url] for url in expected)
        missing, twice = len(urls - by_url.keys()), sum(count > 1 for count in counts.values())
        rows.append([run, counts.total(), missing, twice, differing])
    return rows


def memory_by_documents(server: LocalServer, number: int, seed: int) -> list[list[Any]]:
    """Bytes of the index per document, and documents a second since the last row, as the index grows."""
    options = IndexOptions("memory", cap=max(1_000_000, number))
    worker = Worker(server.client, options, kept=1)
    worker.join()
    empty = server.memory()
    marks = sorted({mark for mark in (10_000, 30_000, 100_000, 300_000, 1_000_000) if mark < number} | {number})
    rows, done, spent, before = [], 0, 0.0, 0
    chunk: list[tuple[str, NDArray[np.uint64]]] = []
    for document in _documents(number, seed, 0.0):
        chunk.append(document)
        if len(chunk) < _CHUNK and done + len(chunk) < number:
            continue
        _feed(server, options, iter(chunk))
        began = time.perf_counter()
        while worker.decide().taken:
            pass
        spent += time.perf_counter() - began
        done += len(chunk)
        chunk.clear()
        server.client.xtrim(options.key(DOCUMENTS), maxlen=0, approximate=False)
        if done in marks:
            rows.append([f"{done:,}", round((server.memory() - empty) / done), round((done - before) / spent)])
            say(f"{done:,} documents: {rows[-1][1]} bytes each")
            before, spent = done, 0.0
    return rows


def _documents(number: int, seed: int, copies: float) -> Iterator[tuple[str, NDArray[np.uint64]]]:
    """Addresses with the shingles of texts of a thousand words; ``copies`` of them share two to eight with another."""
    random = np.random.default_rng(seed)
    earlier: list[NDArray[np.uint64]] = []
    for place in range(number):
        own = np.sort(random.integers(0, 2**57, 8, dtype=np.uint64))
        if earlier and random.random() < copies:
            changed = random.integers(0, 7)
            own[changed:] = random.permutation(earlier[random.integers(len(earlier))])[changed:]
            own.sort()
        elif copies and len(earlier) < _CHUNK:
            earlier.append(own)
        yield f"http://www.host{place % 1000}.example.org/2026/11/the-title-of-a-story-{place}.html", own


def _feed(server: LocalServer, options: IndexOptions, documents: Iterator[tuple[str, NDArray[np.uint64]]]) -> None:
    pipeline = server.client.pipeline(transaction=False)
    for url, shingles in documents:
        entry: Any = {
            "id": document_id(url),
            "url": url,
            "host": url[7:].partition("/")[0],
            "shingles": shingles.astype(">u8").tobytes(),
            "complete": 0,
            "label": "blocks-86d9c994",
        }
        pipeline.xadd(options.key(DOCUMENTS), entry)
        if len(pipeline) >= _CHUNK:
            pipeline.execute()
    pipeline.execute()


def _start(server: LocalServer, options: IndexOptions, *arguments: str | Path) -> subprocess.Popen[bytes]:
    command = [*_COMMAND, "--redis-url", server.url, "--prefix", options.prefix, *map(str, arguments)]
    return subprocess.Popen(command)


def _milliseconds(entry: bytes) -> int:
    return int(entry.partition(b"-")[0])


def _verdicts(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    found: dict[str, list[tuple[Any, ...]]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        found.setdefault(row["url"], []).append((row["duplicate_of"], row["resemblance"], row["cluster"]))
    return found
