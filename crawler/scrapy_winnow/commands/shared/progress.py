"""Progress of long work, on standard error: a line that changes on a terminal, one now and then elsewhere."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_EVERY: Final = 0.2  # seconds
_IN_LOGS_EVERY: Final = 30.0
_LEAST_SHARE: Final = 0.02
"""What must be done before it is said how long the rest may take."""
_Thing = TypeVar("_Thing")


class Progress:
    """Says how far one has got and how long the rest may take; off a terminal only every 30 seconds."""

    def __init__(self, what: str = "") -> None:
        self._what = f"{what} " if what else ""
        self._on_terminal = sys.stderr.isatty()
        self._begun = self._last = time.monotonic()
        self._total = 0

    def __call__(self, done: int, total: int, name: str = "") -> None:
        """Say that so many of all are done, and the name of the last of them or of the step that begins."""
        now = time.monotonic()
        if total != self._total:  # another stage has begun
            self._begun, self._total = now, total
        line = f"{done:,} of {total:,} {self._what}{name:<40.40}"
        if self._on_terminal and (now - self._last > _EVERY or done in {0, total}):
            self._last = now
            end = "\n" if done == total else ""
            print(f"\r{line}{self._left(done, now):<16}", end=end, file=sys.stderr, flush=True)
        elif not self._on_terminal and now - self._last > _IN_LOGS_EVERY:
            self._last = now
            print(f"{line.rstrip()}{self._left(done, now)}", file=sys.stderr, flush=True)

    def _left(self, done: int, now: float) -> str:
        if done >= self._total or done < self._total * _LEAST_SHARE:
            return ""
        seconds = (now - self._begun) * (self._total - done) / max(done, 1)
        return f", {left(seconds)}"


def left(seconds: float) -> str:
    """Say how long something may still take."""
    if seconds >= 5400:
        return f"{seconds / 3600:.1f} h left"
    return f"{seconds / 60:.0f} min left" if seconds >= 90 else f"{seconds:.0f} s left"


def shown(things: Sequence[_Thing], what: str) -> Iterator[_Thing]:
    """Go through things and show how far one has got."""
    progress = Progress(what)
    for done, thing in enumerate(things, 1):
        yield thing
        progress(done, len(things))
