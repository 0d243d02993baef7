"""The smoother: exact regularised isotonic regression on a tree or forest of scored nodes.

Source: page-level isotonic smoothing, section 4 (problem 2), with weights and a penalty per node as in section 5.3.
Given scores x, find values y with ``y(parent) <= y(child)`` that minimise ``sum of weight * |x - y|`` plus the
penalties of the nodes where a section starts, which are the roots and every node whose value differs from its parent's.
An infinite penalty counts as the sum of all weights plus one, above which no penalty matters.

The method is exact. Scores and penalties are rounded to fixed point (2^-26), so that sums and ties are exact and the
result does not depend on the order of summation. ``core/source/smoothing.c`` implements it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tamis.core import core
from tamis.page.tree import nearest

if TYPE_CHECKING:
    from tamis.arrays import Floats, Indices
    from tamis.models import Scores


class SmoothedScores(NamedTuple):
    """Smoothed score and section of every node, such as the units of a page: its ``n`` elements, then its ``m`` blocks.

    Attributes:
        value: float64[k] in 0..1, each equal to one of the given scores; never below the value of the node's parent.
        section: int32[k], root node of each node's section; a root contains itself.
    """

    value: Floats
    section: Indices


def smooth(parent: Indices, scores: Scores) -> SmoothedScores:
    """Smooth the scores of a forest of units, such as those of a page, and divide it into sections.

    Ties are broken so that the solution is unique: a unit takes its parent's value rather than start a section, and a
    section or root takes the lowest value. Each tree of a forest is solved as if it were alone. Hidden units are
    removed: their visible descendants are attached to the nearest visible ancestor, whose value and section hidden
    units take. Roots are always in the tree, with weight 0 if they are hidden.

    Trees that are both very large and very deep (the depths of their units sum to more than 2^24, such as 50,000 units
    at the end of a chain of 400) would take minutes. Their scores are first grouped by rounding to 1/1024, and each
    group gets its lowest score; the solution is exact for these scores.

    Args:
        parent: int32[k], index of each unit's parent, smaller than its own; -1 for roots.
        scores: scores, weights and penalties of the units; a penalty is in units of score times weight, 0 to infinity.

    Raises:
        ValueError: for parents that do not come before their children, scores outside 0 to 1, negative weights,
            negative penalties, NaN, or weights so large that sums would not be exact.

    A menu (unit 1) and its two entries, beside a story (unit 4):

    >>> from tamis.models import Scores
    >>> from tamis.models.decision import FixedThreshold
    >>> templateness, penalty = np.array([0.2, 0.8, 0.9, 0.7, 0.1]), np.full(5, 0.15)
    >>> scores = Scores(templateness, np.ones(5, np.int64), np.ones(5, bool), penalty, FixedThreshold(0.5))
    >>> smoothed = smooth(np.array([-1, 0, 1, 1, 0], np.int32), scores)
    >>> smoothed.value.tolist()
    [0.1, 0.8, 0.8, 0.8, 0.1]
    >>> smoothed.section.tolist()
    [0, 1, 1, 1, 0]
    """
    value = np.empty(len(scores.weight))
    section = np.empty(len(scores.weight), np.int32)
    in_tree = np.ascontiguousarray(scores.in_tree, bool)
    templateness = np.ascontiguousarray(scores.templateness, np.float64)
    weight = np.ascontiguousarray(scores.weight, np.int64)
    penalty = np.ascontiguousarray(scores.penalty, np.float64)
    core.smooth(parent, in_tree, templateness, weight, penalty, value, section)
    return SmoothedScores(value, section)


def unsmoothed(parent: Indices, scores: Scores) -> SmoothedScores:
    """Return the scores unchanged, with each weighted unit as its own section (the paper's "PageLevel Basic").

    Units that are hidden or of weight 0 take the value of the nearest ancestor that is neither, or 0.
    """
    is_scored = scores.in_tree & (scores.weight > 0)
    source = nearest(parent, is_scored | (parent < 0))
    value = np.where(is_scored, scores.templateness, 0.0)
    return SmoothedScores(value[source], source)
