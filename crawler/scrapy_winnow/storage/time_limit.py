"""A bound on how long some work may take that a busy event loop does not shorten."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable

T = TypeVar("T")

_STEPS: Final = 5
_MOST_EXCUSED: Final = 20


async def in_time(work: Awaitable[T], seconds: float) -> T:
    """Wait for some work, but not for longer than so many seconds.

    The time is counted in steps, each begun anew: while the event loop is busy with a page, an answer that has long
    come in cannot be read, and a single timer would take that for an outage. To connect takes several turns of the
    loop, and at the start of a crawl there is a page in each: steps that were held up do not count, up to a number.

    Raises:
        TimeoutError: the time is over; the work is cancelled.
    """
    task = asyncio.ensure_future(work)
    step = seconds / _STEPS
    left, excused = _STEPS, _MOST_EXCUSED
    try:
        while left:
            begun = time.monotonic()
            done, _ = await asyncio.wait({task}, timeout=step)
            if done:
                return task.result()
            is_excused = excused > 0 and time.monotonic() - begun > 1.5 * step
            excused, left = (excused - 1, left) if is_excused else (excused, left - 1)
    finally:
        task.cancel()
    raise TimeoutError
