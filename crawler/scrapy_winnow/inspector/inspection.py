"""One page under inspection: cleaned with the settings that are tried, with the reasons for each of its sections."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from scrapy_winnow.fields import Outcome
from scrapy_winnow.inspector.drawing import describe_page, find_style_sheets
from scrapy_winnow.storage.evidence import HashedPage, SiteEvidence
from winnow import Cleaned, Limits, Page, PageTooLarge, clean, load_model
from winnow.cleaning import check_choice
from winnow.duplicates import shingles
from winnow.evidence.draft import Reason
from winnow.evidence.marked_articles import with_authors_mark
from winnow.models.blocks import Attribution, BlockModel, attribute_scores
from winnow.models.scores import FAVORS, FixedThreshold
from winnow.output.text import block_texts
from winnow.rules import Rules
from winnow.site import PageCounts
from winnow.smoothing import smooth_scores

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from scrapy_winnow.inspector.documents import Document, Replay
    from winnow.evidence.draft import Draft
    from winnow.models.scores import Favor, Model, Scores
    from winnow.segments import Segment

_PREFIX_LENGTH: Final = 24  # characters that find a block whose text was changed
CONTENT, TEMPLATE, COMMENTS, COPY = range(4)  # kinds of sections, as the script numbers them
_MAX_ATTRIBUTED: Final = 500  # sections
_WIDE: Final = Limits(max_bytes=256_000_000, max_nodes=5_000_000, max_depth=1 << 20)


@dataclass(frozen=True, slots=True)
class Trial:
    """What the controls of the inspector are set to.

    Attributes:
        model: name or path of the model; ``None`` for the package's own.
        threshold: smoothed score from which text is cut; ``None`` for the one that the model chooses for the page.
        penalty: factor on the model's cost of a section; 0 makes every block a section, a large number makes one.
        pages: pages of the site that were counted, this page included; 0 for none.
        favor: which mistake is worse, see :func:`winnow.clean`; it has no effect on a threshold that is set.
    """

    model: str | None = None
    threshold: float | None = None
    penalty: float = 1.0
    pages: int = 0
    favor: Favor = "balanced"

    @classmethod
    def of(cls, values: dict[str, Any]) -> Self:
        """Read the settings that a browser sent.

        Raises:
            ValueError: they are not settings.
        """
        try:
            model, threshold = values.get("model"), values.get("threshold")
            trial = cls(
                model=None if model is None else str(model),
                threshold=None if threshold is None else float(threshold),
                penalty=float(values.get("penalty", 1.0)),
                pages=int(values.get("pages", 0)),
                favor=values.get("favor", "balanced"),
            )
            check_choice("favor", trial.favor, FAVORS)
        except (TypeError, AttributeError) as error:
            raise ValueError(f"not the settings of a page: {error}") from error
        if not (0 <= trial.penalty < float("inf") and trial.pages >= 0):
            raise ValueError("penalty and pages must not be negative")
        return trial


@dataclass(eq=False)
class ScoredPage:
    """A page and a model that has scored it; everything is computed once, when it is first needed."""

    page: Page
    model: Model

    @cached_property
    def scores(self) -> Scores:
        """The scores of the model, without those settings that are tried."""
        return self.model.score(self.page)

    @cached_property
    def attribution(self) -> Attribution | None:
        """Which features explain the scores; ``None`` for other kinds of models."""
        return attribute_scores(self.model, self.page) if isinstance(self.model, BlockModel) and self.page.m else None

    @cached_property
    def _smoothed_blocks(self) -> tuple[Scores, NDArray[np.float64]]:
        scores = with_authors_mark(self.page, self.scores)
        return scores, smooth_scores(self.page, scores).value[self.page.n :]

    def own_threshold(self, favor: Favor) -> float:
        """Return the smoothed score, 1 at most, from which the model would cut the page if its site were unknown."""
        if not self.page.n:
            return 0.5
        scores, values = self._smoothed_blocks
        return min(scores.decision.choose(values, scope="auto", favor=favor).threshold, 1.0)


class TriedModel:
    """A model for :func:`winnow.clean` with the threshold and the penalty that are tried."""

    def __init__(self, scored: ScoredPage, trial: Trial) -> None:
        self.name, self.version = scored.model.name, scored.model.version
        self._scored, self._trial = scored, trial

    def score(self, page: Page) -> Scores:
        """Return the scores of the inspected page, or score another: that of the article in its JSON."""
        scores = self._scored.scores if page is self._scored.page else self._scored.model.score(page)
        penalty = scores.penalty.copy()
        penalty[np.isfinite(penalty)] *= self._trial.penalty  # units that never begin a section stay so
        scores = replace(scores, penalty=penalty)
        if (threshold := self._trial.threshold) is None:
            return scores
        return replace(scores, decision=FixedThreshold(threshold))


def locate_blocks(text: str, blocks: Sequence[str], kept: NDArray[np.bool_]) -> list[list[int]]:
    """Find the kept blocks in the text.

    Args:
        text: the text.
        blocks: text of each block of the page.
        kept: bool[m], the blocks in the text.

    Returns:
        The number, begin and end of each block that was found, in UTF-16 units as a browser counts.
    """
    spans: list[tuple[int, int, int]] = []
    at = 0
    for block in np.flatnonzero(kept).tolist():
        wanted = blocks[block]
        limit = at + len(wanted) + 4 * _PREFIX_LENGTH
        begin = text.find(wanted, at, limit + len(wanted))
        if begin < 0:
            prefix = wanted[:_PREFIX_LENGTH].split("\n")[0]
            begin = text.find(prefix, at, limit + len(prefix))
        if begin >= 0:
            at = min(begin + len(wanted), len(text))
            spans.append((block, begin, at))
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
    utf16 = np.append(0, np.cumsum(1 + (points > 0xFFFF))).tolist()
    return [[block, utf16[begin], utf16[end]] for block, begin, end in spans]


class Inspection:
    """A page, even one that is too large for a crawl, and the results that were computed for it so far.

    Attributes:
        replay: the other pages of its site; ``None`` where none are known.
        passed_through: why a crawl would pass it through uncut: ``"bytes"``, ``"nodes"`` or ``"depth"``.
    """

    def __init__(self, document: Document, replay: Replay | None = None, rules: Rules | None = None) -> None:
        self.document = document
        self.replay = replay
        self.passed_through: str | None = None
        try:
            self.page = Page.parse(document.html, document.url, encoding=document.encoding)
        except PageTooLarge as error:
            self.passed_through = error.reason
            self.page = Page.parse(document.html, document.url, encoding=document.encoding, limits=_WIDE)
        self._rules = rules or Rules()
        self._scored: dict[str | None, ScoredPage] = {}
        self._cleaned: tuple[Trial, Cleaned] | None = None

    @cached_property
    def texts(self) -> list[str]:
        """Text of each block."""
        return block_texts(self.page)

    @cached_property
    def _hashed(self) -> HashedPage:
        return HashedPage.of(self.page, load_model())

    def scored(self, model: str | None) -> ScoredPage:
        """Return the page as a model scores it."""
        if model not in self._scored:
            self._scored[model] = ScoredPage(self.page, load_model(model))
        return self._scored[model]

    def evidence(self, pages: int) -> PageCounts | None:
        """Return what is known of the page after ``pages`` pages of its site; ``None`` without pages."""
        if self.replay is None or pages < 1 or not self.page.n:
            return None
        pages = min(pages, self.replay.pages)
        return PageCounts(self._hashed.frequencies(self.replay.df(self._hashed, pages)), pages)

    def cleaned(self, trial: Trial) -> Cleaned:
        """Clean the page under some settings; the last result is kept."""
        if self._cleaned is None or self._cleaned[0] != trial:
            model, site = TriedModel(self.scored(trial.model), trial), self.evidence(trial.pages)
            self._cleaned = trial, clean(self.page, model=model, site=site, rules=self._rules, favor=trial.favor)
        return self._cleaned[1]

    def decided(self, trial: Trial) -> Draft | None:
        """Return the decisions on the units of the page; ``None`` where the text is not theirs, but from JSON."""
        decided = self.cleaned(trial).decided
        return decided if decided is not None and decided.page is self.page else None

    def describe(self, *, load_assets: bool) -> dict[str, Any]:
        """Return what does not depend on settings, for the browser."""
        document = self.document
        return {
            "name": document.name,
            "url": document.url,
            "title": self.page.title,
            "bytes": len(document.html),
            "elements": self.page.n,
            "tree": describe_page(self.page),
            "styles": find_style_sheets(self.page) if load_assets else [],
        }

    def state(self, trial: Trial) -> dict[str, Any]:
        """Return the sections and the decision for each block under some settings, for the browser."""
        cleaned, decided = self.cleaned(trial), self.decided(trial)
        if decided is None:
            kind, section_of = np.full(self.page.m, TEMPLATE), np.zeros(0, np.int64)
            sections: list[dict[str, Any]] = []
        else:
            kind = np.where(decided.kept, CONTENT, TEMPLATE)
            kind[decided.comment_units[self.page.n :]] = COMMENTS
            kind[decided.reason[self.page.n :] == Reason.COPY] = COPY
            sections, section_of = self._sections(decided, cleaned.segments, kind)
        own_threshold = self.scored(trial.model).own_threshold(trial.favor)
        return {
            "trial": asdict(trial),
            "ownThreshold": own_threshold,
            "threshold": trial.threshold if trial.threshold is not None else own_threshold,
            "seen": 0 if self.replay is None else self.replay.pages,
            "sections": sections,
            "kind": kind.tolist(),
            "section": section_of.tolist(),
            "spans": locate_blocks(cleaned.text, self.texts, kind == CONTENT),
            "text": cleaned.text,
            "templateShare": cleaned.template_share,
            "fallback": cleaned.fallback,
            "model": cleaned.model_version,
        }

    def outputs(self, trial: Trial) -> dict[str, Any]:
        """Return the outputs under some settings: HTML, Markdown, metadata and the fields of an item."""
        from markdown_it import MarkdownIt  # noqa: PLC0415  (not needed for the scores)

        cleaned = self.cleaned(trial)
        known = self.evidence(trial.pages)
        counts = None if known is None else SiteEvidence(known.df, known.pages)
        item = Outcome(cleaned, counts, shingles(cleaned.text)).values()
        markdown = cleaned.markdown
        renderer = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])  # HTML stays text
        texts = {"html": cleaned.html, "markdown": markdown, "rendered": renderer.render(markdown)}
        return {**texts, "metadata": cleaned.metadata.to_dict(), "item": {"url": self.document.url, **item}}

    def top_features(self, trial: Trial, blocks: Sequence[int]) -> list[tuple[str, float, float | None]]:
        """Return the features that explain most of the scores of some blocks; none for other kinds of models."""
        attribution = self.scored(trial.model).attribution
        return [] if attribution is None else attribution.heaviest(blocks)

    def all_top_features(self, trial: Trial) -> dict[int, list[tuple[str, float, float | None]]]:
        """Return the same for each section that has blocks, by the number of its root unit."""
        if (decided := self.decided(trial)) is None:
            return {}
        section_of = decided.smoothed.section[self.page.n :]
        return {
            int(root): self.top_features(trial, np.flatnonzero(section_of == root).tolist())
            for root in np.unique(section_of)[:_MAX_ATTRIBUTED].tolist()
        }

    def _sections(
        self, decided: Draft, segments: Sequence[Segment], kind: NDArray[np.int64]
    ) -> tuple[list[dict[str, Any]], NDArray[np.int64]]:
        """Return the sections in document order, and the number of the section of each block, int64[m]."""
        page = self.page
        roots = np.unique(decided.smoothed.section)
        begin = np.concatenate([page.run_begin, page.block_run_begin])[roots]
        roots = roots[np.lexsort((roots, begin))]
        number = np.zeros(page.n + page.m, np.int64)
        number[roots] = np.arange(len(roots))
        section_of = number[decided.smoothed.section[page.n :]]

        raw = _means(decided.page_scores, page, section_of, len(roots))
        adjusted = _means(decided.scores, page, section_of, len(roots))
        ends = np.cumsum(np.bincount(section_of, minlength=len(roots)))[:-1]
        blocks_of = np.split(np.argsort(section_of, kind="stable"), ends)
        sections = []
        for place, (root, segment, blocks) in enumerate(zip(roots.tolist(), segments, blocks_of, strict=True)):
            df = None if decided.df is None else _median(decided.df[page.n + blocks], decided.lengths[blocks])
            sections.append(
                {
                    "path": segment.path,
                    "reason": segment.reason,
                    "characters": segment.characters,
                    "unit": root,
                    "element": root if root < page.n else int(page.block_node[root - page.n]),
                    "score": round(segment.score, 4),
                    "raw": raw[place],
                    "adjusted": adjusted[place],
                    "kind": int(np.bincount(kind[blocks]).argmax()) if len(blocks) else int(segment.template),
                    "on": df,
                }
            )
        return sections, section_of


def _means(scores: Scores, page: Page, section_of: NDArray[np.int64], sections: int) -> list[float | None]:
    """Return the weighted mean score of each section's blocks; ``None`` for sections without blocks."""
    score, weight = scores.templateness[page.n :], scores.weight[page.n :].astype(np.float64)
    weight = np.where(weight > 0, weight, 1e-9)
    total = np.bincount(section_of, weight, sections)
    sums = np.bincount(section_of, weight * score, sections)
    return [round(float(s / t), 4) if t > 0 else None for s, t in zip(sums, total, strict=True)]


def _median(values: NDArray[np.int64], weights: NDArray[np.int64]) -> int | None:
    """Return the weighted median."""
    if not len(values):
        return None
    order = np.argsort(values, kind="stable")
    sums = np.cumsum(np.maximum(weights[order], 1e-9))
    return int(values[order[np.searchsorted(sums, sums[-1] / 2)]])
