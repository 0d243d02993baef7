"""A page as flat arrays: one pass over an lxml tree, and no per-node Python objects after it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Final

import numpy as np
from lxml import etree

from detector.parsing import parse_html
from detector.tags import BLOCK_LEVEL, TAG_ID, UNKNOWN, UNSEEN_TEXT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Indices = NDArray[np.int32]


class PageTooLarge(ValueError):
    """The page is above one of the caps of :class:`Limits`; ``reason`` is ``"bytes"``, ``"nodes"`` or ``"depth"``."""

    def __init__(self, reason: str, size: int, limit: int) -> None:
        self.reason = reason
        self.size = size
        self.limit = limit
        super().__init__(f"page has {size:,} {reason}, the limit is {limit:,}")


@dataclass(frozen=True, slots=True)
class Limits:
    """Caps above which a page is not worked on.

    Attributes:
        max_bytes: size of the HTML, in bytes (in characters where it is a string).
        max_nodes: elements and comments of the tree.
        max_depth: levels of the tree. libxml2 stops at 2,048 without a word and drops the rest of the document, so a
            tree of so many may be a torso.
    """

    max_bytes: int = 16_000_000
    max_nodes: int = 100_000
    max_depth: int = 2_047


DEFAULT_LIMITS: Final = Limits()


@dataclass(eq=False)
class Page:
    """The elements, text runs and text blocks of one page in document order.

    Three kinds of things, each in arrays of its own:

    * **elements** in preorder (``n`` of them, comments left out). Subtree ``i`` is the slice ``[i, end[i])``, so the sum
      of any quantity over a subtree is a difference of two prefix sums.
    * **text runs** (``r``): every non-empty stretch of text between two pieces of markup, white space included, each
      belonging to its element. The contents of ``script``, ``style`` and the like are not text.
    * **text blocks** (``m``): maximal stretches of runs that no border of a block-level element and no ``br`` cuts, blank
      ones left out. Mixed content (a paragraph and a share bar in one ``div``) falls into several blocks.

    *Units* are what gets a score: the ``n`` elements followed by the ``m`` blocks. In the tree of units a block is a leaf
    below its ``block_node``; see :attr:`unit_parent`.

    Attributes:
        url: address of the page, where known.
        elements: the lxml elements; they keep the whole tree alive, so a page must not outlive its processing.
        attributes: name-value pairs of each element.
        tag: int16[n], ids of :data:`detector.tags.TAG_NAMES`.
        parent: int32[n], -1 for the root.
        end: int32[n], end of the subtree's slice.
        depth: int32[n], 0 for the root.
        runs: str[r].
        run_node: int32[r], the element a run belongs to.
        run_begin, run_end: int32[n], slice of the runs inside each subtree.
        block_node: int32[m], nearest block-level element around each block.
        block_run_begin, block_run_end: int32[m], slice of the runs of each block.
        block_begin, block_end: int32[n], slice of the blocks inside each subtree.
    """

    url: str | None
    elements: list[etree._Element]
    attributes: list[list[tuple[str, str]]]
    tag: NDArray[np.int16]
    parent: Indices
    end: Indices
    depth: Indices
    runs: list[str]
    run_node: Indices
    run_begin: Indices
    run_end: Indices
    block_node: Indices
    block_run_begin: Indices
    block_run_end: Indices
    block_begin: Indices
    block_end: Indices

    @classmethod
    def parse(
        cls, html: str | bytes, url: str | None = None, *, encoding: str | None = None, limits: Limits = DEFAULT_LIMITS
    ) -> Page:
        """Parse HTML the way Scrapy does, and flatten it.

        Args:
            html: the document; bytes are decoded by BOM, ``encoding``, ``meta``, or what they look like.
            url: address of the page; links are in-site or not relative to it.
            encoding: charset of the HTTP header, where there was one.
            limits: caps on size.

        Raises:
            PageTooLarge: the page is above one of the caps.
        """
        if len(html) > limits.max_bytes:
            raise PageTooLarge("bytes", len(html), limits.max_bytes)
        return cls.from_tree(parse_html(html, encoding), url, limits=limits)

    @classmethod
    def from_tree(cls, root: etree._Element, url: str | None = None, *, limits: Limits = DEFAULT_LIMITS) -> Page:
        """Flatten an lxml tree, such as the ``response.selector.root`` that Scrapy already holds; it is not changed.

        Raises:
            PageTooLarge: the tree is above one of the caps.
        """
        nodes = list(root.iter())
        if len(nodes) > limits.max_nodes:
            raise PageTooLarge("nodes", len(nodes), limits.max_nodes)
        return _flatten(nodes, url, limits)

    @property
    def n(self) -> int:
        """Number of elements."""
        return len(self.elements)

    @property
    def m(self) -> int:
        """Number of text blocks."""
        return len(self.block_node)

    @cached_property
    def unit_parent(self) -> Indices:
        """int32[n + m], parent of each unit; always smaller than the unit's own index, -1 for the root."""
        return np.concatenate([self.parent, self.block_node])

    @cached_property
    def text(self) -> str:
        """All runs joined; run ``k`` is ``text[run_offset[k]:run_offset[k + 1]]``."""
        return "".join(self.runs)

    @cached_property
    def run_offset(self) -> NDArray[np.int64]:
        """int64[r + 1], where each run begins in :attr:`text`, in characters."""
        return np.fromiter(accumulate(map(len, self.runs), initial=0), np.int64, len(self.runs) + 1)

    @cached_property
    def title(self) -> str:
        """Text of the first ``title`` element outside an image, white space normalised; empty when there is none."""
        for index in np.flatnonzero(self.tag == TAG_ID["title"]):
            if self.tag[self.parent[index]] != TAG_ID["svg"]:
                return " ".join("".join(self.elements[index].itertext()).split())
        return ""

    def block_texts(self) -> list[str]:
        """Text of each block (``m`` strings), white space normalised."""
        runs = self.runs
        bounds = zip(self.block_run_begin.tolist(), self.block_run_end.tolist(), strict=True)
        return [" ".join("".join(runs[begin:end]).split()) for begin, end in bounds]

    def attribute(self, name: str) -> dict[int, str]:
        """Value of one attribute by element index, for the elements that carry it."""
        return {i: value for i, pairs in enumerate(self.attributes) for key, value in pairs if key == name}


