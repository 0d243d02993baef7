"""Confidence intervals: Wilson's for shares, bootstrap for means."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

_Z: Final = 1.959964
_DRAWS: Final = 2_000


def share_interval(hits: int, of: int) -> tuple[float, float]:
    """95% interval of a share by Wilson's score; (0, 1) of nothing."""
    if of == 0:
        return 0.0, 1.0
    share, square = hits / of, _Z * _Z
    centre = (share + square / (2 * of)) / (1 + square / of)
    half = _Z * sqrt(share * (1 - share) / of + square / (4 * of * of)) / (1 + square / of)
    return max(centre - half, 0.0), min(centre + half, 1.0)


def mean_interval(values: Sequence[float], seed: int = 0, groups: Sequence[str] | None = None) -> tuple[float, float]:
    """95% interval of a mean by drawing the values again, 2,000 times; the same for the same seed.

    Args:
        values: what the mean is of.
        seed: of the drawing.
        groups: a name for each value; those of one group, such as the pages of a domain, are drawn together.
    """
    drawn = np.asarray(values, np.float64)
    if not len(drawn):
        return 0.0, 1.0
    random = np.random.default_rng(seed)
    _, group = np.unique(np.arange(len(drawn)) if groups is None else np.asarray(groups), return_inverse=True)
    sums, sizes = np.bincount(group, drawn), np.bincount(group)
    picks = (random.integers(0, len(sums), len(sums)) for _ in range(_DRAWS))
    means = [sums[pick].sum() / sizes[pick].sum() for pick in picks]
    low, high = np.quantile(means, (0.025, 0.975))
    return float(low), float(high)


def percent(value: float, interval: tuple[float, float]) -> str:
    """``76.0 (75.1-76.9)``, in percent."""
    return f"{100 * value:.1f} ({100 * interval[0]:.1f}-{100 * interval[1]:.1f})"
