"""A small network that predicts how likely each text block is a reader comment.

It uses the page-level model's features, without element names, and recognises comments by their look: many similar
blocks with a name, a date and a few sentences. A linear part predicts whether the page is a forum, where blocks of the
same look are content.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

import numpy as np

from winnow.core import core
from winnow.features.blocks import STATIC_NAMES, columns_of
from winnow.features.tokens import TABLE_SIZE, name_hashes, word_features
from winnow.memo import Memo
from winnow.models.files import ModelError, fingerprint_of, read_model_file, stored_numbers, write_model_file
from winnow.models.sequence import SequenceNetwork, standardise
from winnow.page.tree import once_per_page

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from winnow.features.blocks import BlockFeatures, Part
    from winnow.page.page import Page

    Floats = NDArray[np.float64]
    Matrix = NDArray[np.float32]


DATE_NAMES: Final = ("dates: time of day", "dates: year", "dates: age", "dates: share of the blocks around")

LONGEST: Final = 120
"""Most characters of a block that may be a date; a third of it for an age."""

_SIGNS_IN_FEATURES: Final = 3  # time of day, year, age
_BITS: Final = np.arange(_SIGNS_IN_FEATURES)[:, None]
_UNDECIDED: Final = 255  # dates.c leaves the text to Python
_AROUND: Final = 8  # blocks on each side
_WINDOW: Final = 2 * _AROUND + 1
_DIGIT: Final = re.compile(r"\d")
_TIME: Final = re.compile(r"\b\d{1,2}[:.h]\d{2}\b|\b\d{1,2}\s?[ap]\.?m\b", re.IGNORECASE)
_YEAR: Final = re.compile(r"(?<!\d)(?:19[89]\d|20[0-4]\d)(?!\d)")
_AGE: Final = re.compile(
    r"(?<!\S)\d{1,3}\+?\s?[^\W\d_]{1,7}\b(?:\s[^\W\d_]{2,6})?\s*$"  # 2 days ago, 3mo, vor 5 Tagen
    r"|^\s*\d{1,2}\s?[^\W\d_]{1,3}\b"
)
_CLOCK: Final = re.compile(r"(?<![\d:.,])\d{1,2}[:h]\d{2}(?!\d)|\b\d{1,2}\s?[ap]\.?m\b", re.IGNORECASE)
_COPYRIGHT: Final = re.compile(r"©|\bcopyright\b", re.IGNORECASE)
_CLOCK_PERHAPS: Final = re.compile(r"\d[:h]\d\d", re.IGNORECASE)
_MEASURE: Final = re.compile(
    r"\d\s?(?:[mcknµ]?m|[mk]?g|[mc]?l|[kmgt]?b|[kmg]?hz|k?wh?|m?ah|v|meters?|metres?|px|oz|lbs?|in|ft|atm|x)\b",
    re.IGNORECASE,
)


def posted(text: str) -> bool:
    """Whether a block contains a posting date.

    It is stricter than the features, whose weights are learned: the price ``$4.99``, the hours ``10:00 am - 6:00 pm``,
    the length ``4 mm`` and the year of a copyright are no dates.

    Args:
        text: text of the block, with single spaces between words.
    """
    if len(text) > LONGEST or _COPYRIGHT.search(text):
        return False
    if _YEAR.search(text):
        return True
    times = len(_CLOCK.findall(text))
    return times == 1 or (
        not times and len(text) * 3 <= LONGEST and _AGE.search(text) is not None and _MEASURE.search(text) is None
    )


def date_signs(texts: list[str]) -> NDArray[np.uint8]:
    """uint8[m], bits for a time of day, a year, an age, and a possible time in another notation in each block.

    A block without any of them is never :func:`posted`.

    Args:
        texts: text of each block, with single spaces between words.
    """
    signs = np.zeros(len(texts), np.uint8)
    core.date_signs(texts, LONGEST, signs)
    unknown = np.flatnonzero(signs == _UNDECIDED).tolist()
    signs[unknown] = [_SIGNS[texts[block]] for block in unknown]
    return signs


def date_features(signs: NDArray[np.uint8]) -> Floats:
    """float64[m, len(DATE_NAMES)], from uint8[m] :func:`date_signs`."""
    features = np.empty((len(DATE_NAMES), len(signs)))
    bits = signs >> _BITS & 1
    features[:_SIGNS_IN_FEATURES] = bits
    is_dated = np.zeros(len(signs) + _WINDOW, np.int64)  # with the blocks before the first and behind the last
    is_dated[_AROUND + 1 : _AROUND + 1 + len(signs)] = bits.any(axis=0)
    sums = is_dated.cumsum()
    np.divide(sums[_WINDOW:] - sums[:-_WINDOW], _WINDOW, out=features[_SIGNS_IN_FEATURES])
    return features.T


def _signs(text: str) -> int:
    if not _DIGIT.search(text):
        return 0
    age = len(text) * 3 <= LONGEST and _AGE.search(text) is not None
    found = _TIME.search(text) is not None, _YEAR.search(text) is not None, age, _CLOCK_PERHAPS.search(text) is not None
    return sum(sign << bit for bit, sign in enumerate(found))


_SIGNS: Final = Memo[str, int](_signs, 8_192)


NAME: Final = "comments"

_WORDS: Final = tuple(f"comment words: {name} log-odds" for name in ("total", "mean", "lowest", "highest"))

FEATURE_NAMES: Final = (*STATIC_NAMES, *DATE_NAMES, *_WORDS)
"""Features of a block, in the order of the columns."""

NAMES_OF_A_PAGE: Final = 2_048
"""Entries of a page's bag of element names; the page-level table's entries share them."""

OF_A_PAGE: Final = len(FEATURE_NAMES) + 2
"""Other features of a page: the means of its blocks' features, and the logarithms of its words and blocks."""


