"""Plots as SVG that stands in the report itself: lines over time and over pages, bars of shares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from markupsafe import Markup

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_MOST_POINTS: Final = 160
_PLOT: Final = Markup("""<svg class="plot" viewBox="0 0 {w} {h}" role="img" aria-label="{title}">
<path class="grid" d="M44 {top}H{right}M44 {base}H{right}"/>
<polygon class="area" points="44,{base} {points} {last},{base}"/><polyline points="{points}"/>
<text x="40" y="{label}" text-anchor="end">{largest}</text><text x="40" y="{base}" text-anchor="end">0</text>
<text x="44" y="{under}">{begin}</text><text x="{right}" y="{under}" text-anchor="end">{end}</text></svg>""")


def line_plot(
    x: Sequence[float], y: Sequence[float], *, title: str, x_label: str, percent: bool = False, height: int = 120
) -> Markup:
    """Draw a line over its area, with the largest value and both ends of the x axis written out.

    Args:
        x: where the points are, ascending.
        y: their values.
        title: what it shows, for those who cannot see it.
        x_label: what x is.
        percent: y is a share, from 0 to 1.
        height: in px.
    """
    if len(x) < 2:
        return Markup("")
    xs, ys = _thinned(np.asarray(x, float), np.asarray(y, float))
    width, top, bottom = 420, 8, 18
    most = 1.0 if percent else max(float(ys.max()), 1e-9)
    across = 44 + (xs - xs[0]) / max(xs[-1] - xs[0], 1e-9) * (width - 52)
    down = top + (1 - np.clip(ys / most, 0, 1)) * (height - top - bottom)
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(across.tolist(), down.tolist(), strict=True))
    base = height - bottom
    largest = "100 %" if percent else f"{most:,.0f}" if most >= 10 else f"{most:.1f}"
    return _PLOT.format(
        w=width,
        h=height,
        title=title,
        top=top,
        base=base,
        right=width - 8,
        points=points,
        last=f"{across[-1]:.1f}",
        label=top + 8,
        under=height - 4,
        largest=largest,
        begin=f"{xs[0]:,.0f}",
        end=f"{xs[-1]:,.0f} {x_label}",
    )


def spark(values: Sequence[float], *, title: str) -> Markup:
    """Draw shares, 0 to 1, as a line of the size of a word."""
    if len(values) < 2:
        return Markup("")
    xs, ys = _thinned(np.arange(len(values), dtype=float), np.asarray(values, float), 40)
    across = 1 + xs / max(xs[-1], 1e-9) * 78
    down = 2 + (1 - np.clip(ys, 0, 1)) * 16
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(across.tolist(), down.tolist(), strict=True))
    return Markup(
        '<svg class="spark" viewBox="0 0 80 20" role="img" aria-label="{}"><polyline points="{}"/></svg>'
    ).format(title, points)


def smooth(values: Sequence[float], window: int = 9) -> list[float]:
    """Running means, shorter at the ends."""
    array = np.asarray(values, float)
    if not len(array):
        return []
    sums = np.concatenate([[0.0], np.cumsum(array)])
    at = np.arange(len(array))
    begin, end = np.maximum(at - window // 2, 0), np.minimum(at + window // 2 + 1, len(array))
    means: list[float] = ((sums[end] - sums[begin]) / (end - begin)).tolist()
    return means


def _thinned(
    x: NDArray[np.float64], y: NDArray[np.float64], most: int = _MOST_POINTS
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """No more points than can be seen: means of as many stretches, the ends as they are."""
    if len(x) <= most:
        return x, y
    edges = np.linspace(0, len(x), most + 1).astype(int)
    starts, sizes = edges[:-1], np.diff(edges)
    xs, ys = np.add.reduceat(x, starts) / sizes, np.add.reduceat(y, starts) / sizes
    xs[0], xs[-1] = x[0], x[-1]
    return xs, ys
