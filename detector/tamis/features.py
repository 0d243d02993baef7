"""One row of features per text block: the block itself, its place, its containers, its neighbours, its names and words.

No feature depends on a script or language; element names and words enter only through learned log-odds
(:class:`TokenTables`). Features of the whole page are separate: a network that sees them overfits to its collection and
does worse on others.

``core/source/feature_rows.c`` computes the features in the order of the names here, a few blocks at a time: to score a
page, no matrix of all of them is made: :func:`tamis.models.blocks.score_blocks`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import repeat
from typing import TYPE_CHECKING, Final

import numpy as np

from tamis.core import core
from tamis.page.tag_sets import COUNTED_IN_CONTAINERS
from tamis.page.tree import TAG_ID, TAG_NAMES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tamis.arrays import Indices, Singles
    from tamis.page.page import Page

# ---- Tokens: hashed words of the text and of class, id and role attributes, and features from their learned log-odds.
#
# Using a naive Bayes score as a feature of another classifier is section 4.1 of the site-independent template blocks
# paper; here the names that authors give to elements are scored like words.

TABLE_SIZE: Final = 1 << 15
"""Entries of a table; words with the same hash share one. ``block_features.h`` has the same number."""

_NAMING: Final = ("class", "id", "role", "itemprop", "aria-label", "itemtype", "data-testid", "rel")
_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, eq=False, slots=True)
class Tokens:
    """Hashed names and words of a page.

    Attributes:
        words_per_block: int32[m], number of leading words of each block: at most 16, from its first 160 characters.
        word: uint16[...], table entry of each leading word, block after block.
        name_element, name: int32[...], uint16[...], element and table entry of each name part of the elements with
            text, in document order.
    """

    words_per_block: Indices
    word: NDArray[np.uint16]
    name_element: Indices
    name: NDArray[np.uint16]


@dataclass(frozen=True, eq=False, slots=True)
class TokenTables:
    """Learned log-odds of content.

    Attributes:
        names: float32[TABLE_SIZE], for name parts.
        words: float32[TABLE_SIZE], for words.
    """

    names: Singles
    words: Singles


# ---- All features of a block.

LEVELS: Final = 6
"""Number of containers examined, from the innermost outwards.

A container is the outermost of the elements that hold exactly the same blocks: a stack of wrapper ``div``s is one
container, and each level holds more blocks than the one below it. Levels beyond the root repeat the root.
"""

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
"""Groups of tags; a tag is in at most one. ``block_features.h`` has the same numbers."""

_WORDING: Final = (
    "log characters", "log words", "characters per word",
    "link share", "emphasised share", "upper-case share", "digit share", "symbol share", "letter share",
    "commas per word", "sentence ends per word", "log commas", "log sentence ends",
    "begins in upper case", "begins with a digit", "begins with a symbol",
    "ends a sentence", "ends with a comma or colon",
    *(f"enclosed by {name}" for name in TAG_GROUPS),
    "hidden by markup", "log depth", "log links of its container", "log twins",
    "share of the title's words", "title's words per word",
)  # fmt: skip
_POSITION: Final = (
    "text before, share", "blocks before, share", "log text after", "log text before", "share of page",
    "log blocks before", "log blocks after",
    "signed log blocks from h1", "signed log characters from h1", "h1 blocks",
    "log blocks since a heading", "log blocks since long text", "log blocks to long text", "long text before, share",
)  # fmt: skip
_OF_CONTAINER: Final = (
    "log characters", "share of page", "link share", "sentence ends per word", "commas per word", "log blocks",
    "log words per block", "log alike siblings", "log children", "log depth",
    *(f"log {name}" for name in COUNTED_IN_CONTAINERS),
)  # fmt: skip
_NEIGHBOURS: Final = (
    *(
        f"neighbour {offset}: {name}"
        for offset in ("-1", "+1")
        for name in ("log words", "link share", "sentence ends per word", "heading", "p", "li")
    ),
    *(
        f"{window} blocks around: {name}"
        for window in (5, 15, 40)
        for name in ("log words per block", "link share", "sentence ends per word")
    ),
)
_ALIKE: Final = (
    "log number", "log words per block", "link share", "sentence ends per word", "share of page", "spread",
    "place of the first", "place of the last", "log deviation of words", "share with a twin",
)  # fmt: skip

FEATURE_NAMES: Final = (
    *_WORDING,
    *_POSITION,
    *(f"container {level}: {name}" for level in range(LEVELS) for name in _OF_CONTAINER),
    *(f"container {level}: rank of block" for level in range(LEVELS)),
    *(f"container {level}: is {tag}" for level in range(3) for tag in ("p", "div", "list", "li", "table")),
    *_NEIGHBOURS,
    *(f"alike blocks: {name}" for name in _ALIKE),
    *(f"words: {name} log-odds" for name in ("total", "mean", "lowest", "highest")),
    *(f"names: {name} log-odds" for name in ("path", "lowest on path", "highest on path", "own")),
    *(f"names: path log-odds of container {level}" for level in range(4)),
)
"""All features, in the order of the columns."""

PAGE_FEATURE_NAMES: Final = tuple(
    f"page: {name}"
    for name in (
        "log words", "log blocks", "log elements", "log longest block", "log alike siblings", "log long blocks",
        "log p", "log a", "log images", "log headings", "log controls",
        "log tables", "log li", "log pre", "log articles", "log mains",
        "link share", "sentence ends per word", "commas per word", "long text share", "words per block",
        *(f"share of text in the largest {name}" for name in ("article", "main", "noscript")),
    )
)  # fmt: skip
"""Features of the whole page, which distinguish an article from a shop's grid or a forum."""

_GROUP_OF_TAG: Final = np.full(len(TAG_NAMES), len(TAG_GROUPS), np.int8)
for _number, _tags in enumerate(TAG_GROUPS.values()):
    _GROUP_OF_TAG[[TAG_ID[tag] for tag in _tags]] = _number
core.set_table("tag_groups", _GROUP_OF_TAG)

_USES: Final = dict.fromkeys(_NAMING, 1) | {"class": 1 | 2, "hidden": 4, "aria-hidden": 8, "style": 16}
"""What attributes are read for, as bits: they name, are a class, hide, hide where true, hide by their style."""


def features_of(page: Page, tables: TokenTables) -> tuple[Singles, Tokens]:
    """Compute float32[m, len(FEATURE_NAMES)], the features of all blocks, to learn from them and to explain scores."""
    rows = np.empty((page.m, len(FEATURE_NAMES)), np.float32)
    found = core.block_features(page_arguments(page, tables), rows)
    return rows, Tokens(*map(np.frombuffer, found, (np.int32, np.uint16) * 2))


def page_arguments(page: Page, tables: TokenTables) -> tuple[object, ...]:
    """What the core's functions that compute features take: a page and log-odds."""
    attributes = page.attributes
    title = "".join([f"{word}\n" for word in dict.fromkeys(_WORD.findall(page.title.lower()))])
    uses = bytes(map(_USES.get, attributes.names, repeat(0)))
    return page.arrays, page.block_utf8, title, uses, tables.words, tables.names
