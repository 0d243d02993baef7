"""What each control of the inspector makes of a page, worked out beforehand, for a file that has no server to ask."""

from __future__ import annotations

import base64
import gzip
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from winnow.models.scores import FAVORS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scrapy_winnow.inspector.inspection import Inspection
    from scrapy_winnow.inspector.tried import Tried

MOST_ELEMENTS: Final = 20_000
"""Larger pages take half a second for each of some fifty states; their files have no controls."""

_THRESHOLDS: Final = tuple(step / 20 for step in range(21))
_PENALTIES: Final = (-21, *range(-18, 21, 3))  # tenths of a decade; the first stands for no penalty
_PAGES: Final = (0, 1, 2, 3, 5, 8, 10, 15, 20, 30, 50, 70, 100)


def prepared(inspection: Inspection, tried: Tried, models: Sequence[str]) -> str | None:
    """Work out what the controls do, each alone with the others as they are set to begin with.

    Args:
        inspection: the page.
        tried: what the controls are set to.
        models: names of the models that one may choose, "" for the package's own.

    Returns:
        base64 of the gzip of JSON: ``axes``, by name of the control its positions with a number in ``states`` each;
        ``pool``, the sections and lines of text that the states name by number. ``None`` for a page too large for it.
    """
    if inspection.page.n > MOST_ELEMENTS:
        return None
    pool: dict[str, int] = {}
    known: dict[str, int] = {}
    axes: dict[str, list[tuple[object, int]]] = {}
    for control, position, setting in _settings(inspection, tried, models):
        packed = json.dumps(_packed(inspection.state(setting), pool), separators=(",", ":"))
        axes.setdefault(control, []).append((position, known.setdefault(packed, len(known))))
    written = f'{{"axes":{json.dumps(axes)},"pool":[{",".join(pool)}],"states":[{",".join(known)}]}}'
    return base64.b64encode(gzip.compress(written.encode("utf-8", "replace"), mtime=0)).decode()


def _settings(inspection: Inspection, tried: Tried, models: Sequence[str]) -> Iterator[tuple[str, object, Tried]]:
    """Each control with each of its positions, and the settings that it makes."""
    for threshold in _THRESHOLDS:
        yield "threshold", threshold, replace(tried, threshold=threshold)
    for position in _PENALTIES:
        yield "penalty", position, replace(tried, penalty=0.0 if position <= _PENALTIES[0] else 10 ** (position / 10))
    for favor in FAVORS:
        yield "favor", favor, replace(tried, favor=favor)
    for model in models if len(models) > 1 else ():
        yield "model", model, replace(tried, model=model or None)
    seen = inspection.replay.seen if inspection.replay is not None else 0
    for pages in sorted({pages for pages in (*_PAGES, tried.pages, seen) if pages <= seen}) if seen else ():
        yield "seen", pages, replace(tried, pages=pages)


def _packed(state: dict[str, Any], pool: dict[str, int]) -> dict[str, Any]:
    """A state with numbers in the pool for its sections and the lines of its text, most of which many states share."""

    def numbers(things: list[Any]) -> list[int]:
        return [pool.setdefault(json.dumps(thing, separators=(",", ":")), len(pool)) for thing in things]

    steady = {name: value for name, value in state.items() if name != "milliseconds"}
    return steady | {"sections": numbers(state["sections"]), "text": numbers(state["text"].split("\n"))}
