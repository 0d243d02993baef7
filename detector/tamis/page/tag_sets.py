"""The sets of tags that the compiled core knows, as bits of one table; ``core.h`` has the same order."""

from __future__ import annotations

from typing import Final

import numpy as np

from tamis.core import core
from tamis.page.tree import BLOCK_LEVEL, LISTS, TAG_NAMES, UNSEEN_TEXT, tag_set

MEDIA: Final = (
    "img", "picture", "svg", "video", "audio", "canvas", "iframe", "object", "embed", "map",
    "form", "input", "button", "select", "textarea",
)  # fmt: skip
"""What is counted without text."""

IGNORED: Final = ("head", "script", "style", "template", "link", "meta", "base", "title")
"""Elements that the fingerprints of the elements around them ignore."""

COUNTED_IN_CONTAINERS: Final[dict[str, tuple[str, ...]]] = {
    "links": ("a",),
    "images": ("img", "picture", "video", "svg"),
    "paragraphs": ("p",),
    "headings": ("h1", "h2", "h3", "h4", "h5", "h6"),
    "controls": ("form", "input", "button", "select"),
}
"""Elements that are counted in each container of a text block, for its features."""

_OF_TREES: Final = (
    tuple(BLOCK_LEVEL),
    tuple(UNSEEN_TEXT),
    ("script", "style", "title"),  # whose text is kept
    ("head",),
    ("title", "meta", "link", "base", "script", "style", "noscript", "template", "noframes"),  # stay in it
)
_OF_COUNTS: Final = (MEDIA, IGNORED, ("html", "body"))
_OF_MAIN_CONTENT: Final = (("h1",), ("pre",))
_OF_TABLES: Final = (  # tables.c has the same order
    *(("td", "th"), ("table",), ("tr",), ("pre",), ("th", "thead", "caption")),
    (*LISTS[:3], "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "pre", "form", "hr", "article", "section", "nav"),
)
_OF_FEATURES: Final = (  # block_features.h has the same order
    *COUNTED_IN_CONTAINERS.values(),
    *(("table",), ("li",), ("pre",), ("article",), ("main",), ("noscript",), ("b", "strong", "em", "i")),
)
_SETS: Final = (*_OF_TREES, *_OF_COUNTS, *_OF_MAIN_CONTENT, *_OF_TABLES, *_OF_FEATURES)

_bits: Final = np.zeros(len(TAG_NAMES), np.uint32)
for _bit, _names in enumerate(_SETS):
    _bits[tag_set(*_names)] |= np.uint32(1 << _bit)
core.set_table("tag_sets", _bits)
