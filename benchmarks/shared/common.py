"""What the benchmarks share: arguments, pages of a folder, tables, memory of processes."""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from tamis import decide, load_model
from tamis.folders import page_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from tamis.models import Model


_Thing = TypeVar("_Thing")


def rules_in_turn(chosen: bool) -> Iterator[str]:
    """Yield "" and, if chosen, ", without RULE" for each rule of the decision, while pages are cleaned without it."""
    yield ""
    steps = decide.STEPS
    for rule in steps if chosen else ():
        if rule.__name__.startswith(("cut_", "keep_", "partition_")) and rule is not decide.cut_template:
            decide.STEPS = tuple(step for step in steps if step is not rule)  # type: ignore[misc]
            yield f", without {rule.__name__}"
            decide.STEPS = steps  # type: ignore[misc]


def parser_of(doc: str) -> argparse.ArgumentParser:
    """Return a parser with the module's text as its help, and ``--json``."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there as JSON, too")
    return parser


def html_files(folder: Path, sample: int | None = None) -> list[Path]:
    """Return the HTML files below a folder, or some of them, evenly spread. Ends the program where there are none."""
    return spread(page_files(folder), sample) or sys.exit(f"no HTML files in {folder}")


def spread(things: Sequence[_Thing], sample: int | None) -> list[_Thing]:
    """Return so many of the things, evenly spread; all of them without a number."""
    if sample is None or sample >= len(things):
        return list(things)
    return [things[number * len(things) // sample] for number in range(sample)]


def say(text: str) -> None:
    """Write a line of progress."""
    print(text, file=sys.stderr, flush=True)


def installed(*names: str) -> list[str]:
    """Return those of the modules that are installed, and say which are not."""
    for name in names:
        if find_spec(name) is None:
            say(f"{name} is not installed and left out")
    return [name for name in names if find_spec(name) is not None]


def table(headings: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return rows as a Markdown table; the first column to the left, the others to the right."""
    cells = [list(headings), *([_written(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = []
    for row in cells:
        padded = [row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))]
        lines.append("| " + " | ".join(padded) + " |")
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    return "\n".join([lines[0], "| " + " | ".join(rule) + " |", *lines[1:]])


def _written(cell: object) -> str:
    if cell is None:
        return "-"
    return f"{cell:.3f}" if isinstance(cell, float) else str(cell)


def write_json(options: argparse.Namespace, figures: Mapping[str, Any]) -> None:
    """Write the figures where ``--json`` says, if it does."""
    if options.json is not None:
        options.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


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


def models_of_folds(folder: Path) -> Callable[[str], Model]:
    """Return what gives, by its name, the model that has not seen a source; the first for a source of no fold.

    Raises:
        FileNotFoundError: the folder is not as `benchmarks.accuracy.train_weights` writes it.
    """
    fold_of = json.loads((folder / "folds.json").read_text(encoding="utf-8"))
    models = [load_model(folder / f"without-{fold}.npz") for fold in range(max(fold_of.values()) + 1)]
    return lambda source: models[fold_of.get(source, 0)]
