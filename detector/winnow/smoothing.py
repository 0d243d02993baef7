"""The smoother: exact regularised isotonic regression on a tree or forest of scored nodes.

Source: page-level isotonic smoothing, section 4 (problem 2), with weights and a penalty per node as in section 5.3.
Given scores x, find values y with ``y(parent) <= y(child)`` that minimise ``sum of weight * |x - y|`` plus the
penalties of the nodes where a section starts, which are the roots and every node whose value differs from its parent's.

The method is exact. Scores and penalties are rounded to fixed point (2^-26), so that sums are exact, ties are real
ties, and the answer depends on no order of summation. The work is done in ``core/source/smoothing.c``.
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
"""Largest sum of the nodes' depths, counting sections that can start, that is solved without coarser scores."""


@dataclass(frozen=True, eq=False, slots=True)
class SmoothedScores:
    """Smoothed score and section of every node, such as the units of a page: its ``n`` elements, then its ``m`` blocks.

    Attributes:
        value: float64[k] in 0..1, each of them one of the scores given; never below the value of the node's parent.
        section: int32[k], the node at the root of the section each node belongs to; a root names itself.
        cost: the least cost there is: distances plus penalties, roots' penalties included. An infinite penalty counts
            as the sum of all weights plus one, above which no penalty matters. NaN where nothing was smoothed.
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

    Where several answers cost the same, a node takes over its parent's value rather than start a section, a section
    takes the lowest value, and so does a root. That makes the answer unique; a forest gets what its trees would get
    alone.

    Trees that are very large and very deep at once (the depths of their nodes sum up to more than `MAX_WORK`, as in
    50,000 nodes at the end of a chain of 400) would take minutes. There scores that agree when rounded to 1/1024 first
    become the lowest of them; for these scores the answer is exact.

    Args:
        parent: index of each node's parent, smaller than its own; -1 for roots. Integers, [n].
        score: 0 to 1, [n].
        weight: how many nodes a node counts for. Integers from 0 on, [n]; None for 1 each. A node of weight 0 has no
            opinion of its own.
        penalty: price of a section that starts at a node, in units of score times weight; from 0 to infinity, one
            number or [n].
        in_tree: false for hidden nodes, one truth value or [n]. They are taken out: their visible descendants hang on
            the nearest visible ancestor, whose value and section they take. Roots are always in the tree, without an
            opinion if they are hidden.

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
        np.clip(_integers("parent", parent, n), -2, n).astype(np.int32),  # what lies outside is refused
        np.ascontiguousarray(np.broadcast_to(np.asarray(in_tree, bool), n)),
        scores,
        np.ones(n, np.int64) if weight is None else _integers("weight", weight, n),
        np.ascontiguousarray(np.broadcast_to(penalties, n)),
        *(value, section, MAX_WORK),
    )
    return SmoothedScores(value, section, cost)


def smooth_scores(page: Page, scores: Scores) -> SmoothedScores:
    """Make the scores of a page's units agree with its tree.

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
    """Take the scores as they are, each unit that has an opinion a section of its own (the paper's "PageLevel Basic").

    Units that are hidden or have no opinion take the value of the nearest ancestor that has one, and 0 without one.
    """
    has_opinion = scores.in_tree & (scores.weight > 0)
    holder = nearest(page.unit_parent, has_opinion | (page.unit_parent < 0))
    own = np.where(has_opinion, scores.templateness, 0.0)
    return SmoothedScores(own[holder], holder)


def _integers(name: str, numbers: ArrayLike, n: int) -> NDArray[np.int64]:
    array = np.asarray(numbers)
    if array.shape != (n,):
        raise ValueError(f"{name}: expected {n} integers, one per score, got shape {array.shape}")
    if n and array.dtype.kind not in "iu":
        raise ValueError(f"{name}: expected integers, got {array.dtype}")
    return np.ascontiguousarray(array, np.int64)
