"""``tamis compare``: the text of each page by several extractors side by side, and which of them a person prefers."""

from __future__ import annotations

import random
import time
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from scrapy_tamis.inspector.inspection import WIDE_LIMITS
from scrapy_tamis.inspector.server import render_document
from tamis import Page, clean
from tamis.output.text import text_of_blocks
from tamis.page.parsing import decode
from tamis.page.text import WORD

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scrapy_tamis.fetching import Document
    from scrapy_tamis.inspector.documents import Documents, LinesFile
    from tamis import Site
    from tamis.models import Model

    Extractor = Callable[[str, str | None], str]
    Spans = list[tuple[str, str]]

NONE_BETTER: Final = "none is better"
_MAX_OPEN: Final = 4  # pages
_WARM_UP: Final = f"<article>{'<p>The first page takes longer: extractors load what they need with it.</p>' * 9}"
_GRAM: Final = 3  # words in a row that two texts must share


def whole_text(html: str) -> str:
    """Return all text of a page, as Tamis arranges it."""
    page = Page.parse(html, limits=WIDE_LIMITS)
    return text_of_blocks(page, np.ones(page.m, bool)) if page.n else ""


def _trafilatura(html: str, url: str | None) -> str:
    import trafilatura  # noqa: PLC0415  (optional)

    return trafilatura.extract(html, url=url) or ""


def _readability(html: str, url: str | None) -> str:
    from readability import Document as Readable  # noqa: PLC0415  (optional)

    return whole_text(Readable(html, url=url).summary())


def _resiliparse(html: str, url: str | None) -> str:  # noqa: ARG001  one shape for all
    from resiliparse.extract.html2text import extract_plain_text  # noqa: PLC0415  (optional)

    return str(extract_plain_text(html, main_content=True))


_PEERS: Final[dict[str, tuple[str, Extractor]]] = {
    "trafilatura": ("trafilatura", _trafilatura),
    "readability-lxml": ("readability", _readability),
    "resiliparse": ("resiliparse", _resiliparse),
}


def missing_peers() -> list[str]:
    """Return the names of the other extractors that are not installed, as ``pip install`` takes them."""
    return [name for name, (module, _) in _PEERS.items() if find_spec(module) is None]


def find_extractors(model: Model, site: Site | None = None) -> tuple[dict[str, Extractor], dict[str, str]]:
    """Return Tamis and the other extractors that are installed, with default options, each after a first page.

    Those that fail at that, as where a package of theirs is missing, are apart, with what they say.
    """

    def tamis(html: str, url: str | None) -> str:
        return clean(html, url, model=model, site=site).text

    absent = missing_peers()
    found = {"tamis": tamis} | {name: peer for name, (_, peer) in _PEERS.items() if name not in absent}
    failed = {name: error for name, extractor in found.items() if (error := _extract(extractor, _WARM_UP, None)[2])}
    return {name: extractor for name, extractor in found.items() if name not in failed}, failed


@dataclass(frozen=True, slots=True)
class Result:
    """The text of a page by one extractor, or what it raised.

    Attributes:
        spans: pieces of the text, each after its mark: ``some`` (not all extractors have the words), ``only`` (no
            other has them) or ``""``.
        only: number of words that no other extractor has.
    """

    spans: Spans
    words: int
    only: int
    milliseconds: float
    error: str


def compare_texts(document: Document, extractors: dict[str, Extractor]) -> tuple[dict[str, Result], Spans]:
    """Return the result of each extractor, and all text of the page, marked ``none`` where no extractor has it."""
    html = decode(document.html, document.encoding)
    found = {name: _extract(extractor, html, document.url) for name, extractor in extractors.items()}
    grams = {name: _grams(text) for name, (text, _, _) in found.items()}
    results = {}
    for name, (text, milliseconds, error) in found.items():
        others = [grams[other] for other in found if other != name]
        spans, counts = _marked(text, others, lambda have, of: "" if have == of else "some" if have else "only")
        results[name] = Result(spans, counts.total(), counts["only"] if others else 0, milliseconds, error)
    whole, _ = _marked(whole_text(html), list(grams.values()), lambda have, _: "" if have else "none")
    return results, whole


