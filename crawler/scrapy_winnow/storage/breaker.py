"""When to stop asking a server and when to try again: one breaker for each thing that it is asked for."""

from __future__ import annotations

import builtins
import random
import re
import time
from typing import Final

from redis.exceptions import ClusterDownError, ConnectionError, OutOfMemoryError, ReadOnlyError, TimeoutError  # noqa: A004

_JITTER: Final = 0.2
"""Share of the interval that a probe comes earlier or later, so that workers do not come all at once."""

_OF_THE_SERVER: Final = (
    ConnectionError,  # refused, cut, loading, wrong password
    TimeoutError,
    ReadOnlyError,
    OutOfMemoryError,
    ClusterDownError,
    OSError,  # the library lets some through, and asyncio's time-out is one
    RuntimeError,  # a private server that does not start
)
_CODES: Final = re.compile(
    r"(?:^|[ -])(?:BUSY|CLUSTERDOWN|LOADING|MASTERDOWN|MISCONF|NOREPLICAS|OOM|READONLY|TRYAGAIN)\b"
)
"""What servers say of themselves; from inside a script old ones send it in the middle of another error."""


def is_of_the_server(error: Exception) -> bool:
    """Whether an error says that the server as a whole is in trouble, rather than one key or one command."""
    return isinstance(error, _OF_THE_SERVER) or _CODES.search(str(error)[:200]) is not None


def is_unreachable(error: Exception) -> bool:
    """Whether an error says that there is no connection: then there is none for any purpose."""
    return isinstance(error, ConnectionError | OSError) and not isinstance(error, builtins.TimeoutError)


class Breaker:
    """Closed while the server answers; open while it does not, and then one call in each interval goes through.

    Args:
        interval: time between probes, in seconds, of which each is moved at random by up to a fifth.

    Attributes:
        is_open: whether calls are turned away.
        is_in_company: whether it was opened for the trouble of another, and closes with that.
    """

    def __init__(self, interval: float) -> None:
        self._interval = interval
        self._next_probe = 0.0
        self.is_open = False
        self.is_in_company = False

    def lets_through(self) -> bool:
        """Whether a call may be made now; while the breaker is open, that is the probe, and there is no second one."""
        if not self.is_open:
            return True
        if time.monotonic() < self._next_probe:
            return False
        self._wait()
        return True

    def opens(self) -> bool:
        """Note that the server is in trouble; return whether it was not before."""
        opens, self.is_open, self.is_in_company = not self.is_open, True, False
        self._wait()
        return opens

    def closes(self) -> bool:
        """Note that the server has answered; return whether it had not before."""
        closes, self.is_open, self.is_in_company = self.is_open, False, False
        return closes

    def joins(self) -> None:
        """Open, unless it is, since another has found that the server cannot be reached."""
        if not self.is_open:
            self.opens()
            self.is_in_company = True

    def _wait(self) -> None:
        self._next_probe = time.monotonic() + self._interval * random.uniform(1 - _JITTER, 1 + _JITTER)  # noqa: S311