@dataclass(frozen=True, eq=False)
class CommentPrediction:
    """Prediction of the comment head for a page.

    Attributes:
        comment: float64[m], logit of the probability that each block is a comment.
        predict_forum: computes :attr:`forum`, lazily, since few pages have blocks that look like comments.
    """

    comment: Floats
    predict_forum: Callable[[], float]

    @cached_property
    def forum(self) -> float:
        """Logit of the probability that the page is a forum."""
        return self.predict_forum()


@once_per_page
def signs_of(page: Page) -> NDArray[np.uint8]:
    """uint8[m], the :func:`date_signs` of a page's blocks; cached on the page."""
    return date_signs(page.block_texts())


def dated_features(page: Page) -> Floats:
    """float64[m, len(DATE_NAMES)], the :func:`date_features` of a page's blocks."""
    return date_features(signs_of(page))


def static_features(page: Page, features: BlockFeatures) -> Matrix:
    """float32[m, len(FEATURE_NAMES) - 4], the features computed without learned tables."""
    return np.concatenate([features.static, dated_features(page)], axis=1, dtype=np.float32)


def page_features(matrices: Sequence[Matrix], mass: Floats) -> Floats:
    """float64[OF_A_PAGE], weighted means of the blocks' features, and the logarithms of words and blocks.

    Args:
        matrices: float32[m, ...] each, together the features of :data:`FEATURE_NAMES` of the blocks; at least one.
        mass: float64[m], the words of each block.
    """
    weight = (np.sqrt(mass) + 1e-3).astype(np.float32)
    whole = weight.sum(dtype=np.float64)
    means = [np.einsum("m,mk->k", weight, matrix) / whole for matrix in matrices]  # on one thread
    return np.concatenate([*means, np.log1p([mass.sum(), len(mass)])])


def name_bag(features: BlockFeatures) -> NDArray[np.int64]:
    """int64[...], the distinct entries of a page's names, without those of comments, which forums use as well.

    Each is below :data:`NAMES_OF_A_PAGE`.
    """
    has_name = features.tokens.names_present(NAMES_OF_A_PAGE)
    has_name[_OF_COMMENTS] = False
    return has_name.nonzero()[0]


