"""Work in several processes, each with one thread, since there is a process for each core."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

from threadpoolctl import threadpool_limits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_Result = TypeVar("_Result")


def process_pool(processes: int, module: str) -> ProcessPoolExecutor:
    """Return processes that have this module, and what it imports, before they start: they import nothing anew."""
    # They do on macOS, where spawning is the default: its libraries do not survive a fork.
    is_spawned = multiprocessing.get_all_start_methods()[0] == "spawn"
    context = multiprocessing.get_context("spawn" if is_spawned else "forkserver")
    context.set_forkserver_preload([module])
    return ProcessPoolExecutor(processes, context, threadpool_limits, (1, "blas"))


def map_in_processes(
    work: Callable[[Any], _Result], tasks: Sequence[Any], processes: int, module: str, chunk: int = 4
) -> Iterator[_Result]:
    """Do the work for each task, in this process or in several, and yield the results in the order of the tasks.

    ``module`` is the one of the work; a process takes ``chunk`` tasks at a time, with one copy of the work.
    """
    if processes == 1:
        yield from map(work, tasks)
        return
    with process_pool(processes, module) as pool:
        yield from pool.map(work, tasks, chunksize=chunk)
