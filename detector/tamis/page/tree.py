"""The tree of a page: the names of its elements, and sums and look-ups over it.

A subtree is a slice, so its sum is a difference of prefix sums.
"""

from __future__ import annotations

from functools import cache, wraps
from typing import TYPE_CHECKING, Any, Final, TypeVar, TypeVarTuple

import numpy as np

from tamis.core import core

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from tamis.arrays import Flags, Indices, Integers
    from tamis.page.page import Page


TAG_NAMES: Final[tuple[str, ...]] = (
    "",
    *"""
    html head body title meta link base style script noscript template
    div p span a img picture source figure figcaption
    h1 h2 h3 h4 h5 h6 hgroup header footer nav main article section aside address search
    ul ol li dl dt dd menu dir
    table caption colgroup col thead tbody tfoot tr td th
    form fieldset legend label input button select option optgroup textarea datalist output progress meter
    br hr wbr pre code kbd samp var blockquote q cite abbr dfn time data mark small sub sup
    b strong i em u s del ins strike big tt font center
    details summary dialog iframe frame frameset noframes object embed param video audio track canvas map area
    svg path g use symbol defs math ruby rt rp bdi bdo slot nobr marquee
""".split(),
)
"""Tag name by tag id; id 0 stands for every name outside the vocabulary."""

TAG_ID: Final[dict[str, int]] = {name: number for number, name in enumerate(TAG_NAMES) if name}
"""Tag id by tag name."""

ALIASES: Final = {"xmp": "pre", "listing": "pre", "plaintext": "pre", "amp-img": "img"}
"""Tag names that are treated as another tag."""


@cache
def tag_set(*names: str) -> Flags:
    """Return a look-up table over tag ids that is true for the given names: ``tag_set("p", "div")[page.tag]``."""
    table = np.zeros(len(TAG_NAMES), dtype=bool)
    table[[TAG_ID[name] for name in names]] = True
    table.flags.writeable = False
    return table


BLOCK_LEVEL: Final = frozenset(
    """
    html body head title div p figure figcaption h1 h2 h3 h4 h5 h6 hgroup header footer nav main article section aside
    address search ul ol li dl dt dd menu dir table caption colgroup thead tbody tfoot tr td th form fieldset legend
    select option optgroup textarea hr br pre blockquote center details summary dialog iframe frame frameset noframes
    noscript template
    """.split()
)
"""Elements that end a text block where they begin and end; ``br`` too, since old pages separate paragraphs by it."""

IS_BLOCK_LEVEL: Final = tag_set(*BLOCK_LEVEL)
"""Look-up table over tag ids: the elements of :data:`BLOCK_LEVEL`."""

UNSEEN_TEXT: Final = frozenset(
    "script style head template iframe object svg math datalist select textarea canvas noframes".split()
)
"""Elements whose text is never shown as text of the page."""

IS_UNSEEN_TEXT: Final = tag_set(*UNSEEN_TEXT)
"""Look-up table over tag ids: the elements of :data:`UNSEEN_TEXT`."""

LISTS: Final = ("ul", "ol", "dl", "menu", "dir")
"""Elements that are lists."""


Result = TypeVar("Result")
Others = TypeVarTuple("Others")
Number = TypeVar("Number", bound=np.number[Any])


def cached_on_page(function: Callable[[Page, *Others], Result]) -> Callable[[Page, *Others], Result]:
    """Cache the results of a function on the page itself, by its other arguments; its arrays become read-only."""
    name = f"{function.__module__}.{function.__qualname__}"

    @wraps(function)
    def cached(page: Page, *others: *Others) -> Result:
        cache: dict[Any, Result] = page.__dict__
        key = (name, *others) if others else name  # a string is found faster than a tuple
        if key in cache:
            return cache[key]
        result = cache[key] = function(page, *others)
        for each in result if isinstance(result, tuple) else (result,):
            if isinstance(each, np.ndarray):
                each.setflags(write=False)  # faster than by its flags
        return result

    return cached


def nearest(parent: Indices, chosen: Flags) -> Indices:
    """Nearest chosen ancestor-or-self of every node.

    Args:
        parent: int32[k], -1 for a root.
        chosen: bool[k].

    Returns:
        int32[k], -1 where neither the node nor an ancestor is chosen.

    >>> nearest(np.array([-1, 0, 1, 0], np.int32), np.array([False, True, False, False])).tolist()
    [-1, 1, 1, -1]
    """
    ancestor: Indices = core.chosen_ancestors(parent.copy(), chosen, False)
    return ancestor


def outermost(parent: Indices, chosen: Flags) -> Indices:
    """int32[k], the chosen ancestor-or-self nearest to the root, -1 where none is chosen."""
    ancestor: Indices = core.chosen_ancestors(parent.copy(), chosen, True)
    return ancestor