_OF_COMMENTS: Final = np.array(name_hashes("comment comments")) % NAMES_OF_A_PAGE


@dataclass(frozen=True, eq=False)
class CommentHead:
    """Weights of the comment and forum classifiers.

    Attributes:
        words: float32[TABLE_SIZE], log-odds of comment of each word; 0 for words of few sources.
        mean, scale: float32[k], standardisation of block features.
        network: network over the sequence of blocks.
        forum_mean, forum_scale: float32[OF_A_PAGE], standardisation of page features.
        forum_weight: float32[OF_A_PAGE + NAMES_OF_A_PAGE + 1], weights of the features and names, and the bias.
    """

    name: ClassVar[str] = NAME
    words: Matrix
    mean: Matrix
    scale: Matrix
    network: SequenceNetwork
    forum_mean: Matrix
    forum_scale: Matrix
    forum_weight: Matrix

    def predict(self, dated: Floats, features: BlockFeatures) -> CommentPrediction:
        """Predict comments on a page with text, from its :func:`dated_features` and block features."""
        parts = self._parts(dated, features)
        logits = self.network.logits(parts, self.mean, self.scale)
        return CommentPrediction(logits.astype(np.float64), partial(self._forum, parts, features))

    def predict_forum(self, dated: Floats, features: BlockFeatures) -> float:
        """Logit of the probability that a page with text is a forum, without judging the blocks."""
        return self._forum(self._parts(dated, features), features)

    def _parts(self, dated: Floats, features: BlockFeatures) -> tuple[Part, ...]:
        """Features of the blocks side by side: joining them would double the memory of a long page."""
        return (*features.parts, dated.astype(np.float32), word_features(features.tokens, self.words))

    def _forum(self, parts: Sequence[Part], features: BlockFeatures) -> float:
        """Logit of the probability that a page is a forum, from its blocks' features side by side."""
        of_page = page_features([columns_of(part) for part in parts], features.words).astype(np.float32)
        known = standardise(of_page, self.forum_mean, self.forum_scale) @ self.forum_weight[:OF_A_PAGE]
        names = self.forum_weight[OF_A_PAGE:-1][name_bag(features)].sum()
        return float(known + names + self.forum_weight[-1])

    @cached_property
    def version(self) -> str:
        """Identifies the weights."""
        return f"{NAME}-{fingerprint_of(self._arrays())}"

    def save(self, path: Path) -> None:
        """Write the head to an ``.npz`` file."""
        header = {"name": NAME, "version": self.version, "features": FEATURE_NAMES}
        write_model_file(path, header, self._arrays())

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a head.

        Raises:
            FileNotFoundError: there is no such file.
            ModelError: the file is damaged, of another kind, or made for other features.
        """
        header, arrays = read_model_file(path)
        if header.get("name") != NAME:
            raise ModelError(f"{path}: a model of the kind {header.get('name')!r}, not {NAME!r}")
        if header.get("features") != list(FEATURE_NAMES):
            raise ModelError(f"{path}: trained on other features than this version computes; train it again")
        k = len(FEATURE_NAMES)
        return cls(
            words=stored_numbers(arrays, "words", TABLE_SIZE),
            mean=stored_numbers(arrays, "mean", k),
            scale=stored_numbers(arrays, "scale", k),
            network=SequenceNetwork.stored(arrays, k),
            forum_mean=stored_numbers(arrays, "forum_mean", OF_A_PAGE),
            forum_scale=stored_numbers(arrays, "forum_scale", OF_A_PAGE),
            forum_weight=stored_numbers(arrays, "forum_weight", OF_A_PAGE + NAMES_OF_A_PAGE + 1),
        )

    def _arrays(self) -> dict[str, NDArray[Any]]:
        arrays = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "network"}
        return arrays | {"words": self.words.astype(np.float16)} | self.network.arrays()
