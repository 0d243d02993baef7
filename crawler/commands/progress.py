"""Progress of long work, on standard error and only where a person is looking."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_EVERY = 0.2  # seconds
_Thing = TypeVar("_Thing")


def shown(things: Sequence[_Thing], what: str) -> Iterator[_Thing]:
    """Go through things and show how far one has got; silent unless standard error is a terminal."""
    if not sys.stderr.isatty():
        yield from things
        return
    began = last = time.monotonic()
    for done, thing in enumerate(things, 1):
        yield thing
        now = time.monotonic()
        if now - last > _EVERY or done == len(things):
            last = now
            rate = done / max(now - began, 1e-9)
            print(f"\r{done:,} of {len(things):,} {what}, {rate:,.0f} a second ", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