def _as_added(values: NDArray[np.generic]) -> NDArray[np.generic]:
    """Integers or booleans of a type that the core adds up: bool, int32 or int64."""
    return values if values.dtype.char in "?il" else values.astype(np.int64)


def prefix_sums(values: NDArray[np.generic]) -> Integers:
    """int64[k + 1] running totals of k integers or booleans, 0 first: a slice's sum is ``p[end] - p[begin]``.

    >>> prefix_sums(np.array([3, 1, 4])).tolist()
    [0, 3, 4, 8]
    """
    sums: Integers = core.prefix_sums(_as_added(values), np.empty(len(values) + 1, np.int64))
    return sums


def slice_sums(values: NDArray[np.generic], begin: NDArray[np.integer[Any]], end: NDArray[np.integer[Any]]) -> Integers:
    """int64[k], sum over each of k slices ``[begin, end)`` of integers or booleans."""
    begin = begin.astype(np.int32, copy=False)
    sums: Integers = core.slice_sums(_as_added(values), begin, end, np.empty(len(begin), np.int64))
    return sums


def subtree_sums(page: Page, values: NDArray[np.generic]) -> Integers:
    """int64[n], sum over each element's subtree, itself included, of one integer or boolean per element."""
    return slice_sums(values, np.arange(page.n, dtype=np.int32), page.end)


def within(page: Page, chosen: Flags) -> Flags:
    """bool[n], whether each element is chosen or has a chosen ancestor."""
    inside: Flags = core.mark_subtrees(page.arrays, chosen.copy())
    return inside


def path_sums(page: Page, values: NDArray[Number]) -> NDArray[Number]:
    """[n], sum over the path from the root to each element, both included, of one number per element.

    The dtype is that of the values; unsigned integers wrap around, as hashes do.
    """
    change = np.zeros(len(page.end) + 1, values.dtype)
    change[:-1] = values
    np.subtract.at(change, page.end, values)
    sums: NDArray[Number] = np.cumsum(change[:-1])
    return sums


def runs_of_blocks(page: Page, blocks: Flags) -> Flags:
    """bool[r], whether each run belongs to one of the given blocks (bool[m])."""
    inside: Flags = core.mark_runs(page.arrays, blocks, np.zeros(page.r, bool))
    return inside


def sums_over_runs(page: Page, values: NDArray[np.generic]) -> Integers:
    """int64[n], sum over each subtree of one integer or boolean per run."""
    return slice_sums(values, page.run_begin, page.run_end)


def sums_over_blocks(page: Page, values: NDArray[np.generic]) -> Integers:
    """int64[n], sum over each subtree of one integer or boolean per block."""
    return slice_sums(values, page.block_begin, page.block_end)


def sums_in_blocks(page: Page, values: NDArray[np.generic]) -> Integers:
    """int64[m], sum over each block of one integer or boolean per run."""
    return slice_sums(values, page.block_run_begin, page.block_run_end)


def elements_of_blocks(page: Page, blocks: Flags) -> Flags:
    """bool[n], elements whose text is all in the chosen blocks (bool[m]); false for elements without text."""
    held = page.block_end - page.block_begin
    elements: Flags = (held > 0) & (sums_over_blocks(page, blocks) == held)
    return elements


def elements_with_names(page: Page, *names: str) -> list[int]:
    """Elements with one of some names, in document order."""
    if page.tag_names.isdisjoint(names):
        return []
    elements: list[int] = core.elements_with_tags(page.arrays, tag_set(*names))
    return elements


def as_mask(page: Page, elements: Sequence[int] | NDArray[np.integer[Any]]) -> Flags:
    """bool[n], mask of some elements."""
    chosen: Flags = core.mark(np.zeros(page.n, bool), elements)
    return chosen


@cached_on_page
def elements_with_attributes(page: Page, *names: str) -> list[tuple[int, dict[str, str]]]:
    """Elements with one of some names, in document order, each with its attributes."""
    elements = elements_with_names(page, *names)
    pairs = page.attributes.of_elements(np.array(elements)) if elements else []
    return list(zip(elements, map(dict, pairs), strict=True))


@cached_on_page
def block_lengths(page: Page) -> Integers:
    """int64[m], characters of each block's text."""
    return np.fromiter(map(len, page.block_texts()), np.int64, page.m)


@cached_on_page
def run_lengths(page: Page) -> Integers:
    """int64[r], characters of each run, 0 for a blank one."""
    return (page.run_offset[1:] - page.run_offset[:-1]) * page.is_nonblank


@cached_on_page
def linked_runs(page: Page) -> Flags:
    """bool[r], whether each run is inside a link."""
    return within(page, page.tag == TAG_ID["a"]).take(page.run_node)
