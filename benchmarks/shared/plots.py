"""Line plots as small SVG files that are the same byte for byte when the figures are."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

_PANEL: Final = (4.6, 3.4)  # inches
_FEW, _SMALL = 4, 7  # lines of a legend, and points of its letters where there are more
_STYLES: Final = ("-o", "-s", "-^", "-D", "-v", "-P")
_SETTINGS: Final[Any] = {
    "svg.hashsalt": "winnow",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 9,
    "lines.markersize": 3.5,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "axes.spines.top": False,
    "axes.spines.right": False,
}


@dataclass(frozen=True, slots=True)
class Panel:
    """One plot of a figure.

    Attributes:
        x_label, y_label: what the axes say.
        lines: points of each line by its name.
        levels: values that do not depend on x, drawn as dashed lines, by name.
        log_x: whether the x axis is logarithmic.
        marked: whether every point has a mark.
        at: ticks of the x axis, where they are to be these.
    """

    x_label: str
    y_label: str
    lines: Mapping[str, Sequence[tuple[float, float]]]
    levels: Mapping[str, float]
    log_x: bool = False
    marked: bool = True
    at: tuple[float, ...] = ()


def add_plot_argument(parser: argparse.ArgumentParser) -> None:
    """Add ``--plot``, and end the program early where nothing can be drawn."""
    parser.add_argument("--plot", type=_drawable, metavar="FILE", help="draw the figures there as SVG, too")


def _drawable(name: str) -> Path:
    if find_spec("matplotlib") is None:
        sys.exit("--plot needs matplotlib: pip install -e '.[dev]'")
    file = Path(name)
    if not file.parent.is_dir():
        sys.exit(f"{file}: there is no folder {file.parent}")
    return file


def draw(file: Path, panels: Sequence[Panel]) -> None:
    """Draw panels side by side."""
    import matplotlib as mpl  # noqa: PLC0415  only those who draw need it
    from matplotlib.figure import Figure  # noqa: PLC0415

    with mpl.rc_context(_SETTINGS):
        figure = Figure(figsize=(_PANEL[0] * len(panels), _PANEL[1]), layout="constrained")
        for number, panel in enumerate(panels, 1):
            _draw_panel(figure.add_subplot(1, len(panels), number), panel)
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})


def _draw_panel(axes: Any, panel: Panel) -> None:
    for number, (name, points) in enumerate(panel.lines.items()):
        x, y = zip(*points, strict=True)
        style = _STYLES[number % len(_STYLES)] if panel.marked else "-"
        axes.plot(x, y, style, label=name, linewidth=1.4)
    for number, (name, value) in enumerate(panel.levels.items()):
        axes.axhline(value, linestyle=("--", ":", "-.")[number % 3], color="#666666", linewidth=1.1, label=name)
    if panel.log_x:
        axes.set_xscale("log")
    if panel.at:
        axes.set_xticks(panel.at, [f"{x:g}" for x in panel.at])
        axes.minorticks_off()
    axes.set_xlabel(panel.x_label)
    axes.set_ylabel(panel.y_label)
    axes.legend(frameon=False, fontsize=_SMALL if len(panel.lines) > _FEW else None)
