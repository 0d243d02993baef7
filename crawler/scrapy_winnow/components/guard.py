"""What keeps the trouble of one step from the item that is on its way through it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy.exceptions import DropItem

if TYPE_CHECKING:
    from collections.abc import Callable

logger = logging.getLogger(__name__)


class Guard:
    """Lets each step of an item's way fail on its own: it is counted, and said once for each step.

    Args:
        count: adds one to a stat.
        extra: gives what log records carry.
    """

    def __init__(self, count: Callable[[str], object], extra: Callable[[], dict[str, object]] = dict) -> None:
        self._count = count
        self._extra = extra
        self._said: set[str] = set()

    def step(self, doing: str, stat: str, url: str | None = None) -> Step:
        """Return a context in which anything may go wrong.

        Args:
            doing: what is done there, as in "Could not ... of http://...".
            stat: of :mod:`scrapy_winnow.stats`, what a failure is counted as.
            url: address of the page.
        """
        return Step(self, doing, stat, url)

    def failed(self, doing: str, stat: str, url: str | None, error: BaseException) -> None:
        """Count a failure, and say the first of its kind aloud."""
        self._count(stat)
        logger.log(
            logging.DEBUG if doing in self._said else logging.ERROR,
            "Could not %s of %s; %s counts how often this happens",
            *(doing, url, stat),
            exc_info=error,
            extra=self._extra(),
        )
        self._said.add(doing)


class Step:
    """A context that swallows exceptions, ``DropItem`` excepted; see :meth:`Guard.step`."""

    __slots__ = ("_doing", "_guard", "_stat", "_url")

    def __init__(self, guard: Guard, doing: str, stat: str, url: str | None) -> None:
        self._guard = guard
        self._doing = doing
        self._stat = stat
        self._url = url

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> bool:
        if not isinstance(error, Exception) or isinstance(error, DropItem):
            return False
        self._guard.failed(self._doing, self._stat, self._url, error)
        return True
