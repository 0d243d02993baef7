"""Archives on a Ray cluster: the same functions on any node, their files sent back to where the run was started.

A task is one pass over one archive, or over a part of a large one; what it gives depends on nothing but its arguments.
So Ray may do it again elsewhere when a worker or a node dies, and the output is that of a single process, byte for
byte. The leaves are summed up where the run was started, a shard of hosts at a time, and every node gets a copy of the
counts: no task is a host's, so that a large one holds nobody up.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import ray

from scrapy_winnow.archives.on_ray.files import files_of, shared, unpacked, write

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy_winnow.archives.job import FileReport
    from scrapy_winnow.archives.on_ray.files import Files
    from scrapy_winnow.archives.reading.parts import Part
    from scrapy_winnow.archives.workers import Task

_TRIES: Final = 20
"""Times that a task is begun again after its worker or node died."""

_AHEAD: Final = 2
"""Tasks under way per core of the cluster: more would only fill its memory with what comes back."""


class RayCluster:
    """Works on the nodes of a cluster; on each node the package and what archives' addresses need are installed.

    Args:
        address: of the cluster, as ``ray.init`` takes it; empty for the one that ``RAY_ADDRESS`` names, or else for one
            that is started on this machine and goes with this process.
    """

    def __init__(self, address: str = "") -> None:
        if not ray.is_initialized():
            ray.init(address=address or None, log_to_driver=False, include_dashboard=False if not address else None)
        self._pages = 0

    @property
    def progress(self) -> tuple[int, int]:
        """Bytes are not followed; pages of the tasks that are done."""
        return 0, self._pages

    def each(self, tasks: dict[str, Task]) -> Iterator[tuple[str, FileReport] | None]:
        """Do tasks; see :class:`~scrapy_winnow.archives.workers.Workers`."""
        self._pages = 0
        cluster: Any = ray  # half of it has types
        folders = {task.counts for task in tasks.values() if task.counts is not None}
        counts = {folder: shared(folder) for folder in folders}
        do: Any = _do
        waiting = list(tasks.items())[::-1]
        under_way: dict[Any, str] = {}
        while waiting or under_way:
            most = _AHEAD * max(int(cluster.cluster_resources().get("CPU", 1)), 1)
            while waiting and len(under_way) < most:
                name, task = waiting.pop()
                reference = counts[task.counts] if task.counts is not None else None
                arguments = (task.function, task.part, task.target.name, reference, task.arguments)
                under_way[do.remote(*arguments)] = name
            ready, _ = cluster.wait(list(under_way), timeout=1.0)
            for reference in ready:
                name = under_way.pop(reference)
                report, files = cluster.get(reference)
                write(tasks[name].target, files)
                self._pages += report.pages
                yield name, report
            if not ready:
                yield None


@ray.remote(max_retries=_TRIES)
def _do(
    function: Any, part: Part, name: str, counts: tuple[str, Files] | None, arguments: tuple[Any, ...]
) -> tuple[FileReport, Files]:
    """Do one task in a folder of its own, and give what it has written."""
    with tempfile.TemporaryDirectory(prefix="winnow-archive-") as folder:
        target = Path(folder, name)
        report = function(part, target, *(() if counts is None else (unpacked(*counts),)), *arguments)
        return report, files_of(target)