def _extract(extractor: Extractor, html: str, url: str | None) -> tuple[str, float, str]:
    begin, text, error = time.perf_counter(), "", ""
    try:
        text = extractor(html, url)
    except Exception as raised:  # whatever another package raises
        error = " ".join(f"{type(raised).__name__}: {raised}".split())[:200]
    return text, 1000 * (time.perf_counter() - begin), error


def _grams(text: str) -> set[tuple[str, ...]]:
    """Return all n-grams of one, two and three words; punctuation and line breaks do not count."""
    words = [word.lower() for word in WORD.findall(text)]
    return {tuple(words[at : at + length]) for length in range(1, _GRAM + 1) for at in range(len(words) - length + 1)}


def _marked(
    text: str, others: Sequence[set[tuple[str, ...]]], mark: Callable[[int, int], str]
) -> tuple[Spans, Counter[str]]:
    """Split a text into marked spans; ``mark`` takes the number of other texts that have a word, and of all others.

    Another text has a word if the two share a trigram of the line with it, or all words of a shorter line.
    """
    spans: Spans = []
    counts: Counter[str] = Counter()
    for line in text.splitlines(keepends=True):
        matches = list(WORD.finditer(line))
        length = min(_GRAM, len(matches))
        have = np.zeros(len(matches), int)
        for other in others:
            covered = np.zeros(len(matches), bool)
            for at in range(len(matches) - length + 1):
                if tuple(match[0].lower() for match in matches[at : at + length]) in other:
                    covered[at : at + length] = True
            have += covered
        end = 0
        for match, number in zip(matches, have.tolist(), strict=True):
            kind = mark(number, len(others))
            counts[kind] += 1
            if spans and spans[-1][0] == kind:
                spans[-1] = (kind, spans[-1][1] + line[end : match.end()])
            else:
                spans += [("", line[end : match.start()]), (kind, match[0])]
            end = match.end()
        spans.append(("", line[end:]))
    return [span for span in spans if span[1]], counts


class Comparison:
    """The pages that are compared, as a view of the server; ``blind`` hides names until there is a vote."""

    def __init__(
        self, documents: Documents, extractors: dict[str, Extractor], votes: LinesFile, blind: bool = False
    ) -> None:
        self.documents = documents
        self.extractors = extractors
        self.votes = votes
        self._blind = blind
        self.results = lru_cache(maxsize=_MAX_OPEN)(lambda number: compare_texts(documents.read(number), extractors))

    def render(self, number: int) -> str:
        """Return the HTML document of a page, with the names of the texts where they may be seen."""
        (results, whole), document, order = self.results(number), self.documents.read(number), self._order(number)
        choices, row = [NONE_BETTER, *order], self.votes.rows.get(document.name)
        vote = choices.index(row["vote"]) if row and row["vote"] in choices else None
        is_named = not self._blind or vote is not None
        columns = [(name if is_named else f"Text {at}", results[name]) for at, name in enumerate(order, 1)]
        data = {"server": True, "number": number, "pages": len(self.documents)}
        notice = self.tally() if is_named else ""
        return render_document(
            data, title=document.name, view="compare", whole=whole, columns=columns, vote=vote, notice=notice
        )

    def answer(self, what: str, number: int, body: dict[str, Any]) -> dict[str, Any] | None:
        """Keep a vote: the number of a column, or 0 where none is better."""
        if what != "vote":
            return None
        order, document = self._order(number), self.documents.read(number)
        vote = [NONE_BETTER, *order][int(body["vote"])]
        self.votes.write({"page": document.name, "url": document.url, "vote": vote, "between": order})
        return {}

    def tally(self) -> str:
        """Return how many votes each extractor has, as a line."""
        votes = Counter(row["vote"] for row in self.votes.rows.values()).most_common()
        return "Votes: " + (", ".join(f"{name} {count:,}" for name, count in votes) or "none yet")

    def _order(self, number: int) -> list[str]:
        order = list(self.extractors)
        if self._blind:
            random.Random(self.documents.names[number]).shuffle(order)  # noqa: S311  no secret
        return order
