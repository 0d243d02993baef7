"""From a model's scores to smoothed scores: the smoother, run on the visible units of a page.

Source: page-level isotonic smoothing, sections 4 and 5.3 (very small nodes are neither classified nor smoothed).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.core import compiled
from winnow.page.ancestors import nearest
from winnow.smoothing.isotonic.regression import MOST_CELLS, MOST_WORK, smooth
from winnow.smoothing.visible import visible_tree

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.models.base import Scores
    from winnow.page.page import Page


_DTYPES: Final = [np.dtype(each) for each in (np.int32, np.bool_, np.float64, np.int64, np.float64)]


@dataclass(frozen=True, eq=False, slots=True)
class SmoothedScores:
    """Smoothed score and section of every unit of a page: its ``n`` elements, then its ``m`` text blocks.

    Attributes:
        value: float64[n + m] in 0..1; never below the value of the unit's parent when scores were smoothed.
        section: int32[n + m], the root unit of the section each unit belongs to; a root names itself.
    """

    value: NDArray[np.float64]
    section: NDArray[np.int32]


def smooth_scores(page: Page, scores: Scores) -> SmoothedScores:
    """Make the scores of a page agree with its tree.

    Hidden units are taken out of the tree: their visible descendants hang on the nearest visible ancestor, whose value
    and section they take. The root is always in the tree, without an opinion if it is hidden.

    Args:
        page: the page that was scored.
        scores: what the model says of its units.

    Raises:
        ValueError: a score lies outside 0..1, or a penalty or weight is negative or not a number.
    """
    core = compiled()
    arrays = page.unit_parent, scores.in_tree, scores.templateness, scores.weight, scores.penalty
    if core is not None and [array.dtype for array in arrays] == _DTYPES:
        value, section = np.empty(len(scores.weight)), np.empty(len(scores.weight), np.int32)
        if core.smooth_units(*map(np.ascontiguousarray, arrays), value, section, MOST_CELLS, MOST_WORK):
            return SmoothedScores(value, section)
    units, parent, place = visible_tree(page.unit_parent, ~scores.in_tree)
    weight = np.where(scores.in_tree, scores.weight, 0)[units]
    smoothed = smooth(parent, scores.templateness[units], weight, scores.penalty[units])
    return SmoothedScores(smoothed.value[place], units[smoothed.section[place]].astype(np.int32))


def unsmoothed(page: Page, scores: Scores) -> SmoothedScores:
    """Take the scores as they are, each unit that has an opinion a section of its own (the paper's "PageLevel Basic").

    Units that are hidden or have no opinion take the value of the nearest ancestor that has one, and 0 without one.
    """
    opinionated = scores.in_tree & (scores.weight > 0)
    holder = nearest(page.unit_parent, opinionated | (page.unit_parent < 0))
    own = np.where(opinionated, scores.templateness, 0.0)
    return SmoothedScores(own[holder], holder)
