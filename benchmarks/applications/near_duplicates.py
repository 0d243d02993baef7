"""Near-duplicates: what Tamis, datasketch and simhash find, how fast, and in how much memory.

    python -m benchmarks.applications.near_duplicates [--number 4000]

Every way is given the same documents in the same order and says of each which earlier ones it repeats; a document that
repeats none is entered. Right is an address of the same story. The documents are made: stories in several versions, and
others that share phrases but not the story, in a language of pseudo-words with Zipf's frequencies. Times are those from
text to verdict, and of the index alone, without the hashing of texts. The server is a Valkey on loopback that keeps
nothing on disk. Tamis uses the paper's rule, and in a second round the resemblance estimated from 64 hashes.
datasketch hashes the same windows of 6 words with 128 permutations, a batch a text; several thresholds are tried.
simhash likewise, with several distances.
"""

from __future__ import annotations

import asyncio
import logging
import time
import tracemalloc
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol
from urllib.parse import urlsplit

import numpy as np

from benchmarks.shared.common import installed, parser_of, say, table, write_json
from benchmarks.shared.servers import Server
from scrapy_tamis.storage.connection import Connection
from scrapy_tamis.storage.index import DuplicateIndex
from tamis.duplicates import KEEP, MemoryIndex, shingles

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from urllib.parse import SplitResult

    Maker = Callable[[], "Finder"]


_TRACED: Final = 1500
"""Documents that the memory of an index in this process is measured with."""

_RATES: Final = ("documents a second", "index alone")


def main() -> None:
    """Measure each way."""
    parser = parser_of(__doc__ or "")
    parser.add_argument("--number", type=int, default=4_000, metavar="N", help="documents made (%(default)s)")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="the best time counts (%(default)s)")
    options = parser.parse_args()
    documents = made_documents(options.number)
    say(f"{len(documents):,} documents of {len({document.story for document in documents}):,} stories")
    figures: dict[str, dict[str, Any]] = {}
    with Server() as server:
        makers = finders(server.url)
        # Whatever else the machine does meets all of the ways, since they take turns; of each the best time counts.
        for turn in range(options.rounds):
            for maker in makers:
                label, row = _measured(maker, documents, server)
                say(f"round {turn + 1}: {label}")
                for name in _RATES:
                    row[name] = max(row[name], figures.get(label, row)[name])
                figures[label] = row
    rows = [[label, *row.values()] for label, row in figures.items()]
    print(table(["", *next(iter(figures.values()))], rows))
    write_json(options, figures)


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


PERMUTATIONS: Final = 128
RESEMBLANCE, THRESHOLDS, DISTANCES = 0.2, (0.2, 0.3, 0.5), (3, 6, 9)
"""Of Tamis's second round; least Jaccard similarity for datasketch; most bits that differ for simhash."""

SKETCH: Final = 64
"""Shingles of a document where it goes by the resemblance."""


class Finder(Protocol):
    """A way to find near-duplicates.

    Attributes:
        label: what the table calls it.
    """

    label: str

    def hashed(self, text: str) -> Any:
        """Return what the way knows of a text."""

    def decide(self, documents: Sequence[tuple[Document, Any]]) -> list[list[str]]:
        """Return for each document, in this order, the addresses it was found to repeat."""


def finders(url: str) -> list[Maker]:
    """Return what makes each way, for what is installed, with the address of a server on TCP."""
    makers: list[Maker] = []
    for rule in (None, RESEMBLANCE):
        makers += [partial(_Memory, rule), partial(_LookUps, rule, url)]
    there = installed("datasketch", "simhash")
    if "datasketch" in there:
        makers += [partial(_Datasketch, threshold) for threshold in THRESHOLDS]
        makers += [partial(_Datasketch, threshold, urlsplit(url)) for threshold in THRESHOLDS]
    if "simhash" in there:
        makers += [partial(_Simhash, distance) for distance in DISTANCES]
    return makers


class _Tamis:
    """What Tamis's ways share: the rule they go by, and so the shingles they need."""

    def __init__(self, what: str, least: float | None) -> None:
        self.label = f"Tamis, {what}" + ("" if least is None else f", resemblance {least:g}")
        self.keep = KEEP if least is None else SKETCH

    def hashed(self, text: str) -> Any:
        return shingles(text, keep=self.keep)


class _Memory(_Tamis):
    """The index in memory."""

    def __init__(self, least: float | None) -> None:
        super().__init__("in memory", least)
        self._index = MemoryIndex(keep=self.keep, min_resemblance=least)

    def decide(self, documents: Sequence[tuple[Document, Any]]) -> list[list[str]]:
        found = [self._index.find(document.url, own).duplicate_of for document, own in documents]
        return [[url] if url else [] for url in found]


class _LookUps(_Tamis):
    """The index in Redis, as crawls use it."""

    def __init__(self, least: float | None, url: str) -> None:
        super().__init__("Redis", least)
        self._url = url
        self._least = least

    def decide(self, documents: Sequence[tuple[Document, Any]]) -> list[list[str]]:
        async def look_up() -> list[list[str]]:
            connection = Connection(self._url, timeout=60)
            index = DuplicateIndex(connection, "look-up", keep=self.keep, min_resemblance=self._least)
            found: list[list[str]] = []
            for document, own in documents:
                verdict = await index.find(document.url, own)
                assert verdict is not None
                found.append([verdict.duplicate_of] if verdict.duplicate_of else [])
            await connection.close()
            return found

        return asyncio.run(look_up())


