"""Decides for a whole page: its kind, the threshold from which blocks are cut, and the expected quality of the text.

An article is cut at even odds. Pages of other kinds, whose scores are less certain, are cut at the threshold with the
highest expected F1. The log-odds of both thresholds are averaged by the probability that the page is an article.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from math import log1p
from operator import mul
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, Protocol, Self, get_args

import numpy as np

from tamis.core import core
from tamis.features import FEATURE_NAMES, PAGE_FEATURE_NAMES, TABLE_SIZE
from tamis.models import CLIP
from tamis.models.files import required_array

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tamis.arrays import Floats, Integers, Singles
    from tamis.models.files import Arrays


Scope = Literal["auto", "article", "page"]
"""What to keep of a page: chosen by its kind, only the main content, or everything except template."""

Favor = Literal["balanced", "precision", "recall"]
"""Which errors are worse: neither, template that is kept, or content that is cut."""

SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)
FAVORS: Final[tuple[Favor, ...]] = get_args(Favor)

BETAS: Final[dict[Favor, float]] = {"balanced": 1.0, "precision": 0.5, "recall": 2.0}
"""Beta of the expected F-beta measure: weight of recall relative to precision."""

SHIFTS: Final[dict[Favor, float]] = {"balanced": 0.0, "precision": -0.15, "recall": 0.15}


def shifted(threshold: float, favor: Favor) -> float:
    """Return a fixed threshold for the errors that are worse."""
    return min(max(threshold + SHIFTS[favor], 0.05), 1.0)


class Choice(NamedTuple):
    """The threshold for a page.

    Attributes:
        threshold: templateness from which units are cut.
        confidence: expected word F1 of the text, 0..1; ``None`` if the model does not estimate it.
        kind: kind of page, such as ``"article"`` or ``"forum"``; ``None`` if the model does not predict it.
    """

    threshold: float
    confidence: float | None = None
    kind: str | None = None


class Decision(Protocol):
    """Chooses the threshold for a page; called again when evidence has changed the scores."""

    @property
    def threshold(self) -> float:
        """Score from which a unit counts as template on this page by the model alone."""
        ...

    @property
    def forum(self) -> float | None:
        """Probability that the page is a forum; ``None`` if the model does not predict kinds of pages."""
        ...

    def choose(self, templateness: Floats, *, scope: Scope, favor: Favor) -> Choice:
        """Choose by float64[m], scores of the page's blocks."""
        ...


def expected_f1_threshold(templateness: Floats, words: Floats, beta: float = 1.0) -> float:
    """Find the threshold of templateness with the highest expected F1 (or F-beta) of the kept text.

    With calibrated scores the expected F1 of keeping the blocks below a threshold is, to first order,
    ``2 * C / (K + W)``: kept content words, over kept words plus content words of the page. The threshold is higher for
    a page with uncertain scores only, where a lost paragraph costs more than a kept caption.

    Args:
        templateness: float64[m] in 0..1, scores of the text blocks.
        words: float64[m], words of each block.
        beta: weight of recall relative to precision.

    Returns:
        A number in 0..1; blocks whose templateness is not below it are cut. 0.5 for a page without text.
    """
    threshold: float = core.choose_threshold(templateness, words, beta, 1.0, 0.5, 0.0)[0]
    return threshold


@dataclass(frozen=True, slots=True)
class FixedThreshold:
    """Uses the same threshold for every page; ignores the scope.

    Attributes:
        threshold: templateness from which a block is cut with ``favor="balanced"``.
        forum: probability that the page is a forum, if it is known.
    """

    threshold: float
    forum: float | None = None

    def choose(self, templateness: Floats, *, scope: Scope, favor: Favor) -> Choice:  # noqa: ARG002
        """Choose by float64[m], scores of the page's blocks."""
        return Choice(shifted(self.threshold, favor))


# ---- The learned decision: by the kind of page.

PAGE_KINDS: Final = ("article", "collection", "documentation", "forum", "listing", "product", "service")
"""The page types of the WCXB benchmark."""

ARTICLE: Final = PAGE_KINDS.index("article")
"""Index of the kind whose pages have one main text."""

_PROPERTIES: Final = (
    "link share", "sentence ends per word", "digit share", "enclosed by p", "enclosed by li", "enclosed by link",
    "enclosed by h1", "log depth", "log twins", "share of the title's words",
    "container 0: link share", "container 1: link share", "container 1: log alike siblings",
    "alike blocks: log number", "alike blocks: log words per block",
    "15 blocks around: log words per block", "15 blocks around: link share",
)  # fmt: skip

