"""The exact top-down mapping (ETDM) between the trees of two pages, and when two nodes count as equal.

"Web Template Extraction Based on Hyperlink Analysis", definitions 3.1 to 3.3, section 4.2 and Algorithm 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from tamis.fingerprints import attribute_tokens, node_fingerprints
from tamis.hashing import hash_text
from tamis.page.tree import as_mask, block_lengths, prefix_sums, subtree_sums, sums_over_blocks, tag_set, within
from tamis_papers.pages import tag_hashes, text_fingerprints

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tamis.arrays import Flags, Floats, Hashes, Integers
    from tamis.page.page import Page

    Sets = tuple[Hashes, Integers]
    IsEqual = Callable[[Integers, Integers], Flags]


WIDTH: Final = 8  # classes and other attributes of an element that are looked at


@dataclass(frozen=True, eq=False, slots=True)
class Profile:
    """What is compared of the nodes of a page.

    Attributes:
        page: the page without its tree.
        tag: uint64[n], hash of each element's tag; of its text, too, for ``title``, ``script`` and ``style``, since
            that is no text of the page.
        identifier: uint64[n], hash of the ``id`` or 0.
        classes, others: hashes of the words of ``class`` and of the other attributes that count, 8 of each at most: the
            different sets, uint64[u, w], filled up with 0, and int64[n], which of them each element has.
        children, position: int64[n], number of children; float64[n], position among siblings, 0 for the first to 1.
        child: int64[n - 1], elements by parent; :attr:`child_begin`, int64[n + 1], has each parent's slice.
        text, content: uint64[m] and uint64[n + m], hash of each block's text, and of each unit's markup and text.
        characters: int64[n + m], length of each unit's text.
    """

    page: Page
    tag: Hashes
    identifier: Hashes
    classes: Sets
    others: Sets
    children: Integers
    position: Floats
    child: Integers
    child_begin: Integers
    text: Hashes
    content: Hashes
    characters: Integers

    @classmethod
    def from_page(cls, page: Page) -> Self:
        """Create from a page; links are relative to ``page.url``."""
        child = np.argsort(page.parent[1:], kind="stable") + 1
        children = np.bincount(page.parent[1:], minlength=page.n)
        begin, above = prefix_sums(children), page.parent[child]
        position = np.zeros(page.n)
        position[child] = (np.arange(len(child)) - begin[above]) / np.maximum(1, children[above] - 1)
        identifier, others = _attributes(page)
        tag = tag_hashes(page)
        for index in np.flatnonzero(tag_set("title", "script", "style")[page.tag]).tolist():
            tag[index] ^= np.uint64(hash_text(" ".join(page.raw_text(index).split())))
        content, text = node_fingerprints(page), text_fingerprints(page)
        return cls(
            page=page,
            tag=tag,
            identifier=identifier,
            classes=_distinct(_classes(page)),
            others=_distinct(others),
            children=children,
            position=position,
            child=child,
            child_begin=begin,
            text=text[page.n :],
            content=content,
            characters=np.concatenate([sums_over_blocks(page, block_lengths(page)), block_lengths(page)]),
        )


def _attributes(page: Page) -> tuple[Hashes, Hashes]:
    """Hashes of the ``id``, and of each of the attributes but ``id`` and ``class``, see :mod:`tamis.fingerprints`."""
    table = page.attributes
    tokens = attribute_tokens(page)
    is_id, is_class = np.zeros((2, len(tokens)), bool)
    is_id[list(table.first_index_by_value("id").values())] = True
    is_class[list(table.first_index_by_value("class").values())] = True
    element = np.arange(page.n).repeat(np.diff(table.begin))
    identifier = np.zeros(page.n, np.uint64)
    identified = is_id[table.first]
    identifier[element[identified]] = tokens[table.first[identified]]
    rest = np.flatnonzero((~(is_id | is_class) & (tokens != 0))[table.first])
    node, token = element[rest], tokens[table.first[rest]]
    others = np.zeros((page.n, WIDTH), np.uint64)
    column = np.arange(len(rest)) - np.searchsorted(node, node)
    kept = column < WIDTH
    others[node[kept], column[kept]] = token[kept]
    return identifier, others


def _classes(page: Page) -> Hashes:
    classes = np.zeros((page.n, WIDTH), np.uint64)
    for index, value in page.attribute("class").items():
        words = _words(value)
        classes[index, : len(words)] = words
    return classes


@lru_cache(maxsize=8_192)
def _words(value: str) -> list[int]:
    return [hash_text(word) for word in list(dict.fromkeys(value.split()))[:WIDTH]]


def _distinct(rows: Hashes) -> Sets:
    different, index = np.unique(rows, axis=0, return_inverse=True)
    return different[:, different.any(axis=0)], index


# When two nodes of two pages are taken as equal: the open parameter of the exact top-down mapping (definition 3.2).

THRESHOLD: Final = 0.5


@dataclass(frozen=True)
class Equality:
    """When elements of two pages are equal: those of one tag of which enough is alike.

    That is a weighted mean of up to five likenesses, 0 to 1, from the threshold on. The paper names what is weighted,
    not how much; weights and threshold are ours. What neither element has does not count. Likeness of ids is 1 or 0, of
    classes and of other attributes their Jaccard coefficient, of numbers of children the lesser over the greater, of
    positions among the siblings (0 first, 1 last) 1 minus their distance. ``html``, ``head`` and ``body`` are always
    equal to their likes.

    Attributes:
        threshold: least mean.
        least_characters: units with so much text are equal to the very same ones wherever they stand; ``None`` for
            those alone that are mapped from the root down, as in the paper.
    """

    threshold: float = THRESHOLD
    least_characters: int | None = None

    def between(self, one: Profile, other: Profile) -> IsEqual:
        """Return what compares elements of two pages: int64[k] numbers of each, bool[k] whether they are equal."""
        likeness = _likeness(one, other)

        def is_equal(nodes: Integers, others: Integers) -> Flags:
            equal: Flags = one.tag[nodes] == other.tag[others]
            where = np.flatnonzero(equal & ~tag_set("html", "head", "body")[one.page.tag[nodes]])
            equal[where] = likeness(nodes[where], others[where]) >= self.threshold
            return equal

        return is_equal


def _likeness(one: Profile, other: Profile) -> Callable[[Integers, Integers], Floats]:
    """Return what gives float64[k] weighted means of the likenesses of k pairs of elements, whatever their tags."""
    classes, attributes = _jaccard(one.classes, other.classes), _jaccard(one.others, other.others)

    def likeness(nodes: Integers, others: Integers) -> Floats:
        near = 1 - np.abs(one.position[nodes] - other.position[others])
        total, weight = 0.5 * near, np.full(len(nodes), 0.5)
        first, second = one.identifier[nodes], other.identifier[others]
        of_classes, of_others = classes(nodes, others), attributes(nodes, others)
        few, many = (f(one.children[nodes], other.children[others]) for f in (np.minimum, np.maximum))
        for own, alike, counts in (  # weights, likenesses, and where they count
            (1.0, (first == second).astype(np.float64), (first | second) != 0),
            (1.0, of_classes, of_classes >= 0),
            (1.0, of_others, of_others >= 0),
            (0.5, few / np.maximum(1, many), many > 0),
        ):
            np.add(total, own * alike, out=total, where=counts)
            np.add(weight, own, out=weight, where=counts)
        return np.asarray(total / weight)

    return likeness


def _jaccard(one: Sets, other: Sets) -> Callable[[Integers, Integers], Floats]:
    """Return what gives float64[k] Jaccard coefficients of the sets of k pairs of elements, -1 where both are empty."""
    (rows, index), (other_rows, other_index) = one, other
    shared = np.zeros((len(rows), len(other_rows)), np.int64)
    for mine in rows.T:
        for its in other_rows.T:
            shared += (mine[:, None] == its) & (mine != 0)[:, None]
    union = (rows != 0).sum(axis=1)[:, None] + (other_rows != 0).sum(axis=1) - shared
    coefficient = np.where(union > 0, shared / np.maximum(1, union), -1.0)
    return lambda nodes, others: coefficient[index[nodes], other_index[others]]


# The mapping, level by level and without recursion: definition 3.2 and function ETDM of Algorithm 2. The roots are
# mapped when they are equal, and then each two equal children of mapped nodes. A node of the first tree belongs to the
# result when it is mapped to any node. (Algorithm 2 maps a node to each of its equals, as here; a mapping in the sense
# of definition 3.1 would pick one.) A text is mapped when an equal text belongs to an element that its element is
# mapped to.

_MAX_PAIRS_AT_ONCE: Final = 1 << 20  # pairs of elements compared in one step, to bound the memory


def template_of(key_page: Profile, pages: Sequence[Profile], equality: Equality) -> Flags:
    """bool[n + m], template of a key page (definition 3.3): what it shares with each of other pages; none without."""
    template = np.full(len(key_page.content), bool(pages))
    for page in pages:
        template &= shared_units(key_page, page, equality)
    return template


def shared_units(one: Profile, other: Profile, equality: Equality) -> Flags:
    """bool[n + m], units of one page that are mapped to some of the other's, or that it has elsewhere.

    What counts wherever it stands counts with the elements around it.
    """
    nodes, others = mapped_pairs(one, other, equality)
    shared = np.concatenate([as_mask(one.page, nodes), _mapped_texts(one, other, nodes, others)])
    if equality.least_characters is None:
        return shared
    page = one.page
    found = np.isin(one.content, other.content) & (one.characters >= equality.least_characters)
    inside = within(page, found[: page.n])
    shared |= found | np.concatenate([inside, inside[page.block_node]])
    elements = shared[: page.n].copy()
    elements[page.block_node[shared[page.n :]]] = True
    return np.concatenate([subtree_sums(page, elements) > 0, shared[page.n :]])


def mapped_pairs(one: Profile, other: Profile, equality: Equality) -> tuple[Integers, Integers]:
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
    one: Profile, nodes: Integers, other: Profile, others: Integers, equal: IsEqual
) -> tuple[Integers, Integers]:
    width = other.children[others]
    number = one.children[nodes] * width
    group = np.cumsum(number) // _MAX_PAIRS_AT_ONCE
    found: list[tuple[Integers, Integers]] = []
    for begin, end in pairwise(np.searchsorted(group, np.append(np.unique(group), group[-1] + 1)).tolist()):
        each = np.repeat(np.arange(begin, end), number[begin:end])
        first = np.cumsum(number[begin:end]) - number[begin:end]
        row, column = np.divmod(np.arange(len(each)) - first[each - begin], width[each])
        left = one.child[one.child_begin[nodes[each]] + row]
        right = other.child[other.child_begin[others[each]] + column]
        kept = equal(left, right)
        found.append((left[kept], right[kept]))
    return np.concatenate([pair[0] for pair in found]), np.concatenate([pair[1] for pair in found])


def _mapped_texts(one: Profile, other: Profile, nodes: Integers, others: Integers) -> Flags:
    """bool[m], blocks of one page with the text of a block whose element is mapped to theirs."""
    order = np.argsort(other.text, kind="stable")
    begin = np.searchsorted(other.text[order], one.text)
    number = np.searchsorted(other.text[order], one.text, side="right") - begin
    block = np.repeat(np.arange(one.page.m), number)
    partner = order[np.arange(len(block)) + np.repeat(begin - np.cumsum(number) + number, number)]
    wanted = one.page.block_node[block].astype(np.int64) * other.page.n + other.page.block_node[partner]
    mapped = np.zeros(one.page.m, bool)
    if len(wanted):
        distinct, index_of = np.unique(wanted, return_inverse=True)
        pairs = nodes * other.page.n + others  # they can be millions, and are not to be sorted
        index = np.searchsorted(distinct, pairs, side="right") - 1
        is_mapped = np.zeros(len(distinct), bool)
        is_mapped[index[distinct[index] == pairs]] = True
        mapped[block[is_mapped[index_of]]] = True
    return mapped
