"""Originals whose copies are dropped: an item is one only once it has been stored."""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from winnow.duplicates import KEEP, near_duplicates

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from scrapy_winnow.storage.index import DuplicateIndex
    from winnow.duplicates import Verdict

PATIENCE: Final = 10.0
"""Seconds that a copy waits to see whether its original is stored; then it goes on, and both may be."""


@dataclass(eq=False, slots=True)
class _Candidate:
    """An item on its way through the pipelines behind ours."""

    url: str
    shingles: NDArray[np.uint64]
    settled: asyncio.Event = field(default_factory=asyncio.Event)


class Originals:
    """Enters items in the near-duplicate index when Scrapy says that they were scraped.

    If an item were entered when it is first seen, and a later pipeline or a crash lost it, all its copies would be
    dropped with it. So copies of an item that is still on its way wait for what becomes of it. Which item a signal is
    about is known by the task that takes it through the pipelines, since these may put another object in its place.

    Args:
        index: the near-duplicate index.
    """

    def __init__(self, index: DuplicateIndex) -> None:
        self._index = index
        self._on_their_way: list[_Candidate] = []
        self._own: ContextVar[_Candidate | None] = ContextVar("winnow_candidate", default=None)

    async def find(self, url: str, shingles: NDArray[np.uint64]) -> Verdict | None:
        """Return the verdict on an item; one that repeats no other is on its way from then on."""
        self._own.set(None)
        deadline = asyncio.get_running_loop().time() + PATIENCE
        while True:
            verdict = await self._index.find(url, shingles, enter=False)
            if verdict is None or verdict.duplicate_of is not None:
                return verdict
            other = self._like(url, shingles)
            left = deadline - asyncio.get_running_loop().time()
            if other is None or left <= 0:
                break
            try:
                await asyncio.wait_for(other.settled.wait(), left)
            except TimeoutError:
                break
        candidate = _Candidate(url, shingles)
        self._on_their_way.append(candidate)
        self._own.set(candidate)
        return verdict

    async def stored(self, item: Any) -> None:  # noqa: ARG002  the name is the signal's
        """Enter the item of this task: it has been stored."""
        candidate = self._own.get()
        if candidate in self._on_their_way and candidate is not None:
            try:
                await self._index.find(candidate.url, candidate.shingles)
            finally:
                self.lost(item=None)

    def lost(self, item: Any) -> None:  # noqa: ARG002
        """Forget the item of this task: a later pipeline has dropped it, or failed."""
        candidate = self._own.get()
        if candidate in self._on_their_way and candidate is not None:
            self._on_their_way.remove(candidate)
            candidate.settled.set()

    def _like(self, url: str, shingles: NDArray[np.uint64]) -> _Candidate | None:
        """An item on its way that this one may repeat."""
        for candidate in self._on_their_way:
            if candidate.url != url and near_duplicates(candidate.shingles[:KEEP], shingles[:KEEP]):
                return candidate
        return None
