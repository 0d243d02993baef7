"""Ties what belongs together in the tree of units, before scores are smoothed: one moves with the other.

A control moves with the panel that it opens, and a term with its description, if they directly follow each other: a
button below a list loads more of it.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from tamis.page.tree import elements_named

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from tamis.models import Scores
    from tamis.page.page import Page

_CONTROLS: Final = ("aria-controls", "data-bs-target", "data-target")
_TOGGLES: Final = frozenset({"checkbox", "radio"})  # whose labels open panels without a script
_MAX_PANEL_BLOCKS: Final = 3  # of a panel that moves with its control, too


def tie_pairs(page: Page, scores: Scores) -> tuple[NDArray[np.int32], Scores]:
    """Return the parent of each unit, and the scores, such that a pair gets one smoothed value."""
    pairs = [pair for pair in _pairs(page) if _is_pair(page, *pair)]
    if not pairs:
        return page.unit_parent, scores
    parent, in_tree, penalty = page.unit_parent.copy(), scores.in_tree.copy(), scores.penalty.copy()
    n = page.n
    for control, panel in pairs:
        begin, end = page.block_begin[control], page.block_end[control]
        parent[n + begin : n + end], penalty[n + begin : n + end], in_tree[panel] = panel, np.inf, True
        begin, end = page.block_begin[panel], page.block_end[panel]
        if end - begin <= _MAX_PANEL_BLOCKS:
            penalty[n + begin : n + end] = np.inf
            penalty[panel + 1 : page.end[panel]] = np.inf
    return parent, scores._replace(in_tree=in_tree, penalty=penalty)


def _is_pair(page: Page, control: int, panel: int) -> bool:
    """Whether a control is one block, directly before its panel."""
    of_control, of_panel = ((int(page.block_begin[at]), int(page.block_end[at])) for at in (control, panel))
    return of_control[1] - of_control[0] == 1 and of_control[1] == of_panel[0] < of_panel[1]


def _pairs(page: Page) -> Iterator[tuple[int, int]]:
    """Yield controls and their panels, terms and their descriptions: pairs of elements."""
    for term, description in pairwise(elements_named(page, "dt", "dd")):
        if page.parent[term] == page.parent[description]:
            yield term, description
    for name in _CONTROLS:
        yield from _named(page, name)
    if not _TOGGLES.isdisjoint(page.attributes.places_by_value("type")):
        for label, control in _named(page, "for"):
            behind = int(page.end[label])
            if behind < page.end[page.parent[label]] and dict(page.attributes[control]).get("type") in _TOGGLES:
                yield label, behind


def _named(page: Page, name: str) -> Iterator[tuple[int, int]]:
    """Yield the elements that name another by its id in an attribute, each with the other."""
    table = page.attributes
    if name in table.names and "id" in table.names:
        ids = table.places_by_value("id")
        values = table.places_by_value(name).items()
        places = {place: ids[bare] for value, place in values if (bare := value.strip().removeprefix("#")) in ids}
        named = table.elements_by_place(list(places.values()))
        yield from ((element, named[place][0]) for element, place in table.elements_and_values(places))
