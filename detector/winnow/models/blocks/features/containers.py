"""The containers around a block: its ancestors, wrappers that add nothing skipped, and features of each level."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.models.blocks.features.measures import (
    CHARACTERS,
    COMMAS,
    GROUP,
    GROUP_NAMES,
    LINKED,
    SENTENCE_ENDS,
    WORDS,
    BlockMeasures,
)
from winnow.page.tags import tag_set

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.page.page import Page

    Floats = NDArray[np.float64]
    Indices = NDArray[np.int64]

LEVELS: Final = 6
"""Containers looked at, from the innermost outwards."""

_TAGGED_LEVELS: Final = 3
_TAG_GROUPS: Final = tuple(GROUP[name] for name in ("p", "div", "list", "li", "table"))
_COUNTED_TAGS: Final = {
    "links": tag_set("a"),
    "images": tag_set("img", "picture", "video", "svg"),
    "paragraphs": tag_set("p"),
    "headings": tag_set("h1", "h2", "h3", "h4", "h5", "h6"),
    "controls": tag_set("form", "input", "button", "select"),
}
_COUNTED: Final = np.stack(list(_COUNTED_TAGS.values())).astype(np.int32)
_PER_LEVEL: Final = (
    "log characters", "share of page", "link share", "sentence ends per word", "commas per word", "log blocks",
    "log words per block", "log alike siblings", "log children", "log depth",
    *(f"log {name}" for name in _COUNTED_TAGS),
)  # fmt: skip

NAMES: Final = (
    *(f"container {level}: {name}" for level in range(LEVELS) for name in _PER_LEVEL),
    *(f"container {level}: rank of block" for level in range(LEVELS)),
    *(f"container {level}: is {GROUP_NAMES[group]}" for level in range(_TAGGED_LEVELS) for group in _TAG_GROUPS),
)


def containers(page: Page) -> Indices:
    """int64[LEVELS, m], the containers of each block, innermost first.

    A container is the outermost of the elements that hold exactly the same blocks, so a stack of wrapper ``div``s is
    one container, and every next level holds more blocks than the one before; beyond the root, the root repeats.
    """
    held = page.block_end - page.block_begin
    parent = np.maximum(page.parent, 0)
    outermost = np.where(held[parent] == held, parent, np.arange(page.n))
    while True:
        further = outermost[outermost]
        if np.array_equal(further, outermost):
            break
        outermost = further
    above = outermost[parent[outermost]]
    levels = np.empty((LEVELS, page.m), np.int64)
    level = outermost[page.block_node]
    for number in range(LEVELS):
        levels[number] = level
        level = above[level]
    return levels


def container_features(measures: BlockMeasures, levels: Indices, alike: Floats) -> Floats:
    """float64[m, len(NAMES)].

    Args:
        measures: of the page.
        levels: int64[LEVELS, m] of :func:`containers`.
        alike: float64[n], number of siblings of the same tag and classes, the element included.
    """
    page = measures.page
    row_of = np.zeros(page.n, np.int64)
    row_of[levels] = 1
    chosen = np.flatnonzero(row_of)
    row_of[chosen] = np.arange(len(chosen))
    of_container = _of_containers(measures, chosen, alike)
    held = np.maximum(page.block_end - page.block_begin, 1)
    rank = (np.arange(page.m) - page.block_begin[levels]) / held[levels]
    is_group = measures.group[levels[:_TAGGED_LEVELS]][:, None, :] == np.array(_TAG_GROUPS)[None, :, None]
    per_level = of_container[row_of[levels.T]].reshape(page.m, LEVELS * len(_PER_LEVEL))
    return np.concatenate([per_level, rank.T, is_group.reshape(_TAGGED_LEVELS * len(_TAG_GROUPS), page.m).T], axis=1)


def _of_containers(measures: BlockMeasures, chosen: Indices, alike: Floats) -> Floats:
    """float64[k, len(_PER_LEVEL)], features of the k elements that are the container of some block."""
    page, total = measures.page, measures.total
    begin, end = chosen, page.end[chosen]
    held = (page.block_end - page.block_begin)[chosen].astype(np.float64)
    subtree = measures.subtree[chosen]
    characters, words = np.maximum(subtree[:, CHARACTERS], 1), np.maximum(subtree[:, WORDS], 1)
    features = np.empty((len(chosen), len(_PER_LEVEL)))
    features[:, 0] = subtree[:, CHARACTERS]
    features[:, 1] = subtree[:, CHARACTERS] / total[CHARACTERS]
    features[:, 2] = subtree[:, LINKED] / characters
    features[:, 3] = np.minimum(subtree[:, SENTENCE_ENDS] / words, 1)
    features[:, 4] = np.minimum(subtree[:, COMMAS] / words, 1)
    features[:, 5] = held
    features[:, 6] = subtree[:, WORDS] / np.maximum(held, 1)
    features[:, 7] = alike[chosen]
    features[:, 8] = np.bincount(page.parent[1:], minlength=page.n)[chosen]
    features[:, 9] = page.depth[chosen]
    sums = np.zeros((len(_COUNTED), page.n + 1), np.int32)
    np.cumsum(_COUNTED[:, page.tag], axis=1, out=sums[:, 1:])
    features[:, 10:] = (sums[:, end] - sums[:, begin]).T
    features[:, 0] = np.log1p(features[:, 0])
    features[:, 5:] = np.log1p(features[:, 5:])
    return features
