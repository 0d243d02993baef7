"""What the features of text blocks are computed from, measured once per page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.models.blocks.features.words import LeadingWords
from winnow.page.runs import linked_runs
from winnow.page.subtrees import within
from winnow.page.tags import TAG_ID, TAG_NAMES, tag_set
from winnow.page.text.statistics import TextStatistics

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.page.page import Page

    Floats = NDArray[np.float64]
    Indices = NDArray[np.int32]

COUNTS: Final = (
    "characters", "words", "linked", "emphasised", "upper_case",
    "digits", "commas", "sentence_ends", "symbols", "letters",
)  # fmt: skip
"""Columns of the count matrices."""

CHARACTERS, WORDS, LINKED, EMPHASISED, UPPER_CASE, DIGITS, COMMAS, SENTENCE_ENDS, SYMBOLS, LETTERS = range(len(COUNTS))

TAG_GROUPS: Final[dict[str, tuple[str, ...]]] = {
    "link": ("a",),
    "h1": ("h1",),
    "h2": ("h2",),
    "h3-h6": ("h3", "h4", "h5", "h6"),
    "p": ("p",),
    "li": ("li", "dd", "dt"),
    "list": ("ul", "ol", "dl", "menu"),
    "table": ("table",),
    "cell": ("td", "th"),
    "nav": ("nav",),
    "header": ("header",),
    "footer": ("footer",),
    "aside": ("aside",),
    "main": ("main",),
    "article": ("article",),
    "section": ("section",),
    "form": ("form", "fieldset"),
    "control": ("button", "label", "legend", "select", "input"),
    "quote": ("blockquote", "q"),
    "code": ("pre", "code"),
    "figure": ("figure", "figcaption", "picture"),
    "details": ("details", "summary"),
    "noscript": ("noscript",),
    "bold": ("b", "strong", "em", "i"),
    "small": ("small", "time", "cite", "sub", "sup"),
    "address": ("address",),
    "dialog": ("dialog",),
    "span": ("span", "font"),
    "div": ("div",),
    "center": ("center",),
}
"""Groups of tags that are told apart; every tag is in one of them at most."""

GROUP_NAMES: Final = tuple(TAG_GROUPS)
GROUP: Final = {name: number for number, name in enumerate(GROUP_NAMES)}
HEADINGS: Final = (GROUP["h1"], GROUP["h2"], GROUP["h3-h6"])

GROUP_OF_TAG: Final = np.full(len(TAG_NAMES), len(GROUP_NAMES), np.int64)
"""Number of each tag's group, by tag id."""

for _number, _tags in enumerate(TAG_GROUPS.values()):
    GROUP_OF_TAG[[TAG_ID[tag] for tag in _tags]] = _number

EMPHASIS: Final = tag_set("b", "strong", "em", "i")
"""Look-up table over tag ids: elements whose text is emphasised."""


@dataclass(frozen=True, eq=False, slots=True)
class BlockMeasures:
    """Counts of a page's blocks and elements, and where its blocks stand.

    Attributes:
        page: the page.
        counts: float64[10, m], counts of each block; the rows are :data:`COUNTS`.
        subtree: float64[10, n], the same counts of each element's subtree.
        total: float64[10], the same counts of the page, at least 1 each where something is divided by them.
        owner: int32[m], the element that the first run of each block belongs to.
        enclosing: int16[G + 1, m], how many elements of each tag group enclose the block's first run.
        group: int64[n], tag group of each element; ``G`` for tags of no group.
        texts: text of each block, white space normalised, lower-cased.
        words: the first words of each block.
        first, last: first and last character of each block, as they are.
    """

    page: Page
    counts: Floats
    subtree: Floats
    total: Floats
    owner: Indices
    enclosing: NDArray[np.int16]
    group: NDArray[np.int64]
    texts: list[str]
    words: LeadingWords
    first: list[str]
    last: list[str]

    @classmethod
    def of(cls, page: Page) -> BlockMeasures:
        """Measure a page."""
        statistics = TextStatistics.of(page)
        linked = linked_runs(page)
        emphasised = within(page, EMPHASIS[page.tag])[page.run_node]
        totals = np.empty((len(COUNTS), page.r + 1))
        totals[CHARACTERS] = statistics.characters
        totals[WORDS] = statistics.words
        totals[LINKED] = statistics.only(statistics.characters, linked)
        totals[EMPHASISED] = statistics.only(statistics.characters, emphasised)
        totals[UPPER_CASE] = statistics.upper_case
        totals[DIGITS] = statistics.digits
        totals[COMMAS] = statistics.commas
        totals[SENTENCE_ENDS] = statistics.sentence_ends
        totals[SYMBOLS] = statistics.symbols
        totals[LETTERS] = statistics.letters
        owner = page.run_node[page.block_run_begin]
        group = GROUP_OF_TAG[page.tag]
        texts = page.block_texts()
        lowered = page.block_lines.lower()
        return cls(
            page=page,
            counts=totals.take(page.block_run_end, axis=1) - totals.take(page.block_run_begin, axis=1),
            subtree=totals.take(page.run_end, axis=1) - totals.take(page.run_begin, axis=1),
            total=np.maximum(totals[:, -1], 1.0),
            owner=owner,
            enclosing=_enclosing(page, group),
            group=group,
            texts=lowered.split("\n") if page.m else [],
            words=LeadingWords.of(lowered, page.m, page.title),
            first=[text[0] for text in texts],
            last=[text[-1] for text in texts],
        )


def _enclosing(page: Page, group: NDArray[np.int64]) -> NDArray[np.int16]:
    """int16[G + 1, m], number of elements of each tag group around the first run of each block."""
    groups, width = len(GROUP_NAMES) + 1, page.m + 1
    holding = np.flatnonzero(page.block_end > page.block_begin)
    row = group[holding] * width
    change = np.bincount(row + page.block_begin[holding], minlength=groups * width)
    change -= np.bincount(row + page.block_end[holding], minlength=groups * width)
    enclosing: NDArray[np.int16] = np.cumsum(change.reshape(groups, width)[:, :-1], axis=1, dtype=np.int16)
    return enclosing
