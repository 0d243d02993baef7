"""Progress of long work, on standard error and only where a person is looking."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_EVERY: Final = 0.2  # seconds
_Thing = TypeVar("_Thing")


class Progress:
    """A line that says how far one has got; nothing unless standard error is a terminal."""

    def __init__(self, what: str = "") -> None:
        self._what = f"{what} " if what else ""
        self._shown = sys.stderr.isatty()
        self._last = 0.0

    def __call__(self, done: int, total: int, name: str = "") -> None:
        """Say that so many of all are done, and the name of the last of them or of the step that begins."""
        now = time.monotonic()
        if self._shown and (now - self._last > _EVERY or done in {0, total}):
            self._last = now
            end = "\n" if done == total else ""
            print(f"\r{done:,} of {total:,} {self._what}{name:<40.40}", end=end, file=sys.stderr, flush=True)


def shown(things: Sequence[_Thing], what: str) -> Iterator[_Thing]:
    """Go through things and show how far one has got."""
    progress = Progress(what)
    for done, thing in enumerate(things, 1):
        yield thing
        progress(done, len(things))