PROPERTY_COLUMNS: Final = np.array([*map(FEATURE_NAMES.index, _PROPERTIES)], np.int32)
"""The features of blocks whose means tell the kind of a page."""

_IN_ADDRESS: Final = {
    kind: re.compile(pattern)
    for kind, pattern in {
        "forum": r"//[^/]*forum|forums?/|//(?:boards?|community|discuss|discourse)\.|/(?:viewtopic|showthread)\b"
        r"|/(?:threads?|discussions?|questions?)[/.]|/t/[^/]+/\d|/r/\w+/comments/",
        "documentation": r"//(?:[^/]*\.)?(?:docs?|developers?|devdocs|manual|wiki)\.|\.readthedocs\."
        r"|/(?:docs?|documentation|manual|reference|api|man)/",
        "product": r"/(?:products?|dp|itm|item|p)/",
        "collection": r"/(?:collections?|category|categories|c|shop|catalog)/",
        "service": r"/(?:services?|solutions?|features?|platform)(?:/|$)",
    }.items()
}
"""URL patterns that are typical of each kind of page, for addresses in lower case."""

_ADDRESS: Final = (
    "slashes", "has a query", "log digits", "log length", "dashes at the end", "is the host's",
    *(f"is like a {kind}'s" for kind in _IN_ADDRESS),
)  # fmt: skip

KIND_INPUTS: Final = (
    *PAGE_FEATURE_NAMES,
    *(f"content: mean of {name}" for name in _PROPERTIES),
    *(f"page: mean of {name}" for name in _PROPERTIES),
    "content: share of words",
    *(f"address: {name}" for name in _ADDRESS),
)
"""Numeric inputs of the classifier of page kinds."""

TOKENS: Final = 2 * TABLE_SIZE
"""Entries of the table of tokens: names of elements, then words."""

CONFIDENCE_INPUTS: Final = ("constant", "expected F1", "expected precision", "expected recall", "article", "log words")
"""Inputs of the linear estimate of the text's F1."""


_MIN_EXPECTED: Final = 0.5
"""F-beta that is expected at least: the threshold of the best one is ``1 - F / (1 + beta ** 2)``. Where all scores are
poor, that would be near 1, and the terms of use of a shop the longest text that is kept."""


class KindInputs(NamedTuple):
    """Inputs of the classifier of page kinds.

    Attributes:
        numbers: float64[len(KIND_INPUTS)]; NaN for the address inputs if the address is unknown.
        tokens: int64[...], distinct names of elements and leading words of blocks, as indices of :data:`TOKENS`.
    """

    numbers: Floats
    tokens: Integers

    def with_address(self, url: str | None) -> KindInputs:
        """Return a copy with the inputs of a page's address, or these inputs if it is unknown."""
        if not url or "://" not in url:
            return self
        numbers = self.numbers.copy()
        numbers[-len(_ADDRESS) :] = _address_inputs(url)
        return KindInputs(numbers, self.tokens)


def _address_inputs(url: str) -> Sequence[float]:
    """Properties of an address, in the order of :data:`_ADDRESS`."""
    path, _, query = url.partition("://")[2].partition("/")[2].partition("#")[0].partition("?")
    digits, end = sum(map(str.isdigit, path)), path.rstrip("/").rpartition("/")[2]
    numbers = path.count("/"), query != "", log1p(digits), log1p(len(path)), end.count("-"), path == ""
    lowered = url.lower()
    return [*numbers, *[pattern.search(lowered) is not None for pattern in _IN_ADDRESS.values()]]


@dataclass(frozen=True, eq=False, slots=True)
class KindHead:
    """Softmax regression that predicts the kind of a page.

    Attributes:
        mean, scale: float64[d], standardisation of the numbers.
        weight: float64[d, len(PAGE_KINDS)], weights of the numbers.
        bias: float64[len(PAGE_KINDS)].
        tokens: float32[TOKENS, len(PAGE_KINDS)], weights of the tokens.
    """

    mean: Floats
    scale: Floats
    weight: Floats
    bias: Floats
    tokens: Singles

    def probabilities(self, inputs: KindInputs) -> Floats:
        """float64[len(PAGE_KINDS)], probability of each kind."""
        kinds = np.empty(len(PAGE_KINDS))
        of_numbers = (self.mean, self.scale, CLIP, self.weight, self.bias)
        core.kind_probabilities(inputs.numbers, *of_numbers, self.tokens, inputs.tokens, kinds)
        return kinds