class _Queried:
    """A way that is asked for what is near a text, and takes in what is near nothing."""

    label: str
    near: Callable[[Any], Sequence[Any]]
    add: Callable[[str, Any], object]

    def decide(self, documents: Sequence[tuple[Document, Any]]) -> list[list[str]]:
        found = []
        for document, own in documents:
            near = self.near(own)
            if not near:
                self.add(document.url, own)
            found.append(list(map(str, near)))
        return found


def _windows(text: str) -> list[str]:
    words = text.split()
    return [" ".join(words[at : at + 6]) for at in range(max(1, len(words) - 5))]


class _Datasketch(_Queried):
    """datasketch's MinHashLSH over the same windows of 6 words, in memory or on Redis."""

    def __init__(self, threshold: float, redis: SplitResult | None = None) -> None:
        from datasketch import MinHashLSH  # noqa: PLC0415

        self.label = f"datasketch, {'Redis' if redis else 'in memory'}, threshold {threshold:g}"
        storage = None
        if redis is not None:
            about = {"host": redis.hostname, "port": redis.port}
            storage = {"type": "redis", "basename": f"lsh-{time.time_ns()}".encode(), "redis": about}
        index = MinHashLSH(threshold=threshold, num_perm=PERMUTATIONS, storage_config=storage)
        self.near, self.add = index.query, index.insert

    def hashed(self, text: str) -> Any:
        from datasketch import MinHash  # noqa: PLC0415

        own = MinHash(num_perm=PERMUTATIONS)
        own.update_batch({window.encode() for window in _windows(text)})
        return own


class _Simhash(_Queried):
    """The package simhash, over the same windows."""

    def __init__(self, distance: int) -> None:
        from simhash import SimhashIndex  # noqa: PLC0415

        logging.getLogger("simhash").setLevel(logging.ERROR)
        self.label = f"simhash, in memory, distance {distance}"
        index = SimhashIndex([], k=distance)
        self.near, self.add = index.get_near_dups, index.add

    def hashed(self, text: str) -> Any:
        from simhash import Simhash  # noqa: PLC0415

        return Simhash(_windows(text))


_WORDS: Final = 20_000
_PHRASES: Final = 400
_PHRASE_SHARE: Final = 0.12
_SERIES_SHARE: Final = 0.15
EDITS: Final = (0.0, 0.01, 0.02, 0.05, 0.08)
"""Shares of words that a version of a story changes, drops or adds."""


@dataclass(frozen=True, slots=True)
class Document:
    """A text, its address, and the number of its story: texts of one story are near-duplicates."""

    url: str
    text: str
    story: int


def made_documents(number: int) -> list[Document]:
    """Return so many documents in the order in which they are met.

    Six of ten stories have one version. The others have two to five: each is edited at one of the rates of `EDITS`, and
    may have lost its end, gained a paragraph, or kept 20 words of the template of its host. One of seven stories is of
    a series, as weather reports are: its sentences are those of the series with a third of the words exchanged.
    """
    random = np.random.default_rng(1)
    language = _Language(random)
    series = [language.text(200, random) for _ in range(20)]
    hosts = [language.text(20, random) for _ in range(50)]
    found: list[Document] = []
    story = 0
    while len(found) < number:
        words = language.text(int(np.clip(random.lognormal(5.5, 0.6), 60, 2000)), random)
        if random.random() < _SERIES_SHARE:
            kept, new = series[random.integers(len(series))], language.text(200, random)
            words = [word if random.random() < 2 / 3 else new[at] for at, word in enumerate(kept)]
        versions = 1 if random.random() < 0.6 else int(random.integers(2, 6))
        for version in range(versions):
            host = int(random.integers(len(hosts)))
            text = words if version == 0 else _version(words, language, random)
            if random.random() < 0.2:
                text = [*hosts[host], *text]
            found.append(
                Document(f"http://host{host}.example/2026/story-{story}-{version}.html", " ".join(text), story)
            )
        story += 1
    return [found[place] for place in random.permutation(number).tolist()]


class _Language:
    def __init__(self, random: np.random.Generator) -> None:
        syllables = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]
        lengths = random.integers(1, 5, _WORDS)
        self._words = ["".join(random.choice(syllables, length)) for length in lengths]
        ranks = np.arange(1, _WORDS + 1)
        self._cumulated = np.cumsum(1 / ranks) / np.sum(1 / ranks)
        self._phrases = [self._drawn(int(random.integers(4, 11)), random) for _ in range(_PHRASES)]

    def _drawn(self, number: int, random: np.random.Generator) -> list[str]:
        places = np.searchsorted(self._cumulated, random.random(number))
        return [self._words[min(place, _WORDS - 1)] for place in places.tolist()]

    def text(self, number: int, random: np.random.Generator) -> list[str]:
        """So many words, stock phrases among them."""
        words: list[str] = []
        while len(words) < number:
            if random.random() < _PHRASE_SHARE:
                words += self._phrases[random.integers(_PHRASES)]
            else:
                words += self._drawn(int(random.integers(5, 30)), random)
        return words[:number]


def _version(words: list[str], language: _Language, random: np.random.Generator) -> list[str]:
    rate = EDITS[random.integers(len(EDITS))]
    changed: list[str] = []
    for word, chance in zip(words, random.random(len(words)).tolist(), strict=True):
        if chance >= rate:
            changed.append(word)
        elif chance < rate / 2:
            changed += language.text(1, random)
        elif chance < 0.75 * rate:
            changed += [word, *language.text(1, random)]
    if random.random() < 0.15:
        changed = changed[: max(1, int(0.85 * len(changed)))]
    if random.random() < 0.15:
        changed += language.text(len(words) // 8, random)
    return changed


if __name__ == "__main__":
    main()
