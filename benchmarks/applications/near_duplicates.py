"""Near-duplicates: what Winnow, datasketch and simhash find, how fast, and in how much memory.

    python -m benchmarks.applications.near_duplicates peers [--number 4000] [--given FILE]
    python -m benchmarks.applications.near_duplicates workers [--workers 1 2 4] [--number 100000]
    python -m benchmarks.applications.near_duplicates kill [--number 30000]
    python -m benchmarks.applications.near_duplicates memory [--number 1000000]

peers: every way is given the same documents in the same order and says of each which earlier ones it repeats; a
document that repeats none is entered. Right is an address of the same story. The documents are made
(near_duplicate_texts.py) or given: JSON objects, one a line, with "url", "text" and "story". Times are those
from text to verdict, and of the index alone, without the hashing of texts. The server is a Valkey on loopback that
keeps nothing on disk. Winnow goes by the paper's rule, and in a second round by the resemblance estimated from 64
hashes. datasketch hashes the same windows of 6 words with 128 permutations, a batch a text; several thresholds are
tried. simhash likewise, with several distances.

workers: documents a second of so many processes of `winnow dedup` on one stream, from the first verdict to the last.
kill: one of two workers is killed with 9 in the middle, then the other; another ends their work. Verdicts must be those
of one worker that nobody disturbed; exit code 1 if not.
memory: bytes of Redis per document as the index grows, with generated shingles, nothing of it near-duplicates.
"""

from __future__ import annotations

import sys
import time
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchmarks.applications.dedup_runs import kill_and_compare, memory_by_documents, rates_by_workers
from benchmarks.applications.near_duplicate_peers import STREAMS, finders
from benchmarks.applications.near_duplicate_texts import Document, given_documents, made_documents
from benchmarks.shared.common import parser_of, say, table, write_json
from benchmarks.shared.local_server import LocalServer

if TYPE_CHECKING:
    import argparse

    from benchmarks.applications.near_duplicate_peers import Maker

_TRACED: Final = 1500
"""Documents that the memory of an index in this process is measured with."""

_RATES: Final = ("documents a second", "index alone")

NUMBERS: Final = {"peers": 4_000, "workers": 100_000, "kill": 30_000, "memory": 1_000_000}


def main() -> int:
    """Measure the parts asked for."""
    parser = parser_of(__doc__ or "")
    parser.add_argument("part", choices=tuple(NUMBERS))
    parser.add_argument("--number", type=int, metavar="N", help=f"documents ({_listed(NUMBERS)})")
    parser.add_argument("--given", type=Path, metavar="FILE", help="documents for peers")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="rounds of peers; the best time counts")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4], metavar="N", help="numbers of workers")
    parser.add_argument(
        "--thresholds", type=float, nargs="+", default=[0.2, 0.3, 0.5], metavar="T", help="of datasketch"
    )
    parser.add_argument("--resemblance", type=float, default=0.2, metavar="X", help="of Winnow's second round")
    parser.add_argument("--distances", type=int, nargs="+", default=[3, 6, 9], metavar="K", help="of simhash")
    parser.add_argument("--seed", type=int, default=1, help="another seed, other documents (%(default)s)")
    options = parser.parse_args()
    options.number = options.number or NUMBERS[options.part]
    with LocalServer() as server:
        if options.part == "peers":
            return _peers(options, server)
        if options.part == "workers":
            rows = rates_by_workers(server, options.number, options.workers, options.seed)
            headings = ["workers", "documents a second", "of one worker"]
        elif options.part == "memory":
            rows = memory_by_documents(server, options.number, options.seed)
            headings = ["documents", "bytes per document", "documents a second"]
        else:
            rows = kill_and_compare(server, options.number, options.seed)
            headings = ["run", "verdicts", "documents without", "verdicts twice", "verdicts differing"]
    print(table(headings, rows))
    write_json(options, {str(row[0]): dict(zip(headings[1:], row[1:], strict=True)) for row in rows})
    return int(options.part == "kill" and any(any(row[2:]) for row in rows))


def _peers(options: argparse.Namespace, server: LocalServer) -> int:
    documents = given_documents(options.given) if options.given else made_documents(options.number, options.seed)
    say(f"{len(documents):,} documents of {len({document.story for document in documents}):,} stories")
    figures: dict[str, dict[str, Any]] = {}
    makers = finders(server.url, server.client, options.resemblance, options.thresholds, options.distances)
    # Whatever else the machine does meets all of the ways, since they take turns; of each the best time counts.
    for turn in range(options.rounds):
        for maker in makers:
            label, row = _measured(maker, documents, server)
            say(f"round {turn + 1}: {label}")
            for name in _RATES:
                row[name] = max(row[name], figures.get(label, row)[name])
            figures[label] = row
    rows = [[label, *row.values()] for label, row in figures.items()]
    headings = ["", *next(iter(figures.values()))]
    print(table(headings, rows))
    write_json(options, figures)
    return 0


def _measured(make: Maker, documents: list[Document], server: LocalServer) -> tuple[str, dict[str, Any]]:
    server.empty()
    empty = server.memory()
    finder = make()
    began = time.perf_counter()
    hashed = [(document, finder.hashed(document.text)) for document in documents]
    between = time.perf_counter()
    found = finder.decide(hashed)
    ended = time.perf_counter()
    server.client.delete(*STREAMS)
    size = (server.memory() - empty) / len(documents) if server.client.dbsize() else _traced(make, hashed)
    seen: set[int] = set()
    right = said = repeats = 0
    story_of = {document.url: document.story for document in documents}
    for (document, _), near in zip(hashed, found, strict=True):
        said += bool(near)
        right += document.story in {story_of[url] for url in near}
        repeats += document.story in seen
        seen.add(document.story)
    precision, recall = right / max(said, 1), right / max(repeats, 1)
    return finder.label, {
        "precision": precision,
        "recall": recall,
        "F1": 2 * precision * recall / max(precision + recall, 1e-9),
        "documents a second": round(len(documents) / (ended - began)),
        "index alone": round(len(documents) / (ended - between)),
        "bytes per document": round(size),
    }


def _traced(make: Maker, hashed: list[tuple[Document, Any]]) -> float:
    finder = make()
    tracemalloc.start()
    finder.decide(hashed[:_TRACED])
    size = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return size / len(hashed[:_TRACED])


def _listed(numbers: dict[str, int]) -> str:
    return ", ".join(f"{part}: {number:,}" for part, number in numbers.items())


if __name__ == "__main__":
    sys.exit(main())
