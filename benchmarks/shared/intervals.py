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


def mean_interval(values: Sequence[float], seed: int = 0) -> tuple[float, float]:
    """95% interval of a mean by drawing the values again, 2,000 times; the same for the same seed."""
    drawn = np.asarray(values, np.float64)
    if not len(drawn):
        return 0.0, 1.0
    random = np.random.default_rng(seed)
    means = [drawn[random.integers(0, len(drawn), len(drawn))].mean() for _ in range(_DRAWS)]
    low, high = np.quantile(means, (0.025, 0.975))
    return float(low), float(high)


def percent(value: float, interval: tuple[float, float]) -> str:
    """``76.0 (75.1-76.9)``, in percent."""
    return f"{100 * value:.1f} ({100 * interval[0]:.1f}-{100 * interval[1]:.1f})"
