"""The elements, text runs and text blocks of a page in flat arrays."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, pairwise
from typing import TYPE_CHECKING

import numpy as np
from lxml import etree

from winnow.page.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from winnow.page.attributes.table import AttributeTable

    Indices = NDArray[np.int32]


@dataclass(eq=False)
class FlatTree(Tree):
    """The elements, text runs and text blocks of a tree in document order.

    Three kinds of things, each in arrays of its own:

    * **elements** in preorder (``n`` of them, comments left out). Subtree ``i`` is the slice ``[i, end[i])``, so the
      sum of any quantity over a subtree is a difference of two prefix sums.
    * **text runs** (``r``): every non-empty stretch of text between two pieces of markup, white space included, each
      belonging to its element. The contents of ``script``, ``style`` and the like are not text.
    * **text blocks** (``m``): maximal stretches of runs that no border of a block-level element and no ``br`` cuts,
      blank ones left out. Mixed content (a paragraph and a share bar in one ``div``) falls into several blocks.

    Attributes:
        root: the tree's root; it keeps the whole tree alive, so a page must not outlive its processing.
        attributes: name-value pairs of each element.
        tag: int16[n], ids of :data:`winnow.page.tags.TAG_NAMES`.
        unknown_names: names by element, of those that have no id.
        title: text of the first ``title`` element outside an image, white space normalised; empty when there is none.
        text: all runs joined; run ``k`` is ``text[run_offset[k]:run_offset[k + 1]]``.
        run_offset: int64[r + 1], where each run begins, in characters.
        inked: bool[r], the runs that are not blank.
        run_node: int32[r], the element a run belongs to.
        run_begin, run_end: int32[n], slice of the runs inside each subtree.
        block_node: int32[m], nearest block-level element around each block.
        block_run_begin, block_run_end: int32[m], slice of the runs of each block.
        block_begin, block_end: int32[n], slice of the blocks inside each subtree.
    """

    root: etree._Element
    attributes: AttributeTable
    tag: NDArray[np.int16]
    unknown_names: dict[int, str]
    title: str
    text: str
    run_offset: NDArray[np.int64]
    inked: NDArray[np.bool_]
    run_node: Indices
    run_begin: Indices
    run_end: Indices
    block_node: Indices
    block_run_begin: Indices
    block_run_end: Indices
    block_begin: Indices
    block_end: Indices

    @property
    def m(self) -> int:
        """Number of text blocks."""
        return len(self.block_node)

    @property
    def r(self) -> int:
        """Number of text runs."""
        return len(self.run_node)

    @property
    def arrays(self) -> tuple[NDArray[np.generic], ...]:
        """The arrays in the order in which the compiled core takes them."""
        return (
            self.tag, self.parent, self.end, self.depth, self.run_begin, self.run_end, self.block_begin, self.block_end,
            self.run_node, self.block_node, self.block_run_begin, self.block_run_end,
        )  # fmt: skip

    @cached_property
    def elements(self) -> list[etree._Element]:
        """The n lxml elements, made when first asked for."""
        with no_garbage_collection():
            return list(self.root.iter(etree.Element))

    def element(self, index: int) -> etree._Element:
        """One of the n lxml elements, reached from the root: :attr:`elements` makes all and walks the whole tree."""
        steps: list[int] = []
        while (parent := int(self.parent[index])) >= 0:
            steps.append(int(np.count_nonzero(self.parent[parent + 1 : index] == parent)))
            index = parent
        found = self.root
        for step in reversed(steps):
            found = next(islice(found.iterchildren(etree.Element), step, None))
        return found

    @cached_property
    def runs(self) -> list[str]:
        """The r text runs."""
        text = self.text
        return [text[begin:end] for begin, end in pairwise(self.run_offset.tolist())]

    @cached_property
    def code_points(self) -> NDArray[np.uint32]:
        """uint32, Unicode code point of each character of :attr:`text`."""
        return np.frombuffer(self.text.encode("utf-32-le", "surrogatepass"), "<u4").astype(np.uint32, copy=False)


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """Keep the collector from looking again and again through objects that are being made and are no garbage yet."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
