"""Linear algebra on one thread, for as long as a page is scored and no longer."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from threadpoolctl import ThreadpoolController

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def one_thread() -> Iterator[None]:
    """Have the program's main thread do its linear algebra alone for a while; in others nothing changes.

    The number of threads belongs to the whole process. Two threads that limit and restore it at the same time could
    leave the limit behind for good, and OpenBLAS takes no orders from any but the main thread as of 0.3.31.
    """
    libraries = _libraries() if threading.current_thread() is threading.main_thread() else ()
    limited = [(library, number) for library in libraries if (number := library.num_threads or 1) > 1]
    for library, _ in limited:
        library.set_num_threads(1)
    try:
        yield
    finally:
        for library, number in limited:
            library.set_num_threads(number)


@lru_cache(maxsize=1)
def _libraries() -> list[Any]:
    """Find the linear algebra libraries of the process, once: that takes a millisecond, limiting them nothing."""
    return list(ThreadpoolController().select(user_api="blas").lib_controllers)
