"""Runs of alike things: siblings with the same tag and classes, and blocks that stand in the same kind of place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.models.blocks.features.measures import CHARACTERS, LINKED, SENTENCE_ENDS, WORDS, BlockMeasures

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.page.page import Page

    Floats = NDArray[np.float64]
    Rows = NDArray[np.float32]

NAMES: Final = tuple(
    f"alike blocks: {name}"
    for name in (
        "log number", "log words per block", "link share", "sentence ends per word", "share of page", "spread",
        "place of the first", "place of the last", "log deviation of words", "share with a twin",
    )
)  # fmt: skip


def alike_siblings(page: Page, signatures: NDArray[np.int64]) -> Floats:
    """float64[n], number of children of the same parent with the element's signature, itself included."""
    key = (page.parent.astype(np.int64) + 1) * (1 << 41) + signatures
    _, number, count = np.unique(key, return_inverse=True, return_counts=True)
    alike: Floats = count[number].astype(np.float64)
    return alike


def places(measures: BlockMeasures, signatures: NDArray[np.int64]) -> NDArray[np.int64]:
    """int64[m], group number of each block: equal at the same depth under elements of the same signatures."""
    page = measures.page
    parent = np.maximum(page.parent, 0)
    around = signatures * 31 + signatures[parent] * 7 + signatures[parent[parent]] * 3 + page.depth
    place: NDArray[np.int64]
    _, place = np.unique(around[measures.owner] * 17 + page.tag[page.block_node], return_inverse=True)
    return place.astype(np.int64, copy=False)


def write(rows: Rows, measures: BlockMeasures, place: NDArray[np.int64], twins: Floats) -> None:
    """Write float32[len(NAMES), m], what the blocks of one place have in common.

    Args:
        rows: where to.
        measures: of the page.
        place: int64[m] of :func:`places`.
        twins: float64[m], number of other blocks of the page with the same text.
    """
    m = measures.page.m
    if not m:
        return
    number = np.bincount(place).astype(np.float64)
    words_of = measures.counts[WORDS]
    characters, words, linked, stops, squares, twinned = (
        np.bincount(place, values)
        for values in (
            measures.counts[CHARACTERS], words_of, measures.counts[LINKED], measures.counts[SENTENCE_ENDS],
            words_of**2, twins > 0,
        )
    )  # fmt: skip
    order = np.argsort(place, kind="stable")  # blocks of a place in reading order, place after place
    ends = np.cumsum(number).astype(np.int64)
    first, last = order[ends - number.astype(np.int64)], order[ends - 1]
    mean = words / number
    of_place = np.empty((len(NAMES), len(number)), np.float32)
    np.log1p(number, out=of_place[0])
    np.log1p(mean, out=of_place[1])
    np.divide(linked, np.maximum(characters, 1), out=of_place[2])
    np.divide(stops, np.maximum(words, 1), out=of_place[3])
    np.divide(characters, measures.total[CHARACTERS], out=of_place[4])
    np.divide(last - first + 1, number, out=of_place[5])
    np.divide(first, m, out=of_place[6])
    np.divide(last, m, out=of_place[7])
    np.log1p(np.sqrt(np.maximum(squares / number - mean**2, 0)), out=of_place[8])
    np.divide(twinned, number, out=of_place[9])
    of_place.take(place, axis=1, out=rows, mode="clip")
