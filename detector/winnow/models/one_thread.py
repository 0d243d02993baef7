"""Linear algebra on one thread, for as long as a page is scored and no longer."""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController


def one_thread() -> AbstractContextManager[Any]:
    """Return a context in which the program's main thread does its linear algebra alone; in others nothing changes.

    The number of threads belongs to the whole process. Two threads that limit and restore it at the same time could
    leave the limit behind for good, and OpenBLAS takes no orders from any but the main thread as of 0.3.31.
    """
    if threading.current_thread() is not threading.main_thread():
        return nullcontext()
    limited: AbstractContextManager[Any] = _libraries().limit(limits=1, user_api="blas")
    return limited


@lru_cache(maxsize=1)
def _libraries() -> ThreadpoolController:
    """Find the linear algebra libraries of the process, once: that takes a millisecond, limiting them nothing."""
    return ThreadpoolController()
