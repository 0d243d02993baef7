"""An lxml tree as flat arrays in preorder, each property of its nodes read in one sweep.

Elements open and close in one sequence of events, two for each node: node ``i`` opens at event ``2 * i - depth[i]`` and
closes at ``2 * end[i] - depth[i] - 1``. An element's text stands right behind its opening, any node's tail right behind
its closing. So the order of the text, what hides it and what separates it are running sums over the events.
"""

from __future__ import annotations

from itertools import compress
from operator import attrgetter
from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.memo import Memo
from winnow.page.ancestors import nearest
from winnow.page.attributes.table import AttributeTable
from winnow.page.flat_tree import FlatTree
from winnow.page.subtrees import prefix_sums
from winnow.page.tags import IS_BLOCK_LEVEL, IS_UNSEEN_TEXT, TAG_ID, UNKNOWN

if TYPE_CHECKING:
    from lxml import etree
    from numpy.typing import NDArray

    Indices = NDArray[np.int32]

_TAG: Final = attrgetter("tag")
_TEXT: Final = attrgetter("text")
_TAIL: Final = attrgetter("tail")
_NO_ELEMENT: Final = -1  # comments and processing instructions: only their tails count


def flatten(nodes: list[etree._Element]) -> FlatTree:
    """Flatten a tree in numpy, given all its nodes in document order; it is not changed."""
    tag = np.fromiter(map(_TAG_IDS.__getitem__, map(_TAG, nodes)), np.int16, len(nodes))
    is_element = tag != _NO_ELEMENT
    elements = list(compress(nodes, is_element.tolist()))
    parent, end, depth = _structure(nodes)

    before = prefix_sums(is_element).astype(np.int32)  # number of elements before each node: the index of an element
    above = np.where(parent < 0, np.int32(-1), before[parent])
    opens = 2 * np.arange(len(nodes), dtype=np.int32) - depth
    closes = 2 * end - depth - 1
    in_block = is_element & IS_BLOCK_LEVEL[tag]
    border = _running_sums(opens, closes, in_block | (above < 0), in_block)

    runs, kept = _runs(nodes, opens, closes, tag)
    inked = ~np.fromiter(map(str.isspace, runs), bool, len(runs))
    owner = np.empty(len(kept), np.int32)
    owner[opens], owner[closes] = before[:-1], above
    run_node = owner[kept]
    runs_before = prefix_sums(kept).astype(np.int32)
    run_begin, run_end = runs_before[opens[is_element]], runs_before[closes[is_element]]
    block_run_begin, block_run_end = _blocks(inked, border[kept])
    parent_of, tag_of = above[is_element], tag[is_element]
    container = nearest(parent_of, IS_BLOCK_LEVEL[tag_of] | (parent_of < 0))
    return FlatTree(
        root=nodes[0],
        attributes=AttributeTable.of(elements),
        tag=tag_of,
        parent=parent_of,
        end=before[end[is_element]],
        depth=depth[is_element],
        unknown_names={i: str(elements[i].tag) for i in np.flatnonzero(tag_of == UNKNOWN).tolist()},
        title=_title(elements, tag_of, parent_of),
        text="".join(runs),
        run_offset=prefix_sums(np.fromiter(map(len, runs), np.int64, len(runs))),
        inked=inked,
        run_node=run_node,
        run_begin=run_begin,
        run_end=run_end,
        block_node=container[run_node[block_run_begin]],
        block_run_begin=block_run_begin,
        block_run_end=block_run_end,
        block_begin=np.searchsorted(block_run_begin, run_begin).astype(np.int32),
        block_end=np.searchsorted(block_run_begin, run_end).astype(np.int32),
    )


def _title(elements: list[etree._Element], tag: NDArray[np.int16], parent: Indices) -> str:
    for index in np.flatnonzero(tag == TAG_ID["title"]).tolist():
        if parent[index] < 0 or tag[parent[index]] != TAG_ID["svg"]:
            return " ".join("".join(map(str, elements[index].itertext())).split())
    return ""


def _tag_id(name: object) -> int:
    """Tag id of a name; ``{http://www.w3.org/1999/xhtml}DIV`` is a ``div``."""
    if not isinstance(name, str):
        return _NO_ELEMENT
    return TAG_ID[name] if name in TAG_ID else TAG_ID.get(name.rpartition("}")[2].lower(), UNKNOWN)


_TAG_IDS: Final = Memo(_tag_id, 1_024)


def _structure(nodes: list[etree._Element]) -> tuple[Indices, Indices, Indices]:
    """Parent (-1 for the root), end of the subtree and depth of every node, int32[k] each, from numbers of children."""
    parents: list[int] = []
    ends = list(range(1, len(nodes) + 1))
    path: list[tuple[int, int]] = []  # open nodes around the current one, with the children they have still to come
    current, left = -1, 0
    for index, children in enumerate(map(len, nodes)):
        parents.append(current)
        left -= 1
        if children:
            path.append((current, left))
            current, left = index, children
        else:
            while left == 0:
                ends[current] = index + 1
                current, left = path.pop()
    end = np.array(ends, np.int32)
    closed = np.cumsum(np.bincount(end, minlength=len(nodes) + 1))[:-1]
    return np.array(parents, np.int32), end, (np.arange(len(nodes)) - closed).astype(np.int32)


def _runs(
    nodes: list[etree._Element], opens: Indices, closes: Indices, tag: NDArray[np.int16]
) -> tuple[list[str], NDArray[np.bool_]]:
    """Return the runs in document order, and bool[2 * k]: events with a run behind them."""
    texts = np.empty(2 * len(nodes), object)
    texts[opens] = list(map(_TEXT, nodes))
    texts[closes] = list(map(_TAIL, nodes))
    kept = texts.astype(bool)
    kept[opens[tag < 0]] = False  # what a comment says
    kept[closes[:1]] = False  # what follows the root
    unseen = (tag >= 0) & IS_UNSEEN_TEXT[tag]
    kept &= _running_sums(opens, closes, unseen, -unseen.astype(np.int32)) == 0
    return texts[kept].tolist(), kept


def _running_sums(
    opens: Indices, closes: Indices, at_open: NDArray[np.generic], at_close: NDArray[np.generic]
) -> Indices:
    """int32[2 * k], running totals over the events of what every node adds when it opens and when it closes."""
    change = np.empty(2 * len(opens), np.int32)
    change[opens], change[closes] = at_open, at_close
    return np.cumsum(change, dtype=np.int32)


def _blocks(inked: NDArray[np.bool_], border: Indices) -> tuple[Indices, Indices]:
    """Slices of runs with equal border number, from the first to the last run that is not blank."""
    runs = np.flatnonzero(inked)
    borders = border[runs]
    starts = np.ones(len(runs), bool)
    starts[1:] = borders[1:] != borders[:-1]
    ends = np.ones(len(runs), bool)
    ends[:-1] = starts[1:]
    return runs[starts].astype(np.int32), runs[ends].astype(np.int32) + np.int32(1)
