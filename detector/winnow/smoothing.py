"""The smoother: exact regularised isotonic regression on a tree or forest of scored nodes.

Source: page-level isotonic smoothing, section 4 (problem 2), with weights and a penalty per node as in section 5.3.
Given scores x, find values y with ``y(parent) <= y(child)`` that minimise ``sum of weight * |x - y|`` plus the
penalties of the nodes where a section starts, which are the roots and every node whose value differs from its parent's.

The method is exact. Scores and penalties are rounded to fixed point (2^-26), so that sums and ties are exact and the
result does not depend on the order of summation. ``core/source/smoothing.c`` implements it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.core import core
from winnow.page.tree import nearest

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from winnow.models.scores import Scores
    from winnow.page.page import Page

MAX_WORK: Final = 1 << 24
"""Largest sum of the depths of nodes that are not hidden that is solved without rounding the scores."""


@dataclass(frozen=True, eq=False, slots=True)
class SmoothedScores:
    """Smoothed score and section of every node, such as the units of a page: its ``n`` elements, then its ``m`` blocks.

    Attributes:
        value: float64[k] in 0..1, each equal to one of the given scores; never below the value of the node's parent.
        section: int32[k], root node of each node's section; a root contains itself.
        cost: the minimal cost: distances plus penalties, including those of the roots. An infinite penalty counts as
            the sum of all weights plus one, above which no penalty matters. NaN if nothing was smoothed.
    """

    value: NDArray[np.float64]
    section: NDArray[np.int32]
    cost: float = float("nan")


def smooth(
    parent: ArrayLike,
    score: ArrayLike,
    weight: ArrayLike | None = None,
    penalty: ArrayLike = 0.01,
    *,
    in_tree: ArrayLike = True,
) -> SmoothedScores:
    """Smooth the scores of a forest and divide it into sections.

    Ties are broken so that the solution is unique: a node takes its parent's value rather than start a section, and a
    section or root takes the lowest value. Each tree of a forest is solved as if it were alone.

    Trees that are both very large and very deep (their node depths sum to more than `MAX_WORK`, such as 50,000 nodes at
    the end of a chain of 400) would take minutes. Their scores are first grouped by rounding to 1/1024, and each group
    gets its lowest score; the solution is exact for these scores.

    Args:
        parent: index of each node's parent, smaller than its own; -1 for roots. Integers, [n].
        score: 0 to 1, [n].
        weight: weight of each node. Integers from 0 on, [n]; None for 1 each. The score of a node of weight 0 is
            ignored.
        penalty: cost of a section that starts at a node, in units of score times weight; from 0 to infinity, one number
            or [n].
        in_tree: false for hidden nodes, one bool or [n]. Hidden nodes are removed: their visible descendants are
            attached to the nearest visible ancestor, whose value and section hidden nodes take. Roots are always in the
            tree, with weight 0 if they are hidden.

    Returns:
        The values, the sections and the cost.

    Raises:
        ValueError: for wrong shapes, parents that do not come before their children, scores outside 0 to 1, negative or
            fractional weights, negative penalties, NaN, or weights so large that sums would not be exact.

    A menu (node 1) and its two entries, beside a story (node 4):

    >>> smoothed = smooth([-1, 0, 1, 1, 0], [0.2, 0.8, 0.9, 0.7, 0.1], penalty=0.15)
    >>> smoothed.value.tolist()
    [0.1, 0.8, 0.8, 0.8, 0.1]
    >>> smoothed.section.tolist()
    [0, 1, 1, 1, 0]
    """
    scores = np.ascontiguousarray(score, np.float64)
    if scores.ndim != 1:
        raise ValueError(f"score: expected one dimension, got shape {scores.shape}")
    n = scores.size
    penalties = np.asarray(penalty, np.float64)
    if penalties.shape not in ((), (n,)):
        raise ValueError(f"penalty: expected one number or {n}, got shape {penalties.shape}")
    value, section = np.empty(n), np.empty(n, np.int32)
    cost = core.smooth(
        np.clip(_integers("parent", parent, n), -2, n).astype(np.int32),  # the core rejects values out of range
        np.ascontiguousarray(np.broadcast_to(np.asarray(in_tree, bool), n)),
        scores,
        np.ones(n, np.int64) if weight is None else _integers("weight", weight, n),
        np.ascontiguousarray(np.broadcast_to(penalties, n)),
        *(value, section, MAX_WORK),
    )
    return SmoothedScores(value, section, cost)


def smooth_scores(page: Page, scores: Scores) -> SmoothedScores:
    """Smooth the scores of a page's units over its tree.

    Raises:
        ValueError: a score lies outside 0..1, or a penalty or weight is negative or not a number.
    """
    value, section = np.empty(len(scores.weight)), np.empty(len(scores.weight), np.int32)
    cost = core.smooth(
        *(page.unit_parent, np.ascontiguousarray(scores.in_tree, bool)),
        *(np.ascontiguousarray(scores.templateness, np.float64), np.ascontiguousarray(scores.weight, np.int64)),
        *(np.ascontiguousarray(scores.penalty, np.float64), value, section, MAX_WORK),
    )
    return SmoothedScores(value, section, cost)


def unsmoothed(page: Page, scores: Scores) -> SmoothedScores:
    """Return the scores unchanged, with each weighted unit as its own section (the paper's "PageLevel Basic").

    Units that are hidden or of weight 0 take the value of the nearest ancestor that is neither, or 0.
    """
    is_scored = scores.in_tree & (scores.weight > 0)
    source = nearest(page.unit_parent, is_scored | (page.unit_parent < 0))
    value = np.where(is_scored, scores.templateness, 0.0)
    return SmoothedScores(value[source], source)


def _integers(name: str, numbers: ArrayLike, n: int) -> NDArray[np.int64]:
    array = np.asarray(numbers)
    if array.shape != (n,):
        raise ValueError(f"{name}: expected {n} integers, one per score, got shape {array.shape}")
    if n and array.dtype.kind not in "iu":
        raise ValueError(f"{name}: expected integers, got {array.dtype}")
    return np.ascontiguousarray(array, np.int64)
