"""Archives on a Ray cluster: ``tamis warc --ray`` as tasks, and the two passes over a dataset of Ray Data.

A task is one pass over one part of an archive, and what it returns depends on its arguments only. So Ray may repeat it
on another node when a worker dies, and the output is that of a single process, byte for byte. The leaves are counted
where the run was started, a shard of hosts at a time, and the tasks of a node share a copy of the counts. No task
belongs to a host, so a large host holds nothing up.

``pip install 'tamis[ray]'``, here and on every node.
"""

from __future__ import annotations

import io
import tempfile
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import ray

from scrapy_tamis.archives.counting import HostCounts, count_hosts
from scrapy_tamis.archives.reading import ArchivedPage
from scrapy_tamis.archives.rows import Failure, parquet_rows, parquet_schema
from scrapy_tamis.archives.runs import Options, clean_counted, write_leaves
from scrapy_tamis.storage.keys import site_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ray.data import Dataset

    from scrapy_tamis.archives.reading import Part
    from scrapy_tamis.archives.runs import PartWork, Summary, Tasks

_MAX_RETRIES: Final = 20  # of a task whose worker or node died
_BATCH_PAGES: Final = 128

_cluster: Any = ray  # half of Ray has no types


def run_on_ray(work: PartWork, tasks: Tasks, options: Options, counts: HostCounts) -> Iterator[tuple[str, Summary]]:
    """Do the work on parts, on the nodes of a cluster, which have this package and reach the archives' addresses.

    See :meth:`~scrapy_tamis.archives.runs.PartProcesses.run`. ``options.ray`` is the address of the cluster, as
    ``ray.init`` takes it; empty for the one that ``RAY_ADDRESS`` names, or else for one that is started on this machine
    and ends with this process.
    """
    if not ray.is_initialized():
        address = options.ray or None
        ray.init(address=address, log_to_driver=False, include_dashboard=None if address else False)
    shared_counts = _cluster.put(counts.open_all())
    do: Any = _do_task
    waiting = {
        do.remote(work, part, target.name, options, shared_counts): name for name, (part, target) in tasks.items()
    }
    while waiting:
        (reference,), _ = _cluster.wait(list(waiting))
        name = waiting.pop(reference)
        report, contents = _cluster.get(reference)
        tasks[name][1].write_bytes(contents)
        yield name, report


@ray.remote(max_retries=_MAX_RETRIES)
def _do_task(work: Any, part: Part, name: str, options: Options, counts: HostCounts) -> tuple[Summary, bytes]:
    """Do one task in a temporary folder, and return the contents of the file that it wrote."""
    with tempfile.TemporaryDirectory(prefix="tamis-archive-") as folder:
        target = Path(folder, name)
        report = work(part, target, options, counts)
        return report, target.read_bytes()


def clean_pages(pages: Dataset, options: Options | None = None) -> Dataset:
    """Clean pages, each with the evidence of all pages of its host.

    The dataset is read twice, once here and once when the result is: ``materialize()`` it where that is expensive.
    Near-duplicates are not marked, since a dataset has no order; ``shingles`` can be grouped by.

    Args:
        pages: with columns ``url`` and ``html`` (bytes, or text), and, where they are known, ``charset``, ``date`` and
            ``record_id``.
        options: format, processes and ray are ignored.

    Returns:
        A dataset with the columns of ``tamis warc --format parquet`` without ``duplicate_of`` and ``resemblance``,
        and with ``error``, which says why a page could not be cleaned: such a row has only that and its address.
    """
    options = options if options is not None else Options()
    hash_block: Any = _hash_block  # Ray's types know no functions with arguments
    clean_block: Any = _clean_block
    # With a batch size, blocks that are shorter, such as parts of archives, would wait for each other in one task.
    blocks: dict[str, Any] = {"batch_format": "pyarrow", "batch_size": None}
    leaves = pages.map_batches(hash_block, **blocks, fn_kwargs={"options": options})
    with tempfile.TemporaryDirectory(prefix="tamis-leaves-") as folder:
        counts, files = Path(folder), []
        for number, row in enumerate(leaves.iter_rows()):
            files.append(counts / f"{number}.leaves")
            files[-1].write_bytes(row["leaves"])
        count_hosts(files, counts)
        shared_counts = _cluster.put(HostCounts(counts).open_all())
    return pages.map_batches(clean_block, **blocks, fn_kwargs={"counts": shared_counts, "options": options})


def _pages_of(block: Any) -> Iterator[ArchivedPage]:
    for batch in block.to_batches(max_chunksize=_BATCH_PAGES):
        for row in batch.to_pylist():
            url, html, charset = row.get("url") or "", row.get("html") or b"", row.get("charset")
            if isinstance(html, str):
                html, charset = html.encode("utf-8", "replace"), "utf-8"
            host, date, record_id = site_of(url) or "", row.get("date") or "", row.get("record_id") or ""
            yield ArchivedPage(url, host, html, charset, date, record_id)


def _hash_block(block: Any, options: Options) -> Any:
    """First pass: return the leaves of a block as the bytes of the file of a ``LeafWriter``."""
    file = io.BytesIO()
    for _ in write_leaves((page for page in _pages_of(block) if page.host), file, options):
        pass
    return pa.table({"leaves": pa.array([file.getvalue()], pa.large_binary())})


def _clean_block(block: Any, counts: Any, options: Options) -> Iterator[Any]:
    """Second pass: clean the pages of a block."""
    known = ray.get(counts) if isinstance(counts, ray.ObjectRef) else counts
    schema = parquet_schema(options.outputs).append(pa.field("error", pa.string()))
    for name in ("duplicate_of", "resemblance"):
        schema = schema.remove(schema.get_field_index(name))
    pages = _pages_of(block)
    while batch := list(islice(pages, _BATCH_PAGES)):
        rows: list[dict[str, object]] = [
            {"url": page.url, "error": row.why} if isinstance(row, Failure) else row
            for page, row in zip(batch, clean_counted(batch, known, options), strict=True)
        ]
        yield pa.Table.from_pylist(parquet_rows(rows), schema)
