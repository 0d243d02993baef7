"""Work in several processes, each with one thread, since there is a process for each core."""

from __future__ import annotations

import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_Result = TypeVar("_Result")


def memory_bytes() -> int:
    """Return the memory of this machine, or of the container that this process is in."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    with suppress(OSError, ValueError):  # there is no limit
        memory = min(memory, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return memory


def process_pool(processes: int, module: str) -> ProcessPoolExecutor:
    """Return a pool whose processes start with a module, and all that it imports, already loaded."""
    # They do import it on macOS, where spawning is the default: its libraries do not survive a fork.
    is_spawned = multiprocessing.get_all_start_methods()[0] == "spawn"
    context = multiprocessing.get_context("spawn" if is_spawned else "forkserver")
    context.set_forkserver_preload([module])
    return ProcessPoolExecutor(processes, context, _begin, (dict(os.environ),))


def _begin(environment: dict[str, str]) -> None:
    """Prepare a process of a pool: one thread for numpy, and an end when its parent ends."""
    os.environ.update(environment)  # that of a server of forks is of when it was started
    with suppress(ImportError):  # it comes with scikit-learn, without which nothing here multiplies matrices in numpy
        from threadpoolctl import threadpool_limits  # noqa: PLC0415

        threadpool_limits(1, "blas")
    # One that is killed tells its pool nothing: that would finish its tasks beside the next run, and then wait forever.
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    if (parent := multiprocessing.parent_process()) is not None:
        parent.join()
        os._exit(1)


def map_in_processes(
    work: Callable[[Any], _Result],
    tasks: Sequence[Any],
    processes: int,
    names: Sequence[str] = (),
    progress: Callable[[int, int, str], object] = lambda *_: None,
    chunk: int = 4,
) -> Iterator[_Result]:
    """Do the work for each task, in this process or in several, and yield the results in the order of the tasks.

    ``names`` are those of the tasks, for the progress; a process takes ``chunk`` tasks at a time, with one copy of the
    model that they share.
    """
    module = (work.func if isinstance(work, partial) else work).__module__
    with process_pool(processes, module) as pool:  # none is started before it is asked to
        for done, result in enumerate(map(work, tasks) if processes == 1 else pool.map(work, tasks, chunksize=chunk)):
            if names:
                progress(done + 1, len(tasks), names[done])
            yield result
