"""Features of the whole page: they tell an article from a shop's grid or a forum."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.models.blocks.features.measures import CHARACTERS, COMMAS, LINKED, SENTENCE_ENDS, WORDS, BlockMeasures
from winnow.models.blocks.features.position import long_blocks
from winnow.page.tags import TAG_ID, tag_set

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

COUNTED: Final = {
    "p": tag_set("p"),
    "a": tag_set("a"),
    "images": tag_set("img", "picture", "video", "svg"),
    "headings": tag_set("h1", "h2", "h3", "h4", "h5", "h6"),
    "controls": tag_set("form", "input", "button", "select"),
    "tables": tag_set("table"),
    "li": tag_set("li"),
    "pre": tag_set("pre"),
    "articles": tag_set("article"),
    "mains": tag_set("main"),
}
"""Look-up tables over tag ids: the elements that are counted."""

_TABLES: Final = np.stack(list(COUNTED.values())).astype(np.int64)
_HOLDERS: Final = ("article", "main", "noscript")

NAMES: Final = tuple(
    f"page: {name}"
    for name in (
        "log words", "log blocks", "log elements", "log longest block", "log alike siblings", "log long blocks",
        *(f"log {name}" for name in COUNTED),
        "link share", "sentence ends per word", "commas per word", "long text share", "words per block",
        *(f"share of text in the largest {name}" for name in _HOLDERS),
    )
)  # fmt: skip


def page_features(measures: BlockMeasures, alike: Floats) -> Floats:
    """float64[len(NAMES)]; ``alike``: float64[n], siblings of the same tag and classes."""
    page, total, words = measures.page, measures.total, measures.counts[WORDS]
    long = long_blocks(measures)
    tags = np.bincount(page.tag, minlength=_TABLES.shape[1])
    counts: list[float] = [words.sum(), page.m, page.n, words.max(initial=0), alike.max(initial=0), int(long.sum())]
    counts += (_TABLES @ tags).tolist()
    shares = [
        total[LINKED] / total[CHARACTERS],
        total[SENTENCE_ENDS] / total[WORDS],
        total[COMMAS] / total[WORDS],
        measures.counts[CHARACTERS, long].sum() / total[CHARACTERS],
        total[WORDS] / max(page.m, 1),
    ]
    shares += [
        measures.subtree[CHARACTERS, page.tag == TAG_ID[name]].max(initial=0) / total[CHARACTERS] for name in _HOLDERS
    ]
    return np.concatenate([np.log1p(counts), shares])
