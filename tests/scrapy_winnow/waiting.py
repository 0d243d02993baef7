"""To wait for what has to come, for as long as a busy machine may take."""

import time
from collections.abc import Callable
from typing import Final, TypeVar

T = TypeVar("T")

SECONDS: Final = 240
"""Time that anything may take; what has not come after that hangs. A test that takes so long is one that fails."""


def until(holds: Callable[[], T]) -> T:
    """Wait until a function returns something true, and return that."""
    deadline = time.monotonic() + SECONDS
    while not (found := holds()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return found
