"""What the benchmarks share: pages of a folder, what is installed, figures, memory of processes, models of folds."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from demo.web import DEFAULT_PAGES, generate
from tamis import decide, load_model
from tamis.folders import page_files
from tamis_papers.experiments.harness import say
from tamis_papers.pages import spread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tamis.models import Model


def rules_in_turn(chosen: bool) -> Iterator[str]:
    """Yield "" and, if chosen, ", without RULE" for each rule of the decision, while pages are cleaned without it."""
    yield ""
    steps = decide.STEPS
    for rule in steps if chosen else ():
        if rule.__name__.startswith(("cut_", "keep_", "partition_")) and rule is not decide.cut_template:
            decide.STEPS = tuple(step for step in steps if step is not rule)  # type: ignore[misc]
            yield f", without {rule.__name__}"
            decide.STEPS = steps  # type: ignore[misc]


def html_files(folder: Path, sample: int | None = None) -> list[Path]:
    """Return the HTML files below a folder, or some of them, evenly spread. Ends the program where there are none."""
    return spread(page_files(folder), sample) or sys.exit(f"no HTML files in {folder}")


@contextmanager
def pages_or_demo_web(folder: Path | None, pages: int = DEFAULT_PAGES) -> Iterator[Path]:
    """Give a folder of pages, or without one a folder with so many pages of each host of the demo web."""
    with TemporaryDirectory() as made:
        if folder is None:
            generate(Path(made), pages=pages)
        yield folder or Path(made)


def installed(*names: str) -> list[str]:
    """Return those of the modules that are installed, and say which are not."""
    for name in names:
        if find_spec(name) is None:
            say(f"{name} is not installed and left out")
    return [name for name in names if find_spec(name) is not None]


@contextmanager
def svg_figure(file: Path, width: float, height: float) -> Iterator[Any]:
    """Give a figure of matplotlib, so many inches wide and high, and write what is drawn on it as SVG.

    The same figures give the same bytes.
    """
    import matplotlib as mpl  # noqa: PLC0415  (for development only)
    from matplotlib.figure import Figure  # noqa: PLC0415

    look: Any = {"svg.hashsalt": "tamis", "svg.fonttype": "none", "font.size": 9, "axes.grid": True}
    with mpl.rc_context(look):
        figure = Figure(figsize=(width, height), layout="constrained")
        yield figure
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})


def process_megabytes(field: str, process: int | str = "self") -> float:
    """Return memory of a process as Linux says it: ``VmRSS`` now, ``VmHWM`` at most; 0 when it has gone."""
    try:
        status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith(f"{field}:")), 0.0)


def models_of_folds(folder: Path | None) -> Callable[[str], Model]:
    """Return what gives, by its name, the model that has not seen a source; the first for a source of no fold.

    Without a folder that is the package's own for all.

    Raises:
        FileNotFoundError: the folder is not as `benchmarks.accuracy.train_weights` writes it.
    """
    if folder is None:
        default = load_model()
        return lambda _: default
    fold_of = json.loads((folder / "folds.json").read_text(encoding="utf-8"))
    models = [load_model(folder / f"without-{fold}.npz") for fold in range(max(fold_of.values()) + 1)]
    return lambda source: models[fold_of.get(source, 0)]
