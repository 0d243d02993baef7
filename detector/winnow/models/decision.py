"""The decision which blocks of a page are kept: cuts, of which learned trees judge the best.

A cut keeps every block below one of several scores. A page's own scores rank its blocks well; where to stop is the
question. Trees say of every cut how good the text would be, and the best cut is taken. As smoothing gives the blocks of
a section one score, a cut never divides a section. What is judged are scores, not pages: the same trees decide again
when the counts of a site have changed the scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from winnow.core import core
from winnow.features.blocks import PAGE_FEATURE_NAMES, STATIC_NAMES
from winnow.models.files import ModelError, required_array
from winnow.models.scores import ABOVE_ALL, FAVORS, Choice, expected_f1_threshold, log_odds

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from winnow.features.blocks import BlockFeatures
    from winnow.models.scores import Favor, Scope
    from winnow.page.page import Page

    Floats = NDArray[np.float64]
    Matrix = NDArray[np.float32]
    Arrays = Mapping[str, NDArray[Any]]

KINDS: Final = ("article", "collection", "documentation", "forum", "listing", "product", "service")
"""The page types of the WCXB benchmark."""

ARTICLE: Final = KINDS.index("article")
"""Number of the kind whose pages have one main text."""

LEVELS: Final = np.array(
    [-6, -5, -4, -3.2, -2.5, -1.9, -1.4, -1, -0.6, -0.2, 0.2, 0.6, 1, 1.5, 2, 2.7, 3.5, 4.5, np.inf]
)
"""Logits of templateness below which blocks are kept; the last keeps the whole page."""

PROPERTIES: Final = (
    "link share", "sentence ends per word", "digit share", "enclosed by p", "enclosed by li", "enclosed by link",
    "enclosed by h1", "log depth", "log twins", "share of the title's words",
    "container 0: link share", "container 1: link share", "container 1: log alike siblings",
    "alike blocks: log number", "alike blocks: log words per block",
    "15 blocks around: log words per block", "15 blocks around: link share",
)  # fmt: skip
"""Features of blocks whose means over what is kept, weighted by words, are features of the cut."""

_OF_CUT: Final = (
    "level", "log words", "share of words", "share of blocks", "expected F1", "expected F1 to the best",
    "expected precision", "expected recall", "mean logit kept", "mean logit cut", "highest logit kept",
    "lowest logit cut", "log runs", "runs per block", "longest run", "first block", "last block",
    "words before", "words until the last", "share of the words between", "words per block",
    "share of its container's words", "share of its container's blocks", "container's share of the page",
    "container's depth", "log words of page", "log blocks of page", "expected content of page",
)  # fmt: skip
_OF_GROUP: Final = ("share of page", "share of kept", "mean content", "place", "log words per block")

CUT_NAMES: Final = (
    *_OF_CUT,
    *(f"kept: {name}" for name in PROPERTIES),
    *(f"{group}: {name}" for group in ("added", "next") for name in (*_OF_GROUP, *PROPERTIES)),
)
"""Features of a cut: how much it keeps, how sure that is, where it lies, what it is made of; of ``decision.c``, too."""

ROW_NAMES: Final = (*CUT_NAMES, *(f"kind: {name}" for name in KINDS), "scope")
"""What the trees look at, in the order of the columns."""

KIND_INPUTS: Final = (
    *PAGE_FEATURE_NAMES,
    *(f"content: {name}" for name in PROPERTIES),
    *(f"page: mean of {name}" for name in PROPERTIES),
    "content: share of words",
)
"""What the kind of page is judged by."""

_SCOPE_VALUES: Final[dict[Scope, float]] = {"auto": 0.0, "article": 1.0, "page": -1.0}
_PROPERTIES: Final = [STATIC_NAMES.index(name) for name in PROPERTIES]
_MIN_WORDS: Final = 0.5
_EPSILON: Final = 1e-7
_CLIP: Final = 4.0
_MAX_NODES: Final = 100_000
_MAX_DEPTH: Final = 32


@dataclass(frozen=True, eq=False, slots=True)
class PageView:
    """What a decision needs of a page (m blocks).

    Attributes:
        page: the page.
        words: float64[m], above 0: blocks without words count a little.
        properties: float32[m, len(PROPERTIES)].
        page_features: float32[len(PAGE_FEATURE_NAMES)].
    """

    page: Page
    words: Floats
    properties: Matrix
    page_features: Matrix

    @classmethod
    def of(cls, page: Page, features: BlockFeatures) -> Self:
        """Look at a page."""
        properties = np.ascontiguousarray(features.static[:, _PROPERTIES])
        return cls(page, np.maximum(features.words, _MIN_WORDS), properties, features.page_features)

    def kind_inputs(self, templateness: Floats) -> Floats:
        """float64[len(KIND_INPUTS)], by float64[m] scores of the blocks."""
        likely = (1 - templateness) * self.words
        all_likely, all_words, properties = likely.sum(), self.words.sum(), self.properties.astype(np.float64)
        means = likely @ properties / max(all_likely, 1e-9), self.words @ properties / max(all_words, 1e-9)
        return np.concatenate([self.page_features, *means, [all_likely / all_words]])

    def cuts(self, templateness: Floats, of_page: Matrix | None = None) -> tuple[Floats, Matrix]:
        """Find the k cuts that keep different blocks, and some, of a page that has a block.

        Args:
            templateness: float64[m], scores of the blocks.
            of_page: float32[...], columns that end every row.

        Returns:
            float64[k], one of :data:`LEVELS` each, and float32[k, len(CUT_NAMES) + ...], the features of the cuts.
        """
        of_page = np.empty(0, np.float32) if of_page is None else of_page
        levels, rows = np.empty(len(LEVELS)), np.empty((len(LEVELS), len(CUT_NAMES) + len(of_page)), np.float32)
        number = core.cut_rows(
            *(self.page.arrays, log_odds(templateness, _EPSILON), self.words, self.properties, LEVELS, of_page),
            *(rows, levels),
        )
        return levels[:number], rows[:number]


def kept_blocks(templateness: Floats, levels: Floats) -> NDArray[np.bool_]:
    """bool[k, m], the blocks that cuts keep, by float64[m] their scores and float64[k] the levels of the cuts."""
    return log_odds(templateness, _EPSILON) < levels[:, None]


def page_columns(kinds: Floats, scope: Scope) -> Matrix:
    """float32[len(KINDS) + 1], what the trees know of a page besides its cuts.

    Who asks for an article says that the page is one, whatever it looks like; and the reverse.
    """
    if scope != "auto":
        is_article = np.arange(len(KINDS)) == ARTICLE
        others = np.where(is_article, 0.0, kinds)
        kinds = is_article.astype(np.float64) if scope == "article" else others / max(others.sum(), _EPSILON)
    return np.append(kinds, _SCOPE_VALUES[scope]).astype(np.float32)


@dataclass(frozen=True, eq=False, slots=True)
class KindHead:
    """Softmax regression that says what kind of page it is, by its structure and what is content on it.

    Attributes:
        mean, scale: float64[d], what the inputs are standardised by.
        weight: float64[d, len(KINDS)].
        bias: float64[len(KINDS)].
    """

    mean: Floats
    scale: Floats
    weight: Floats
    bias: Floats

    def probabilities(self, inputs: Floats) -> Floats:
        """float64[..., len(KINDS)], from float64[..., d] of :meth:`PageView.kind_inputs`."""
        known = np.minimum(np.maximum((inputs - self.mean) * self.scale, -_CLIP), _CLIP)
        logits = known @ self.weight + self.bias
        odds = np.exp(logits - logits.max(axis=-1, keepdims=True))
        probabilities: Floats = odds / odds.sum(axis=-1, keepdims=True)
        return probabilities

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """The weights as they are stored."""
        names = ("mean", "scale", "weight", "bias")
        return {f"kind {name}": getattr(self, name).astype(np.float32) for name in names}

    @classmethod
    def stored(cls, arrays: dict[str, NDArray[np.generic]]) -> Self:
        """Take the weights out of the arrays of a model file.

        Raises:
            ModelError: they are missing or misshapen.
        """
        d, kinds = len(KIND_INPUTS), len(KINDS)
        shapes = {"mean": (d,), "scale": (d,), "weight": (d, kinds), "bias": (kinds,)}
        return cls(*(required_array(arrays, f"kind {name}", shape) for name, shape in shapes.items()))


@dataclass(frozen=True, eq=False, slots=True)
class Trees:
    """Boosted regression trees as flat arrays: ``t`` trees that are summed up, with ``s`` nodes altogether.

    They are fitted with scikit-learn; what is stored are numbers alone.

    Attributes:
        root: int32[t], first node of each tree.
        feature: int32[s], column that a node looks at; 0 for a leaf.
        threshold: float32[s], rows go to the left where the column is not above it.
        child: int32[s, 2], node to the left and to the right; both are the leaf itself for a leaf.
        value: float32[s], what a leaf adds.
        baseline: what the sum begins with.
        depth: steps from a root to the farthest leaf.
    """

    root: NDArray[np.int32]
    feature: NDArray[np.int32]
    threshold: NDArray[np.float32]
    child: NDArray[np.int32]
    value: NDArray[np.float32]
    baseline: float
    depth: int

    def predict(self, rows: Matrix) -> Floats:
        """float64[k], sums of the leaves that float32[k, d] rows fall into."""
        k, width = rows.shape
        sums = np.empty(k)
        nodes = self.root, self.feature, self.threshold, np.ascontiguousarray(self.child), self.value
        core.predict_trees(np.ascontiguousarray(rows), *nodes, self.depth, width, sums)
        return self.baseline + sums

    def arrays(self, name: str) -> dict[str, NDArray[np.generic]]:
        """The trees as they are stored, behind a name."""
        return {
            f"{name} root": self.root,
            f"{name} feature": self.feature.astype(np.int16),
            f"{name} threshold": self.threshold,
            f"{name} child": self.child.astype(np.int32),
            f"{name} value": self.value,
            f"{name} shape": np.array([self.baseline, self.depth]),
        }

    @classmethod
    def stored(cls, arrays: Arrays, name: str, width: int) -> Self:
        """Take trees over rows of a given width out of the arrays of a model file.

        Raises:
            ModelError: they are missing, or point outside themselves.
        """
        try:
            root, feature, threshold, child, value, shape = (
                arrays[f"{name} {part}"] for part in ("root", "feature", "threshold", "child", "value", "shape")
            )
        except KeyError as error:
            raise ModelError(f"model has no trees {name!r}: {error} is missing") from error
        s = len(feature) if feature.ndim == 1 else 0
        integers = all(array.dtype.kind in "iu" for array in (root, feature, child))
        fits = child.shape == (s, 2) and threshold.shape == value.shape == (s,) and shape.shape == (2,)
        if not integers or not fits or not 0 < s <= _MAX_NODES or root.ndim != 1:
            raise ModelError(f"model has misshapen trees {name!r}")
        inside = all(
            ((array >= 0) & (array < below)).all() for array, below in ((root, s), (child, s), (feature, width))
        )
        finite = np.isfinite(value).all() and np.isfinite(shape).all() and not np.isnan(threshold).any()
        if not inside or not finite or not 0 <= shape[1] <= _MAX_DEPTH:
            raise ModelError(f"model has trees {name!r} that point outside themselves")
        return cls(
            root.astype(np.int32),
            feature.astype(np.int32),
            threshold.astype(np.float32),
            np.ascontiguousarray(child, np.int32),
            value.astype(np.float32),
            float(shape[0]),
            int(shape[1]),
        )


@dataclass(frozen=True, eq=False, slots=True)
class LearnedDecision:
    """What was learned of where to cut.

    Attributes:
        trees: for each favor, how much worse a cut is than the best of its page.
        confidence: word F1 that the chosen cut is expected to have.
        kinds: what kind of page it is.
    """

    trees: Mapping[Favor, Trees]
    confidence: Trees
    kinds: KindHead

    def choose(
        self, view: PageView, templateness: Floats, kinds: Floats, *, scope: Scope = "auto", favor: Favor = "balanced"
    ) -> Choice:
        """Choose the best cut.

        Args:
            view: the page; it has a block.
            templateness: float64[m], scores of its blocks.
            kinds: float64[len(KINDS)], probabilities of the kinds of page.
            scope: what is wanted.
            favor: what matters more.
        """
        levels, rows = view.cuts(templateness, page_columns(kinds, scope))
        best = int(self.trees[favor].predict(rows).argmax())
        return Choice(
            threshold=float(1 / (1 + np.exp(-levels[best]))) if isfinite(levels[best]) else ABOVE_ALL,
            confidence=min(max(float(self.confidence.predict(rows[best : best + 1])[0]), 0.0), 1.0),
            kind=KINDS[int(kinds.argmax())],
        )

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """What was learned, as it is stored."""
        arrays = self.confidence.arrays("confidence") | self.kinds.arrays()
        for favor, trees in self.trees.items():
            arrays |= trees.arrays(favor)
        return arrays

    @classmethod
    def stored(cls, arrays: dict[str, NDArray[np.generic]]) -> Self:
        """Take a decision out of the arrays of a model file.

        Raises:
            ModelError: a part is missing or damaged.
        """
        width = len(ROW_NAMES)
        return cls(
            trees={favor: Trees.stored(arrays, favor, width) for favor in FAVORS},
            confidence=Trees.stored(arrays, "confidence", width),
            kinds=KindHead.stored(arrays),
        )


@dataclass(frozen=True, eq=False)
class PageDecision:
    """The decision for one page; its kind is judged once, by the scores of the page-level model.

    Attributes:
        learned: what was learned.
        view: the page.
        templateness: float64[m], the model's scores of the blocks.
    """

    learned: LearnedDecision
    view: PageView
    templateness: Floats

    @cached_property
    def kinds(self) -> Floats:
        """float64[len(KINDS)], probabilities of the kinds of page."""
        return self.learned.kinds.probabilities(self.view.kind_inputs(self.templateness))

    @cached_property
    def threshold(self) -> float:
        """Where the model's scores expect the best text; most pages are never asked for it."""
        return expected_f1_threshold(self.templateness, self.view.words)

    def choose(self, templateness: Floats, *, scope: Scope, favor: Favor) -> Choice:
        """Choose by float64[m], scores of the page's blocks."""
        return self.learned.choose(self.view, templateness, self.kinds, scope=scope, favor=favor)
