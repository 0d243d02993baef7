"""Near-duplicates: what Winnow, datasketch and simhash find, how fast, and in how much memory.

    python -m benchmarks.applications.near_duplicates [--number 4000] [--given FILE]

Every way is given the same documents in the same order and says of each which earlier ones it repeats; a
document that repeats none is entered. Right is an address of the same story. The documents are made
(near_duplicate_texts.py) or given: JSON objects, one a line, with "url", "text" and "story". Times are those
from text to verdict, and of the index alone, without the hashing of texts. The server is a Valkey on loopback that
keeps nothing on disk; Winnow decides one document a call there, or 500. It uses the paper's rule, and in a second round
the resemblance estimated from 64 hashes. datasketch hashes the same windows of 6 words with 128 permutations, a batch a
text; several thresholds are tried. simhash likewise, with several distances.
"""

from __future__ import annotations

import sys
import time
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchmarks.applications.near_duplicate_peers import finders
from benchmarks.applications.near_duplicate_texts import Document, given_documents, made_documents
from benchmarks.shared.common import parser_of, say, table, write_json
from benchmarks.shared.servers import Server

if TYPE_CHECKING:
    import argparse

    from benchmarks.applications.near_duplicate_peers import Maker

_TRACED: Final = 1500
"""Documents that the memory of an index in this process is measured with."""

_RATES: Final = ("documents a second", "index alone")


def main() -> int:
    """Measure each way."""
    parser = parser_of(__doc__ or "")
    parser.add_argument("--number", type=int, default=4_000, metavar="N", help="documents made (%(default)s)")
    parser.add_argument("--given", type=Path, metavar="FILE", help="documents instead of those")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="the best time counts (%(default)s)")
    parser.add_argument(
        "--thresholds", type=float, nargs="+", default=[0.2, 0.3, 0.5], metavar="T", help="of datasketch"
    )
    parser.add_argument("--resemblance", type=float, default=0.2, metavar="X", help="of Winnow's second round")
    parser.add_argument("--distances", type=int, nargs="+", default=[3, 6, 9], metavar="K", help="of simhash")
    parser.add_argument("--seed", type=int, default=1, help="another seed, other documents (%(default)s)")
    options = parser.parse_args()
    with Server() as server:
        return _compare(options, server)


def _compare(options: argparse.Namespace, server: Server) -> int:
    documents = given_documents(options.given) if options.given else made_documents(options.number, options.seed)
    say(f"{len(documents):,} documents of {len({document.story for document in documents}):,} stories")
    figures: dict[str, dict[str, Any]] = {}
    makers = finders(server.url, options.resemblance, options.thresholds, options.distances)
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


def _measured(make: Maker, documents: list[Document], server: Server) -> tuple[str, dict[str, Any]]:
    server.empty()
    empty = server.used_bytes()
    finder = make()
    began = time.perf_counter()
    hashed = [(document, finder.hashed(document.text)) for document in documents]
    between = time.perf_counter()
    found = finder.decide(hashed)
    ended = time.perf_counter()
    size = (server.used_bytes() - empty) / len(documents) if server.client.dbsize() else _traced(make, hashed)
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


if __name__ == "__main__":
    sys.exit(main())
