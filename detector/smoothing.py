"""From a model's scores to smoothed scores: the smoother, run on the visible units of a page.

Source: page-level isotonic smoothing, sections 4 and 5.3 (very small nodes are neither classified nor smoothed).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from detector.ancestors import nearest
from detector.isotonic import smooth

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from detector.page import Page
    from detector.scores import Model, Scores


@dataclass(frozen=True, eq=False, slots=True)
class SmoothedScores:
    """Smoothed score and section of every unit of a page: its ``n`` elements, then its ``m`` text blocks.

    Attributes:
        value: float64[n + m] in 0..1; never below the value of the unit's parent when scores were smoothed.
        section: int32[n + m], the root unit of the section each unit belongs to; a root names itself.
    """

    value: NDArray[np.float64]
    section: NDArray[np.int32]


@runtime_checkable
class OwnPenalty(Protocol):
    """A model that brings a penalty function fitted to its scores."""

    def penalty(self, page: Page) -> NDArray[np.float64]:
        """float64[n + m], cost of starting a section at each unit."""
        ...


def penalty_of(model: Model, page: Page) -> NDArray[np.float64]:
    """float64[n + m], the model's own penalties, or 0.01 times the page's characters of text over the unit's."""
    if isinstance(model, OwnPenalty):
        return model.penalty(page)
    offset = page.run_offset
    begin = np.concatenate([page.run_begin, page.block_run_begin])
    end = np.concatenate([page.run_end, page.block_run_end])
    mass = offset[end] - offset[begin] + 1
    return np.asarray(0.01 * (offset[-1] + 1) / mass, np.float64)


def smooth_scores(page: Page, scores: Scores, penalty: NDArray[np.float64]) -> SmoothedScores:
    """Make the scores of a page agree with its tree.

    Hidden units are taken out of the tree: their visible descendants hang on the nearest visible ancestor, whose value
    and section they take. The root is always in the tree, without an opinion if it is hidden.

    Args:
        page: the page that was scored.
        scores: what the model says of its units.
        penalty: float64[n + m], cost of starting a section at a unit; ``inf`` never starts one.

    Raises:
        ValueError: a score lies outside 0..1, or a penalty or weight is negative or not a number.
    """
    units, holder, position = _visible(page, scores.in_tree)
    above = page.unit_parent[units]
    parent = np.where(above < 0, -1, position[holder[above]])
    weight = np.where(scores.in_tree, scores.weight, 0)[units]
    smoothed = smooth(parent, scores.templateness[units], weight, penalty[units])
    place = position[holder]
    return SmoothedScores(smoothed.value[place], units[smoothed.section[place]].astype(np.int32))


def unsmoothed(page: Page, scores: Scores) -> SmoothedScores:
    """Take the scores as they are, each unit that has an opinion a section of its own (the paper's "PageLevel Basic").

    Units that are hidden or have no opinion take the value of the nearest ancestor that has one, and 0 without one.
    """
    opinionated = scores.in_tree & (scores.weight > 0)
    _, holder, _ = _visible(page, opinionated)
    own = np.where(opinionated, scores.templateness, 0.0)
    return SmoothedScores(own[holder], holder)


def _visible(page: Page, in_tree: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.int32], NDArray[np.intp]]:
    """Units in the tree, the nearest of them at or above each unit, and the place of each unit among them."""
    visible = in_tree.copy()
    visible[:1] = True
    holder = nearest(page.unit_parent, visible)
    return np.flatnonzero(visible), holder, np.cumsum(visible) - 1
