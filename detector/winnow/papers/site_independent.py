"""Kolcz and Yih, "Site-Independent Template-Block Detection" (PKDD 2007): blocks, their labels, discretisation."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import md5
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from winnow.page.tags import tag_set
from winnow.page.tree import outermost, subtree_sums, within
from winnow.papers.methods import Labels, parameter
from winnow.papers.pages import Detagged, HashCounter, check_enough, is_in_sorted, mostly

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from winnow.page.page import Page
    from winnow.papers.pages import SitePage, SitePages
    from winnow.progress import Progress

    Floats = NDArray[np.float64]
    Hashes = NDArray[np.uint64]


# Cuts numbers into intervals by minimum description length: each feature becomes a few binary ones.
#
# U. M. Fayyad and K. B. Irani, "Multi-Interval Discretization of Continuous-Valued Attributes for Classification
# Learning" (IJCAI 1993), sections 3 (the cut of least class entropy) and 4 (MDLP, when to stop), as Kolcz and Yih use
# it for the features of blocks ("Site-Independent Template-Block Detection", PKDD 2007, section 4.1).


def mdl_cuts(values: NDArray[np.floating], label: NDArray[np.bool_]) -> Floats:
    """Cut one feature where that shortens the description of the labels.

    An interval is cut where the class entropy of the two halves is least, if the gain is more than it costs to name the
    place and the halves' classes; then both halves are looked at in turn.

    Args:
        values: float[e], finite.
        label: bool[e].

    Returns:
        float64, cut points in ascending order: values up to a cut are below it. None where the feature tells nothing.
    """
    order = np.argsort(values, kind="stable")
    ordered = np.asarray(values, np.float64)[order]
    positives = np.concatenate([[0], np.cumsum(label[order])])
    borders = np.flatnonzero(ordered[1:] > ordered[:-1]) + 1  # a cut only where the value changes
    cuts: list[float] = []
    waiting = [(0, len(ordered))]
    while waiting:
        begin, end = waiting.pop()
        first, last = np.searchsorted(borders, [begin, end], side="right")
        inside = borders[first : last - (last > first and borders[last - 1] == end)]
        at = _accepted_cut(positives, inside, begin, end)
        if at is not None:
            cuts.append((ordered[at - 1] + ordered[at]) / 2)
            waiting += [(begin, at), (at, end)]
    return np.sort(np.array(cuts))


def _accepted_cut(positives: NDArray[np.int64], borders: NDArray[np.int64], begin: int, end: int) -> int | None:
    """The border of least class entropy between two places, ``None`` where MDLP says that no cut pays."""
    if not len(borders):
        return None
    number = end - begin
    positive = positives[end] - positives[begin]
    left, left_positive = borders - begin, positives[borders] - positives[begin]
    left_entropy = _entropy(left_positive, left)
    right_entropy = _entropy(positive - left_positive, number - left)
    remaining = (left * left_entropy + (number - left) * right_entropy) / number
    best = int(remaining.argmin())
    whole = float(_entropy(np.array([positive]), np.array([number]))[0])
    classes = _classes(positive, number)
    left_classes = _classes(left_positive[best], left[best])
    right_classes = _classes(positive - left_positive[best], number - left[best])
    delta = np.log2(3.0**classes - 2) - (
        classes * whole - left_classes * left_entropy[best] - right_classes * right_entropy[best]
    )
    gain = whole - remaining[best]
    return int(borders[best]) if gain > (np.log2(number - 1) + delta) / number else None


def _entropy(positive: NDArray[np.int64], number: NDArray[np.int64]) -> Floats:
    """float64, bits of class entropy of sets with so many members, so many of them positive."""
    share = positive / number
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = [np.where(part > 0, -part * np.log2(part), 0.0) for part in (share, 1 - share)]
    bits: Floats = parts[0] + parts[1]
    return bits


def _classes(positive: int, number: int) -> int:
    """How many of the two classes a set has."""
    return int(positive > 0) + int(positive < number)


@dataclass(frozen=True, eq=False)
class Discretisation:
    """Cut points of several features.

    Attributes:
        cuts: cut points of each feature.
    """

    cuts: Sequence[Floats]

    @classmethod
    def of(cls, matrix: NDArray[np.floating], label: NDArray[np.bool_]) -> Discretisation:
        """Cut every column of float[e, k] by the labels bool[e]."""
        return cls([mdl_cuts(column, label) for column in matrix.T])

    @property
    def size(self) -> int:
        """Number of binary features: one for each interval of the features that were cut."""
        return sum(len(cuts) + 1 for cuts in self.cuts if len(cuts))

    def binary(self, matrix: NDArray[np.floating]) -> NDArray[np.bool_]:
        """Bool[e, size], true for the interval that each value lies in; features without a cut are left out."""
        intervals = [
            np.searchsorted(cuts, values, side="left")[:, None] == np.arange(len(cuts) + 1)
            for values, cuts in zip(matrix.T, self.cuts, strict=True)
            if len(cuts)
        ]
        return np.concatenate([np.zeros((len(matrix), 0), bool), *intervals], axis=1)


# Blocks of the site-independent detector: which of them a site repeats, and which only one of its pages has.

BLOCK_TAGS: Final = tag_set(
    *("blockquote", "dd", "div", "dl", "dt", "h1", "h2", "h3", "h4", "h5", "h6", "li", "ol", "pre", "small", "table"),
    *("td", "th", "tr", "ul"),
)
"""The tags that section 4.1 prints, as a look-up table over tag ids."""

LATER_TAGS: Final = tag_set(
    *("p", "section", "article", "main", "nav", "header", "footer", "aside", "figure", "figcaption", "details"),
    *("summary", "address"),
)
"""Paragraphs, and the tags of HTML 5 that have taken over from ``div``."""

_FIRST_WORDS: Final = 20
_MIN_REPEATS: Final = 2  # pages


@dataclass(frozen=True)
class SiteIndependentBlocks:
    """Elements of block tags with enough text, equal when their text is: on a tenth of the pages, or on one only.

    Paper: Kolcz and Yih, "Site-Independent Template-Block Detection" (PKDD 2007), sections 3 and 4.1. A block with
    enough pages is template; the topmost block that no other page has, and that holds none that others have, is
    content; what lies between is neither, so as not to teach what is doubtful. Blocks are equal when the MD5 digests
    of their text are.

    Parameters: ``share``, least share of the pages that have a template block (0.10); ``least``, pages that need to
    have it in any case (4; the paper's sites have 200 pages and more); ``characters``, least length of a block's text
    (40 characters, white space collapsed); ``words``, different words that it needs (3); ``later_tags``, count
    paragraphs and HTML 5's sections as blocks, too (off).

    Cost: two parses and the digests of each page's text, about once for each level of its tree; 16 bytes of memory for
    each different block.

    When to use: as the teacher of a model, which is what it was made for: few labels, and hardly any wrong. To clean
    pages, too, it is careful; short entries of menus count only as a part of the whole menu.
    """

    name: ClassVar[str] = "site-independent-blocks"

    share: float = parameter(0.10, "least share of the pages that have a template block", "share, 0 to 1")
    least: int = parameter(4, "pages that need to have a template block, however few there are", "pages")
    characters: int = parameter(40, "least length of a block's text", "characters")
    words: int = parameter(3, "different words that a block needs", "words")
    later_tags: bool = parameter(False, "paragraphs and the sections of HTML 5 are blocks, too")

    def __post_init__(self) -> None:
        if not 0 <= self.share <= 1:
            raise ValueError(f"share must be from 0 to 1: {self.share}")
        if self.least < _MIN_REPEATS or min(self.characters, self.words) < 0:
            raise ValueError("least must be at least 2; characters and words must not be negative")

    def learn(self, pages: SitePages, progress: Progress | None = None) -> SiteIndependentTemplate:
        """Count on how many pages with different text each block occurs.

        Raises:
            SiteError: there are fewer than two.
        """
        counter = HashCounter()
        distinct = 0
        for read in pages.distinct(progress):
            _, digest = self.blocks(read.page)
            counter.add(np.unique(digest))
            distinct += 1
        check_enough(pages, distinct)
        template = counter.between(max(self.least, self.share * distinct))
        return SiteIndependentTemplate(self, template, counter.between(_MIN_REPEATS), distinct)

    def blocks(self, page: Page) -> tuple[NDArray[np.int64], Hashes]:
        """Segment a page.

        Returns:
            int64[b], the elements that are blocks, and uint64[b], the first 8 bytes of the MD5 digest of their text.
        """
        tags = BLOCK_TAGS | LATER_TAGS if self.later_tags else BLOCK_TAGS
        detagged = Detagged(page)
        ink_before = np.searchsorted(detagged.run, np.arange(len(page.runs) + 1))
        first, end = ink_before[page.run_begin], ink_before[page.run_end]
        candidates = np.flatnonzero(tags[page.tag] & (end > first))
        begin = detagged.place[first[candidates]]
        until = detagged.place[end[candidates] - 1] + 1
        long_enough = until - begin >= self.characters
        candidates, begin, until = candidates[long_enough], begin[long_enough], until[long_enough]

        text = detagged.text
        chosen: list[int] = []
        digests: list[bytes] = []
        for element, at, to in zip(candidates.tolist(), begin.tolist(), until.tolist(), strict=True):
            piece = text[at:to]
            if self._has_words(piece):
                chosen.append(element)
                digests.append(md5(piece.encode("utf-8", "surrogatepass"), usedforsecurity=False).digest()[:8])
        return np.array(chosen, np.int64), np.frombuffer(b"".join(digests), np.dtype("<u8")).astype(np.uint64)

    def _has_words(self, text: str) -> bool:
        return len(set(text.split(maxsplit=_FIRST_WORDS))) > self.words or len(set(text.split())) >= self.words


class SiteIndependentTemplate:
    """The blocks that a site repeats.

    Attributes:
        pages: number of different pages that were counted.
    """

    def __init__(self, method: SiteIndependentBlocks, template: Hashes, repeated: Hashes, pages: int) -> None:
        self.pages = pages
        self._method = method
        self._template = template
        self._repeated = repeated

    def label(self, read: SitePage) -> Labels:
        """Label template blocks, and topmost blocks of which no other page has anything, with all they hold."""
        page = read.page
        template, unique = self._marked(page)
        return Labels(_with_text(page, within(page, template)), _with_text(page, within(page, unique)))

    def examples(self, page: Page) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the blocks that a classifier learns from: all that are template, and the topmost ones that are not.

        Returns:
            int64[b], the elements in document order, and bool[b], which of them are template.
        """
        template, unique = self._marked(page)
        topmost = unique & (outermost(page.parent, unique) == np.arange(page.n))
        chosen = np.flatnonzero(template | topmost)
        return chosen, template[chosen]

    def _marked(self, page: Page) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """bool[n] twice: blocks that are template, and blocks of which no other page has anything."""
        elements, digest = self._method.blocks(page)
        template, repeated, unique = np.zeros((3, page.n), bool)
        template[elements] = is_in_sorted(digest, self._template)
        repeated[elements] = is_in_sorted(digest, self._repeated)
        unique[elements] = subtree_sums(page, repeated)[elements] == 0
        return template, unique


def _with_text(page: Page, elements: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """bool[n + m], whole subtrees and the text blocks that lie in them."""
    return np.concatenate([elements, mostly(page, elements[page.run_node])])