@dataclass(frozen=True, eq=False, slots=True)
class LearnedDecision:
    """Learned parameters of the decision on whole pages.

    Attributes:
        kinds: classifier of page kinds.
        confidence: float64[len(CONFIDENCE_INPUTS)], weights of the estimate of the text's F1.
    """

    kinds: KindHead
    confidence: Floats

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return the parameters as stored in a model file."""
        kinds = {f"kind {name}": getattr(self.kinds, name) for name in ("mean", "scale", "weight", "bias")}
        arrays = {name: array.astype(np.float32) for name, array in (kinds | {"confidence": self.confidence}).items()}
        return arrays | {"kind tokens": self.kinds.tokens.astype(np.float16)}

    @classmethod
    def stored(cls, arrays: Arrays) -> Self:
        """Read the parameters from the arrays of a model file.

        Raises:
            ModelError: an array is missing or damaged.
        """
        d, kinds = len(KIND_INPUTS), len(PAGE_KINDS)
        shapes = {"mean": (d,), "scale": (d,), "weight": (d, kinds), "bias": (kinds,), "tokens": (TOKENS, kinds)}
        named = (required_array(arrays, f"kind {name}", *shape) for name, shape in shapes.items())
        mean, scale, weight, bias, tokens = named
        head = KindHead(mean, scale, weight, bias, tokens.astype(np.float32))
        return cls(head, required_array(arrays, "confidence", len(CONFIDENCE_INPUTS)))


@dataclass(frozen=True, eq=False)
class PageDecision:
    """The decision for one page; its kind is predicted once, from the scores of the page-level model.

    Attributes:
        learned: learned parameters; without them the threshold has the highest expected F1, whatever the scope.
        inputs: inputs of the page's kind, without its address.
        words: float64[m], words of each block.
        templateness: float64[m], the model's scores of the blocks.
        url: address of the page, if known.
    """

    learned: LearnedDecision | None
    inputs: KindInputs
    words: Floats
    templateness: Floats
    url: str | None

    @cached_property
    def kinds(self) -> list[float]:
        """Probability of each of :data:`PAGE_KINDS`; of none if kinds were not learned."""
        inputs = self.inputs.with_address(self.url)
        return self.learned.kinds.probabilities(inputs).tolist() if self.learned else []

    @property
    def forum(self) -> float | None:
        """Probability that the page is a forum; ``None`` if kinds were not learned."""
        return self.kinds[PAGE_KINDS.index("forum")] if self.learned else None

    @cached_property
    def threshold(self) -> float:
        """Threshold with the highest expected F1 by the model's scores; rarely needed, so computed on demand."""
        return expected_f1_threshold(self.templateness, self.words)

    def choose(self, templateness: Floats, *, scope: Scope, favor: Favor) -> Choice:
        """Choose the threshold from the scores of the page's blocks, float64[m]."""
        if self.learned is None:
            return Choice(expected_f1_threshold(templateness, self.words, BETAS[favor]))
        is_article = self.kinds[ARTICLE] if scope == "auto" else float(scope == "article")
        threshold, inputs = self._chosen(templateness, shifted(0.5, favor), is_article, BETAS[favor])
        confidence = min(max(sum(map(mul, self.learned.confidence.tolist(), inputs)), 0.0), 1.0)
        return Choice(threshold, confidence, PAGE_KINDS[self.kinds.index(max(self.kinds))])

    def confidence_inputs(self, templateness: Floats, threshold: float) -> Floats:
        """float64[len(CONFIDENCE_INPUTS)], from the scores of the blocks, float64[m], and the threshold."""
        return np.array(self._chosen(templateness, threshold, 1.0, 1.0)[1])

    def _chosen(self, templateness: Floats, even: float, is_article: float, beta: float) -> tuple[float, list[float]]:
        """Average the best threshold and ``even`` by ``is_article``; return it with the inputs of the confidence."""
        most = 1 - _MIN_EXPECTED / (1 + beta**2)
        threshold, *quality, log_words = core.choose_threshold(templateness, self.words, beta, most, even, is_article)
        return threshold, [1.0, *quality, self.kinds[ARTICLE], log_words]
