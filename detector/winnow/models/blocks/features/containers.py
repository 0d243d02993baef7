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
    Rows = NDArray[np.float32]
    Indices = NDArray[np.int64]

LEVELS: Final = 6
"""Containers looked at, from the innermost outwards."""

_TAGGED_LEVELS: Final = 3
_TAG_GROUPS: Final = tuple(GROUP[name] for name in ("p", "div", "list", "li", "table"))
COUNTED_TAGS: Final = {
    "links": tag_set("a"),
    "images": tag_set("img", "picture", "video", "svg"),
    "paragraphs": tag_set("p"),
    "headings": tag_set("h1", "h2", "h3", "h4", "h5", "h6"),
    "controls": tag_set("form", "input", "button", "select"),
}
"""Look-up tables over tag ids: the elements that are counted in each container."""

_COUNTED: Final = np.stack(list(COUNTED_TAGS.values())).astype(np.int32)
_PER_LEVEL: Final = (
    "log characters", "share of page", "link share", "sentence ends per word", "commas per word", "log blocks",
    "log words per block", "log alike siblings", "log children", "log depth",
    *(f"log {name}" for name in COUNTED_TAGS),
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


def write(rows: Rows, measures: BlockMeasures, levels: Indices, alike: Floats) -> None:
    """Write float32[len(NAMES), m].

    Args:
        rows: where to.
        measures: of the page.
        levels: int64[LEVELS, m] of :func:`containers`.
        alike: float64[n], number of siblings of the same tag and classes, the element included.
    """
    page = measures.page
    place = np.zeros(page.n, np.int64)
    place[levels] = 1
    chosen = np.flatnonzero(place)
    place[chosen] = np.arange(len(chosen))
    of_container = _of_containers(measures, chosen, alike)
    per_level = rows[: LEVELS * len(_PER_LEVEL)].reshape(LEVELS, len(_PER_LEVEL), page.m)
    for level, to in zip(levels, per_level, strict=True):
        of_container.take(place[level], axis=1, out=to, mode="clip")
    held = np.maximum(page.block_end - page.block_begin, 1)
    behind = LEVELS * len(_PER_LEVEL)
    np.divide(np.arange(page.m) - page.block_begin[levels], held[levels], out=rows[behind : behind + LEVELS])
    is_group = rows[behind + LEVELS :].reshape(_TAGGED_LEVELS, len(_TAG_GROUPS), page.m)
    groups = measures.group[levels[:_TAGGED_LEVELS]][:, None]
    np.equal(groups, np.array(_TAG_GROUPS)[:, None], out=is_group, casting="unsafe")


def _of_containers(measures: BlockMeasures, chosen: Indices, alike: Floats) -> Rows:
    """float32[len(_PER_LEVEL), k], features of the k elements that are the container of some block."""
    page, total = measures.page, measures.total
    held = (page.block_end - page.block_begin)[chosen].astype(np.float64)
    subtree = measures.subtree.take(chosen, axis=1)
    characters, words = np.maximum(subtree[CHARACTERS], 1), np.maximum(subtree[WORDS], 1)
    rows = np.empty((len(_PER_LEVEL), len(chosen)), np.float32)
    np.log1p(subtree[CHARACTERS], out=rows[0])
    np.divide(subtree[CHARACTERS], total[CHARACTERS], out=rows[1])
    np.divide(subtree[LINKED], characters, out=rows[2])
    np.minimum(subtree[SENTENCE_ENDS] / words, 1, out=rows[3])
    np.minimum(subtree[COMMAS] / words, 1, out=rows[4])
    counted = np.empty((len(_PER_LEVEL) - 5, len(chosen)))
    counted[0] = held
    counted[1] = subtree[WORDS] / np.maximum(held, 1)
    counted[2] = alike[chosen]
    counted[3] = np.bincount(page.parent[1:], minlength=page.n)[chosen]
    counted[4] = page.depth[chosen]
    sums = np.zeros((len(_COUNTED), page.n + 1), np.int32)
    np.cumsum(_COUNTED[:, page.tag], axis=1, out=sums[:, 1:])
    np.subtract(sums.take(page.end[chosen], axis=1), sums.take(chosen, axis=1), out=counted[5:])
    np.log1p(counted, out=rows[5:])
    return rows
