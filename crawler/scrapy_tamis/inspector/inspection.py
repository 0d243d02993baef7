"""One page under inspection: cleaned with the settings that are tried, with the reasons for each of its sections."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from scrapy_tamis.fields import Outcome
from scrapy_tamis.storage.evidence import HashedPage, SiteEvidence
from tamis import Cleaned, Limits, Page, PageTooLarge, clean, load_model
from tamis.evidence.draft import Reason
from tamis.models.blocks import Attribution, BlockModel, attribute_scores
from tamis.models.decision import FixedThreshold
from tamis.output.text import text_pieces
from tamis.rules import Rules
from tamis.segments import make_segments
from tamis.site import PageCounts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from scrapy_tamis.fetching import Document
    from scrapy_tamis.inspector.documents import Replay
    from tamis.evidence.draft import Draft
    from tamis.models import Model, Scores
    from tamis.models.decision import Favor, Scope

CONTENT, TEMPLATE, COMMENTS, COPY = KINDS = range(4)  # of sections, as the script numbers them
WIDE_LIMITS: Final = Limits(max_bytes=256_000_000, max_nodes=5_000_000, max_depth=1 << 20)
"""Limits of pages that a person looks at one by one."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What the controls of the inspector are set to.

    Attributes:
        model: name or path of the model; ``None`` for the package's own.
        threshold: smoothed score from which text is cut; ``None`` for the one that the model chooses for the page.
        pages: pages of the site that were counted, this page included; 0 for none.
        favor, scope: as of :func:`tamis.clean`; they have no effect on a threshold that is set.
    """

    model: str | None = None
    threshold: float | None = None
    pages: int = 0
    favor: Favor = "balanced"
    scope: Scope = "auto"


class _ModelWithThreshold:
    """A model for :func:`tamis.clean` that cuts from a fixed score."""

    def __init__(self, model: Model, threshold: float) -> None:
        self.name, self.version = model.name, model.version
        self._model, self._threshold = model, threshold

    def score(self, page: Page) -> Scores:
        scores = self._model.score(page)
        return scores._replace(decision=FixedThreshold(self._threshold, scores.decision.forum))


class Inspection:
    """A page, even one that is too large for a crawl, and the results that were computed for it so far.

    Attributes:
        replay: the other pages of its site; ``None`` where none are known.
        too_large: the limit for which a crawl would not read it; "" for none.
    """

    def __init__(self, document: Document, replay: Replay | None = None, rules: Rules | None = None) -> None:
        self.document = document
        self.replay = replay
        self.too_large = ""
        try:
            self.page = document.parse()
        except PageTooLarge as error:
            self.too_large = str(error)
            self.page = document.parse(WIDE_LIMITS)
        self._rules = rules or Rules()
        self.cleaned = lru_cache(maxsize=1)(self._clean)
        self.evidence = lru_cache(maxsize=1)(self._find_evidence)
        self._attribution = lru_cache(maxsize=2)(self._attribute_scores)
        self._hashed = lru_cache(maxsize=2)(lambda model: HashedPage.of(self.page, load_model(model)))

    def _find_evidence(self, trial: Trial) -> PageCounts | None:
        """Return what is known of the page after some pages of its site; ``None`` without pages."""
        if self.replay is None or trial.pages < 1 or not self.page.n:
            return None
        hashed = self._hashed(trial.model)
        df, pages = self.replay.count(hashed, min(trial.pages, self.replay.pages), trial.model)
        return PageCounts(hashed.frequencies(df), pages)

    def _clean(self, trial: Trial) -> Cleaned:
        """Clean the page under some settings; :attr:`cleaned` keeps the last result."""
        model: Model = load_model(trial.model)
        favor = trial.favor
        if trial.threshold is not None:
            model, favor = _ModelWithThreshold(model, trial.threshold), "balanced"  # another would move the threshold
        how: dict[str, Any] = {"favor": favor, "scope": trial.scope, "rules": self._rules}
        return clean(self.page, model=model, site=self.evidence(trial), **how)

    def _attribute_scores(self, model_name: str | None) -> Attribution | None:
        """Attribute the scores of a model to its features; ``None`` for other kinds of models."""
        model = load_model(model_name)
        return attribute_scores(model, self.page) if isinstance(model, BlockModel) and self.page.m else None

    def draft(self, trial: Trial) -> Draft | None:
        """Return the decision on the page; ``None`` where its text is that of its JSON."""
        draft = self.cleaned(trial).decided
        return draft if draft is not None and draft.page is self.page else None

    def state(self, trial: Trial) -> dict[str, Any]:
        """Return what comes out under some settings: sections, the decision for each block, text, and other outputs."""
        cleaned, draft, known = self.cleaned(trial), self.draft(trial), self.evidence(trial)
        evidence = None if known is None else SiteEvidence(known.df, known.pages)
        item = Outcome(cleaned, evidence).values()
        kind = np.full(self.page.m, TEMPLATE)
        sections: list[dict[str, Any]] = []
        section_of: list[int] = []
        pieces = [("", -1, cleaned.text)]
        if draft is not None:
            pieces = list(text_pieces(draft.page, draft.kept, draft.hidden))
            kind[draft.kept] = CONTENT
            kind[draft.comment_units[self.page.n :]] = COMMENTS
            kind[draft.overruled[self.page.n :] == Reason.COPY] = COPY
            sections, section_of = list_sections(draft, kind)
        return {
            "trial": asdict(trial),
            "threshold": 0.5 if cleaned.decided is None else min(cleaned.decided.choice.threshold, 1.0),
            "seen": 0 if self.replay is None else self.replay.pages,
            "counted": 0 if draft is None else draft.pages,
            "sections": sections,
            "kind": kind.tolist(),
            "section": section_of,
            "text": pieces,
            "templateShare": cleaned.template_share,
            "status": cleaned.status,
            "model": cleaned.model_version,
            "html": cleaned.html,
            "markdown": cleaned.markdown,
            "metadata": cleaned.metadata.to_dict(),
            "item": {"url": self.document.url, **item},
        }

    def top_features(self, trial: Trial, blocks: Sequence[int]) -> list[tuple[str, float, float | None]]:
        """Return the features that explain most of the scores of some blocks; none for other kinds of models."""
        attribution = self._attribution(trial.model)
        return [] if attribution is None else attribution.heaviest(blocks)


def list_sections(draft: Draft, kind: NDArray[np.int64]) -> tuple[list[dict[str, Any]], list[int]]:
    """Return the sections that have text, in the order of their first blocks, and the number of each block's section.

    ``kind`` is int64[m], the kind of each block.
    """
    page, section = draft.page, draft.smoothed.section[draft.page.n :]
    roots, first, section_of = np.unique(section, return_index=True, return_inverse=True)
    order = first.argsort()
    found, section_of = roots[order].tolist(), order.argsort()[section_of]

    lengths = draft.lengths + 1
    characters = np.bincount(section_of, lengths)
    alone, with_site = (
        np.bincount(section_of, lengths * scores.templateness[page.n :]) / characters
        for scores in (draft.page_scores, draft.scores)
    )
    kinds = np.bincount(section_of * len(KINDS) + kind, minlength=len(KINDS) * len(found)).reshape(-1, len(KINDS))
    longest = np.lexsort((lengths, section_of))[np.cumsum(np.bincount(section_of)) - 1]  # block of each section
    sections = [
        {
            "path": segment.path,
            "reason": segment.reason,
            "element": root if root < page.n else int(page.block_node[root - page.n]),
            "score": round(segment.score, 4),
            "raw": round(float(alone[at]), 4),
            "adjusted": round(float(with_site[at]), 4),
            "kind": int(kinds[at].argmax()),
            "on": None if draft.df is None else int(draft.df[page.n + longest[at]]),
        }
        for at, (root, segment) in enumerate(zip(found, make_segments(draft, section, found), strict=True))
    ]
    return sections, section_of.tolist()