def _flatten(nodes: list[etree._Element], url: str | None, limits: Limits) -> Page:  # noqa: PLR0915, C901
    """Walk the preorder list once, opening and closing elements with an explicit stack."""
    elements: list[etree._Element] = []
    tag: list[int] = []
    parent: list[int] = []
    end: list[int] = []
    depth: list[int] = []
    container: list[int] = []  # nearest block-level ancestor-or-self
    run_begin: list[int] = []
    run_end: list[int] = []
    runs: list[str] = []
    run_node: list[int] = []
    run_border: list[int] = []  # block-level borders passed before the run: equal numbers are one block

    stack: list[tuple[int, int, str, str | None]] = []  # open elements: index, children to come, name, tail
    border = unseen = 0
    current, children_left = -1, 1
    name: str
    for node in nodes:
        children_left -= 1
        raw_name = node.tag
        tail = node.tail
        if isinstance(raw_name, str):
            name = raw_name if raw_name in TAG_ID else _local_name(raw_name)
            stack.append((current, children_left, name, tail))
            index = len(elements)
            elements.append(node)
            tag.append(TAG_ID.get(name, UNKNOWN))
            parent.append(current)
            depth.append(len(stack) - 1)
            end.append(0)
            run_begin.append(len(runs))
            run_end.append(0)
            if name in BLOCK_LEVEL or current < 0:
                container.append(index)
                border += 1
            else:
                container.append(container[current])
            if name in UNSEEN_TEXT:
                unseen += 1
            text = node.text
            if text and not unseen:
                runs.append(text)
                run_node.append(index)
                run_border.append(border)
            current, children_left = index, len(node)
        elif tail and not unseen and current >= 0:  # a comment: only its tail is text
            runs.append(tail)
            run_node.append(current)
            run_border.append(border)
        while children_left == 0 and current >= 0:
            end[current] = len(elements)
            run_end[current] = len(runs)
            current, children_left, name, tail = stack.pop()
            if name in BLOCK_LEVEL:
                border += 1
            if name in UNSEEN_TEXT:
                unseen -= 1
            if tail and not unseen and current >= 0:
                runs.append(tail)
                run_node.append(current)
                run_border.append(border)

    deepest = max(depth, default=-1) + 1
    if deepest > limits.max_depth:
        raise PageTooLarge("depth", deepest, limits.max_depth)

    run_nodes = np.array(run_node, np.int32)
    block_run_begin, block_run_end = _blocks(runs, np.array(run_border, np.int64))
    begin, close = np.array(run_begin, np.int32), np.array(run_end, np.int32)
    return Page(
        url=url,
        elements=elements,
        attributes=[element.items() for element in elements],
        tag=np.array(tag, np.int16),
        parent=np.array(parent, np.int32),
        end=np.array(end, np.int32),
        depth=np.array(depth, np.int32),
        runs=runs,
        run_node=run_nodes,
        run_begin=begin,
        run_end=close,
        block_node=np.array(container, np.int32)[run_nodes[block_run_begin]],
        block_run_begin=block_run_begin,
        block_run_end=block_run_end,
        block_begin=np.searchsorted(block_run_begin, begin).astype(np.int32),
        block_end=np.searchsorted(block_run_begin, close).astype(np.int32),
    )


def _local_name(name: str) -> str:
    """``{http://www.w3.org/1999/xhtml}DIV`` -> ``div``."""
    return name.rpartition("}")[2].lower()


def _blocks(runs: list[str], border: NDArray[np.int64]) -> tuple[Indices, Indices]:
    """Slices of runs with equal border number, from the first to the last run that is not blank."""
    inked = np.flatnonzero(np.fromiter((not run.isspace() for run in runs), bool, len(runs)))
    borders = border[inked]
    starts = np.ones(len(inked), bool)
    starts[1:] = borders[1:] != borders[:-1]
    ends = np.ones(len(inked), bool)
    ends[:-1] = starts[1:]
    return inked[starts].astype(np.int32), inked[ends].astype(np.int32) + np.int32(1)
