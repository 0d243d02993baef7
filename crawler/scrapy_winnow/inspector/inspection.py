"""One page under inspection: judged under changing settings, with what there is to say of each of its sections."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from scrapy_winnow.cleaning.item_values import CleaningOptions, clean_item
from scrapy_winnow.inspector.drawing import drawing, style_sheets
from scrapy_winnow.inspector.outputs import Outputs, located
from scrapy_winnow.inspector.tried import RememberedModel, Tried
from scrapy_winnow.storage.evidence import HashedPage
from winnow import DEFAULT_LIMITS, Cleaned, Limits, Page, PageTooLarge, clean, load_model
from winnow.evidence.draft import Reason
from winnow.evidence.marked_articles import with_authors_mark
from winnow.evidence.site_counts import with_site_counts
from winnow.models.networks import Attribution, BlockPerceptron, attribute_scores
from winnow.output.text import block_texts
from winnow.site import PageCounts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from scrapy_winnow.inspector.documents import Document
    from scrapy_winnow.inspector.replay import Replay
    from winnow.models.scores import Scores

CONTENT, TEMPLATE, COMMENTS, COPY = range(4)
KINDS: Final = ("content", "template", "comments", "copy")
"""What a section can be, by number."""

_MOST_WEIGHED: Final = 500  # sections
_WIDE: Final = Limits(max_bytes=256_000_000, max_nodes=5_000_000)


@dataclass(eq=False)
class Inspection:
    """A page, and what is known of it already.

    Attributes:
        document: the page as it was served.
        page: the same, parsed.
        replay: what other pages of its site say; ``None`` where none are known.
        passed_through: why a crawl would pass it through uncut: ``"bytes"``, ``"nodes"`` or ``"depth"``.
    """

    document: Document
    page: Page
    replay: Replay | None = None
    passed_through: str | None = None
    _models: dict[str | None, RememberedModel] = field(default_factory=dict)
    _hashed: HashedPage | None = None
    _texts: list[str] | None = None
    _cleaned: tuple[Tried, Cleaned] | None = None
    _weights: dict[str | None, Attribution] = field(default_factory=dict)

    @classmethod
    def of(cls, document: Document, replay: Replay | None = None) -> Inspection:
        """Parse a document; a page that is too large for a crawl is inspected all the same."""
        passed_through = None
        try:
            page = Page.parse(document.html, document.url, encoding=document.encoding)
        except PageTooLarge as error:
            passed_through = error.reason
            deep = Limits(_WIDE.max_bytes, _WIDE.max_nodes, max(DEFAULT_LIMITS.max_depth, 1 << 20))
            page = Page.parse(document.html, document.url, encoding=document.encoding, limits=deep)
        return cls(document, page, replay, passed_through)

    @property
    def texts(self) -> list[str]:
        """Text of each block."""
        if self._texts is None:
            self._texts = block_texts(self.page)
        return self._texts

    def model(self, name: str | None) -> RememberedModel:
        """Return a model that remembers its scores of the page.

        Raises:
            FileNotFoundError: there is neither a model of that name nor such a file.
            ValueError: the file is not a model that this version can use.
        """
        if name not in self._models:
            self._models[name] = RememberedModel(load_model(name))
        return self._models[name]

    def evidence(self, pages: int) -> NDArray[np.int64] | None:
        """int64[n + m], how many of the first pages of the site have each unit; ``None`` where none were seen."""
        if self.replay is None or pages < 1 or not self.page.n:
            return None
        if self._hashed is None:
            self._hashed = HashedPage.of(self.page)
        return self.replay.frequencies(self.document.name, self._hashed, min(pages, self.replay.seen))

    def cleaned(self, tried: Tried) -> Cleaned:
        """Clean the page under some settings; the last result is kept."""
        if self._cleaned is None or self._cleaned[0] != tried:
            df = self.evidence(tried.pages)
            pages = min(tried.pages, self.replay.seen) if self.replay is not None and df is not None else 0
            model = self.model(tried.model).trying(tried)
            switches: dict[str, Any] = {"smooth": tried.smooth, "favor": tried.favor}
            self._cleaned = tried, clean(
                self.page, model=model, site=None if df is None else PageCounts(df, pages), **switches
            )
        return self._cleaned[1]

    def described(self, *, load_assets: bool = False) -> dict[str, Any]:
        """What does not depend on settings, for the browser."""
        page = self.page
        return {
            "name": self.document.name,
            "url": self.document.url,
            "title": page.title,
            "bytes": len(self.document.html),
            "elements": page.n,
            "passedThrough": self.passed_through,
            "tree": drawing(page),
            "styles": style_sheets(page) if load_assets else [],
        }

    def state(self, tried: Tried) -> dict[str, Any]:
        """What the settings make of the page, for the browser: its sections, and what becomes of each block."""
        begin = time.perf_counter()
        cleaned = self.cleaned(tried)
        decided = cleaned.decided
        if decided is None:
            sections: list[dict[str, Any]] = []
            kind = own = np.zeros(0, np.int64)
        else:
            kind = np.where(decided.template[self.page.n :], TEMPLATE, CONTENT)
            kind[decided.comment_units[self.page.n :]] = COMMENTS
            kind[decided.reason[self.page.n :] == Reason.COPY] = COPY
            sections, own = self._sections(cleaned, tried, kind)
        spans, text = located(cleaned.text, self.texts, kind == CONTENT)
        model = self.model(tried.model)
        threshold = model.own_threshold(self.page, tried.favor) if self.page.n else 0.5
        return {
            "tried": asdict(tried),
            "threshold": tried.threshold if tried.threshold is not None else threshold,
            "ownThreshold": threshold,
            "sections": sections,
            "kind": kind.tolist(),
            "section": own.tolist(),
            "text": text,
            "spans": spans,
            "templateShare": cleaned.template_share,
            "fallback": cleaned.fallback,
            "model": cleaned.model_version,
            "seen": self.replay.seen if self.replay is not None else 0,
            "of": self.replay.of if self.replay is not None else 0,
            "milliseconds": round(1000 * (time.perf_counter() - begin), 1),
        }

    def outputs(self, tried: Tried) -> dict[str, Any]:
        """What comes out under some settings: clean HTML, Markdown and the fields of an item."""
        cleaned = self.cleaned(tried)
        df = self.evidence(tried.pages)
        item = clean_item(
            *(self.document.html, self.document.url, None),
            model=self.model(tried.model).trying(tried),
            options=CleaningOptions(limits=_WIDE, favor=tried.favor),
        ).values
        item |= {"text": cleaned.text, "template_share": round(cleaned.template_share, 4)}
        item |= {"label_source": "page" if df is None else "site", "evidence_pages": 0 if df is None else tried.pages}
        return asdict(Outputs.of(cleaned, {"url": self.document.url, **item}))

    def heaviest(self, tried: Tried, blocks: Sequence[int]) -> list[tuple[str, float, float | None]]:
        """Return the features that weighed most in the scores of some blocks; none for models that cannot tell.

        Raises:
            IndexError: the page has no such block.
        """
        model = self.model(tried.model).model
        if not isinstance(model, BlockPerceptron) or not self.page.m:
            return []
        if tried.model not in self._weights:
            self._weights[tried.model] = attribute_scores(model, self.page)
        return self._weights[tried.model].heaviest(blocks)

    def all_weights(self, tried: Tried) -> dict[int, list[tuple[str, float, float | None]]]:
        """The same for each section that has blocks, by the number of its root unit."""
        decided = self.cleaned(tried).decided
        if decided is None:
            return {}
        own = decided.smoothed.section[self.page.n :]
        return {
            int(root): self.heaviest(tried, np.flatnonzero(own == root).tolist())
            for root in np.unique(own)[:_MOST_WEIGHED].tolist()
        }

    def _sections(
        self, cleaned: Cleaned, tried: Tried, kind: NDArray[np.int64]
    ) -> tuple[list[dict[str, Any]], NDArray[np.int64]]:
        """The sections in document order, and the number of each block's among them, int64[m]."""
        page, decided = self.page, cleaned.decided
        if decided is None:
            return [], np.zeros(page.m, np.int64)
        roots = np.unique(decided.smoothed.section)
        begin = np.concatenate([page.run_begin, page.block_run_begin])[roots]
        roots = roots[np.lexsort((roots, begin))]
        number = np.zeros(page.n + page.m, np.int64)
        number[roots] = np.arange(len(roots))
        own = number[decided.smoothed.section[page.n :]]

        lengths = np.fromiter(map(len, self.texts), np.float64, page.m)
        scores = with_authors_mark(page, self.model(tried.model).own(page))
        df = self.evidence(tried.pages)
        raw = _means(scores, page, own, len(roots))
        moved = raw
        if df is not None and self.replay is not None:
            pages = min(tried.pages, self.replay.seen)
            moved = _means(with_site_counts(page, scores, df, pages), page, own, len(roots))
        sections = []
        blocks_of = np.split(np.argsort(own, kind="stable"), np.cumsum(np.bincount(own, minlength=len(roots)))[:-1])
        for place, (root, segment) in enumerate(zip(roots.tolist(), cleaned.segments, strict=True)):
            blocks = blocks_of[place]
            what = int(np.bincount(kind[blocks]).argmax()) if len(blocks) else int(segment.template)
            sections.append(
                {
                    "unit": root,
                    "element": root if root < page.n else int(page.block_node[root - page.n]),
                    "path": segment.path,
                    "tag": segment.tag,
                    "kind": what,
                    "score": round(segment.score, 4),
                    "raw": raw[place],
                    "moved": moved[place],
                    "reason": segment.reason,
                    "characters": segment.characters,
                    "on": None if df is None else _median(df[page.n + blocks], lengths[blocks]),
                }
            )
        return sections, own


def _means(scores: Scores, page: Page, own: NDArray[np.int64], sections: int) -> list[float | None]:
    """Mean score of each section's blocks by their weight; ``None`` for sections without blocks."""
    score, weight = scores.templateness[page.n :], scores.weight[page.n :].astype(np.float64)
    weight = np.where(weight > 0, weight, 1e-9)
    total = np.bincount(own, weight, sections)
    sums = np.bincount(own, weight * score, sections)
    return [round(float(s / t), 4) if t > 0 else None for s, t in zip(sums, total, strict=True)]


def _median(values: NDArray[np.int64], weights: NDArray[np.float64]) -> int | None:
    """The value that half of the weight lies below."""
    if not len(values):
        return None
    order = np.argsort(values, kind="stable")
    sums = np.cumsum(np.maximum(weights[order], 1e-9))
    return int(values[order[np.searchsorted(sums, sums[-1] / 2)]])
