"""What mapping needs to know of a page, in arrays, so that its tree need not be kept."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from winnow.fingerprints import LinkTargets, attribute_tokens, node_fingerprints, text_fingerprints
from winnow.hashing import hash_text, mix
from winnow.page.tags import TAG_ID, TAG_NAMES, UNKNOWN, tag_set
from winnow.page.tree import prefix_sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.page.page import Page

    Hashes = NDArray[np.uint64]
    Indices = NDArray[np.int32]

WIDTH: Final = 8  # classes and other attributes of an element that are looked at
_TAG_TOKEN: Final = np.array([hash_text(f"<{name}>") for name in TAG_NAMES], np.uint64)
_WITH_TEXT: Final = tag_set("title", "script", "style")
_FRAME: Final = tag_set("html", "head", "body")


@dataclass(frozen=True, eq=False, slots=True)
class Sets:
    """A small set of hashes for each element; equal sets are kept once, since most elements share theirs.

    Attributes:
        index: int64[n], row of :attr:`rows` that is an element's set.
        rows: uint64[u, w], the different sets, filled up with 0.
    """

    index: NDArray[np.int64]
    rows: Hashes

    @classmethod
    def of(cls, rows: Hashes) -> Self:
        """Make the sets of rows, uint64[n, k], each without repetition, its zeros last."""
        _, first, index = np.unique(mix(rows).sum(axis=1, dtype=np.uint64), return_index=True, return_inverse=True)
        different = rows[first]
        return cls(index.astype(np.int64), different[:, : max(1, int((different != 0).sum(axis=1).max(initial=0)))])


@dataclass(frozen=True, eq=False, slots=True)
class Profile:
    """The nodes of a page as far as they are compared.

    Attributes:
        parent: int32[n], -1 for the root.
        depth: int32[n], 0 for the root.
        tag: uint64[n], hash of each element's tag; of its text, too, for ``title``, ``script`` and ``style``, since
            that is no text of the page.
        frame: bool[n], ``html``, ``head`` and ``body``, of which a page has one each. Their attributes name the page or
            its kind more often than not, and are taken as none.
        attributes: uint64[n], hash of each element's attributes see :mod:`winnow.fingerprints`.
        identifier: uint64[n], hash of the normalised ``id``, 0 for none.
        classes: hashes of the words of ``class``, at most 8.
        others: hashes of the other attributes that count, at most 8.
        children: int32[n], number of child elements.
        position: float32[n], place among the siblings, 0 for the first to 1 for the last.
        child: int32[n - 1], elements by parent; :attr:`child_begin`, int64[n + 1], has each parent's slice.
        block_node: int32[m], element of each block of text.
        text: uint64[m], hash of each block's text.
        content: uint64[n + m], hash of each unit's markup and text.
        characters: int64[n + m], length of each unit's text.
        end: int32[n], the element behind the last one of each subtree.
    """

    parent: Indices
    depth: Indices
    tag: Hashes
    frame: NDArray[np.bool_]
    attributes: Hashes
    identifier: Hashes
    classes: Sets
    others: Sets
    children: Indices
    position: NDArray[np.float32]
    child: Indices
    child_begin: NDArray[np.int64]
    block_node: Indices
    text: Hashes
    content: Hashes
    characters: NDArray[np.int64]
    end: Indices

    @classmethod
    def of(cls, page: Page) -> Self:
        """Take from a page what is compared; links are relative to ``page.url``."""
        child = (np.argsort(page.parent[1:], kind="stable") + 1).astype(np.int32)
        children = np.bincount(page.parent[1:], minlength=page.n)
        begin = prefix_sums(children)
        place = np.zeros(page.n)
        place[child] = np.arange(len(child)) - begin[page.parent[child]]
        siblings = np.ones(page.n, np.int64)
        siblings[1:] = children[page.parent[1:]]
        frame = _FRAME[page.tag]
        attributes, identifier, others = _attributes(page)
        attributes[frame] = 0
        content, text = node_fingerprints(page), text_fingerprints(page)
        of_block = np.fromiter(map(len, page.block_texts()), np.int64, page.m)
        before = prefix_sums(of_block)
        return cls(
            parent=page.parent,
            depth=page.depth,
            tag=_tags(page),
            frame=frame,
            attributes=attributes,
            identifier=identifier,
            classes=Sets.of(_classes(page)),
            others=Sets.of(others),
            children=children.astype(np.int32),
            position=(place / np.maximum(1, siblings - 1)).astype(np.float32),
            child=child,
            child_begin=begin,
            block_node=page.block_node,
            text=text[page.n :],
            content=content,
            characters=np.concatenate([before[page.block_end] - before[page.block_begin], of_block]),
            end=page.end,
        )

    @property
    def n(self) -> int:
        """Number of elements."""
        return len(self.parent)

    @property
    def m(self) -> int:
        """Number of blocks."""
        return len(self.block_node)


def _tags(page: Page) -> Hashes:
    tokens = _TAG_TOKEN[page.tag]
    for index in np.flatnonzero(page.tag == UNKNOWN).tolist():
        tokens[index] ^= np.uint64(hash_text(page.elements[index].tag))
    for index in np.flatnonzero(_WITH_TEXT[page.tag]).tolist():
        tokens[index] ^= np.uint64(hash_text(" ".join((page.elements[index].text or "").split())))
    return tokens


def _attributes(page: Page) -> tuple[Hashes, Hashes, Hashes]:
    """Hashes of all attributes, of the ``id``, and of each of the others."""
    base = next(
        (dict(page.attributes[i]).get("href") for i in np.flatnonzero(page.tag == TAG_ID["base"]).tolist()), None
    )
    table = page.attributes
    tokens, _ = attribute_tokens(page, LinkTargets(page.url, base))
    is_id, is_class = np.zeros((2, len(tokens)), bool)
    is_id[list(table.named("id").values())] = True
    is_class[list(table.named("class").values())] = True
    identifier = np.zeros(page.n, np.uint64)
    identified = is_id[table.first]
    identifier[table.element[identified]] = tokens[table.first[identified]]
    rest = np.flatnonzero((~(is_id | is_class) & (tokens != 0))[table.first])
    node, token = table.element[rest], tokens[table.first[rest]]
    others = np.zeros((page.n, WIDTH), np.uint64)
    place = np.arange(len(rest)) - np.searchsorted(node, node)
    kept = place < WIDTH
    others[node[kept], place[kept]] = token[kept]
    return mix(table.sums(tokens)), identifier, others


def _classes(page: Page) -> Hashes:
    classes = np.zeros((page.n, WIDTH), np.uint64)
    for index, pairs in enumerate(page.attributes):
        for name, value in pairs:
            if name == "class":
                words = _words(value)
                classes[index, : len(words)] = words
    return classes


@lru_cache(maxsize=8_192)
def _words(value: str) -> list[int]:
    return [hash_text(word) for word in list(dict.fromkeys(value.split()))[:WIDTH]]
