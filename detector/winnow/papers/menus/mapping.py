"""The exact top-down mapping (ETDM) between the trees of two pages, level by level and without recursion.

"Web Template Extraction Based on Hyperlink Analysis", definition 3.2 and function ETDM of Algorithm 2: the roots are
mapped when they are equal, and then each two equal children of mapped nodes. A node of the first tree belongs to the
result when it is mapped to any node. (Algorithm 2 maps a node to each of its equals, as here; a mapping in the sense of
definition 3.1 would pick one.) A text is mapped when an equal text belongs to an element that its element is mapped to.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.hashing import mix
from winnow.page.tree import subtree_sums, within
from winnow.papers.menus.equality import ByKey

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from winnow.papers.menus.equality import Comparison, Equality
    from winnow.papers.menus.profile import Profile

    Hashes = NDArray[np.uint64]
    Numbers = NDArray[np.int64]

_STEP: Final = np.uint64(0x9E3779B97F4A7C13)
_AT_ONCE: Final = 1 << 20  # pairs of elements compared in one step, to bound the memory


def template_of(
    key_page: Profile, pages: Sequence[Profile], equality: Equality, least_characters: int | None = None
) -> NDArray[np.bool_]:
    """The template of a key page with respect to other pages (definition 3.3): what is shared with each of them.

    Pages whose root is not equal to the key page's are left out, as in Algorithm 2.

    Args:
        key_page: the page whose template is wanted.
        pages: the other pages.
        equality: what makes two nodes equal.
        least_characters: see :func:`shared_units`.

    Returns:
        bool[n + m], elements first; nothing where no page is left.
    """
    root = np.zeros(1, np.int64)
    comparable = [page for page in pages if equality.between(key_page, page)(root, root)[0]]
    template = np.full(key_page.n + key_page.m, bool(comparable))
    for page in comparable:
        template &= shared_units(key_page, page, equality, least_characters)
    return template


def shared_units(
    one: Profile, other: Profile, equality: Equality, least_characters: int | None = None
) -> NDArray[np.bool_]:
    """bool[n + m], units of one page that are mapped to some of the other's, or that it has elsewhere.

    Args:
        one: the page whose units are asked for.
        other: the other page.
        equality: what makes two nodes equal.
        least_characters: of the text of units that count wherever they stand, with the elements around them; ``None``
            for those that are mapped from the root down alone, as in the paper.
    """
    mapped = mapped_units(one, other, equality)
    if least_characters is None:
        return mapped
    shared = mapped | _common_subtrees(one, other, least_characters)
    elements = shared[: one.n].copy()
    elements[one.block_node[shared[one.n :]]] = True
    return np.concatenate([subtree_sums(one, elements) > 0, shared[one.n :]])


def _common_subtrees(one: Profile, other: Profile, least_characters: int) -> NDArray[np.bool_]:
    """bool[n + m], units of one page whose markup and text the other page has, too, and all that is inside of them.

    Args:
        one: the page whose units are asked for.
        other: the other page; links are compared by what they lead to.
        least_characters: text that such a unit has at least, in characters.
    """
    chosen = np.isin(one.content, other.content) & (one.characters >= least_characters)
    inside = within(one, chosen[: one.n])
    return np.concatenate([inside, inside[one.block_node] | chosen[one.n :]])


def mapped_units(one: Profile, other: Profile, equality: Equality) -> NDArray[np.bool_]:
    """bool[n + m], the elements and blocks of one page that are mapped to some of the other's."""
    if isinstance(equality, ByKey):
        keys, other_keys = _path_keys(one, equality), _path_keys(other, equality)
        return np.concatenate([np.isin(mine, others) for mine, others in zip(keys, other_keys, strict=True)])
    nodes, others = mapped_pairs(one, other, equality)
    mapped = np.zeros(one.n, bool)
    mapped[nodes] = True
    return np.concatenate([mapped, _mapped_texts(one, other, nodes, others)])


def _path_keys(page: Profile, equality: ByKey) -> tuple[Hashes, Hashes]:
    """Hashes of the keys from the root down to each element, and to each block: equal where a chain of pairs exists."""
    keys = equality.keys(page)
    hashes = np.zeros(page.n, np.uint64)
    order = np.argsort(page.depth, kind="stable")
    borders = np.searchsorted(page.depth[order], np.arange(int(page.depth.max(initial=0)) + 2)).tolist()
    for begin, end in pairwise(borders):
        level = order[begin:end]
        above = hashes[page.parent[level]] * _STEP if begin else np.zeros(end - begin, np.uint64)
        hashes[level] = mix(above + keys[level])
    return hashes, mix(hashes[page.block_node] * _STEP + page.text)


def mapped_pairs(one: Profile, other: Profile, equality: Equality) -> tuple[Numbers, Numbers]:
    """All pairs of mapped elements, int64[k] of each page.

    Cost: a comparison for each pair of children of mapped elements; a list of a thousand items against another of as
    many takes a million.
    """
    equal = equality.between(one, other)
    root = np.zeros(1, np.int64)
    kept = equal(root, root)
    nodes, others = root[kept], root[kept]
    levels = [(nodes, others)]
    while len(nodes):
        nodes, others = _equal_children(one, nodes, other, others, equal)
        levels.append((nodes, others))
    return np.concatenate([pair[0] for pair in levels]), np.concatenate([pair[1] for pair in levels])


def _equal_children(
    one: Profile, nodes: Numbers, other: Profile, others: Numbers, equal: Comparison
) -> tuple[Numbers, Numbers]:
    width = other.children[others].astype(np.int64)
    number = one.children[nodes] * width
    group = np.cumsum(number) // _AT_ONCE
    found: list[tuple[Numbers, Numbers]] = []
    for begin, end in pairwise(np.searchsorted(group, np.append(np.unique(group), group[-1] + 1)).tolist()):
        each = np.repeat(np.arange(begin, end), number[begin:end])
        first = np.cumsum(number[begin:end]) - number[begin:end]
        row, column = np.divmod(np.arange(len(each)) - first[each - begin], width[each])
        left = one.child[one.child_begin[nodes[each]] + row].astype(np.int64)
        right = other.child[other.child_begin[others[each]] + column].astype(np.int64)
        kept = equal(left, right)
        found.append((left[kept], right[kept]))
    return np.concatenate([pair[0] for pair in found]), np.concatenate([pair[1] for pair in found])


def _mapped_texts(one: Profile, other: Profile, nodes: Numbers, others: Numbers) -> NDArray[np.bool_]:
    """bool[m], blocks of one page whose text a block has that belongs to an element mapped to theirs."""
    order = np.argsort(other.text, kind="stable")
    begin = np.searchsorted(other.text[order], one.text)
    number = np.searchsorted(other.text[order], one.text, side="right") - begin
    block = np.repeat(np.arange(one.m), number)
    partner = order[np.arange(len(block)) + np.repeat(begin - np.cumsum(number) + number, number)]
    wanted = one.block_node[block].astype(np.int64) * other.n + other.block_node[partner]
    mapped = np.zeros(one.m, bool)
    if len(wanted):  # few, and the mapped pairs can be millions: these are not to be sorted
        sought = np.unique(wanted)
        pairs = nodes * other.n + others
        there = np.zeros(len(sought), bool)
        place = np.minimum(np.searchsorted(sought, pairs), len(sought) - 1)
        there[place[sought[place] == pairs]] = True
        mapped[block[there[np.searchsorted(sought, wanted)]]] = True
    return mapped
