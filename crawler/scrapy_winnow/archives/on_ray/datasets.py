"""Two passes over a dataset of Ray Data: pages in, clean pages out, each with the evidence of all pages of its host.

The leaves of all pages are summed up where this is called, a shard of hosts at a time, and every node gets a copy of
the counts, as in :mod:`scrapy_winnow.archives.on_ray.tasks`: no task is a host's, and what comes out of a page depends
on nothing but the page and the counts.
"""

from __future__ import annotations

import logging
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import ray.data

from scrapy_winnow.archives.counting.host_counts import HostCounts, count_shard
from scrapy_winnow.archives.counting.leaf_files import SHARDS, LeafWriter
from scrapy_winnow.archives.job import Options
from scrapy_winnow.archives.on_ray.files import shared, unpacked
from scrapy_winnow.archives.reading.parts import Part, divided
from scrapy_winnow.archives.reading.records import ArchivedPage, ArchiveReader
from scrapy_winnow.archives.rows import counted_row, read
from scrapy_winnow.archives.writers import parquet_schema, plain_rows
from scrapy_winnow.hosts.names import site_of
from winnow.models import load_model
from winnow.page.page import DEFAULT_LIMITS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ray.data import Dataset

    from scrapy_winnow.archives.on_ray.files import Files
    from winnow.page.page import Limits

logger = logging.getLogger(__name__)

PAGES: Final = pa.schema(
    [("html", pa.binary()), *((name, pa.string()) for name in ("url", "charset", "date", "record_id"))]
)
"""Columns of pages: their bytes and addresses, and what the archive says, which may be missing."""

_AT_ONCE: Final = 128  # pages
_KINDS: Final = ("pages", "leaves")  # files of a block


def read_archives(sources: Iterable[str]) -> Dataset:
    """Read the pages of archives, large ones in parts, into a dataset with the columns :data:`PAGES`.

    What is no page is left out; where an archive is damaged, that is logged on the node, and reading goes on.

    Args:
        sources: paths or addresses that every node reaches.
    """
    parts = [part for parts in divided(sorted(set(sources))).values() for part in parts]
    items = [{"source": part.source, "begin": part.begin, "end": part.end or 0} for part in parts]
    return ray.data.from_items(items, override_num_blocks=len(items)).map_batches(
        _pages_of, batch_format="pyarrow", batch_size=1
    )


def clean_pages(pages: Dataset, options: Options | None = None) -> Dataset:
    """Clean pages, each with the evidence of all pages of its host.

    The dataset is gone through twice, once here and once when what is returned is: ``materialize()`` it where that is
    dear. Near-duplicates are not marked, since a dataset has no order; ``shingles`` are there to group by.

    Args:
        pages: with columns ``url`` and ``html`` (bytes, or text), and, where they are known, those of :data:`PAGES`.
        options: model, optional columns, caps and pages of a host that count; the rest is of no concern here.

    Returns:
        A dataset with the columns of ``winnow warc --format parquet`` and ``error``, which says why a page could not be
        cleaned: nothing of it is there then but its address.
    """
    how = options if options is not None else Options()
    count: Any = _leaves_of  # functions with arguments are not in its types
    clean: Any = _clean
    # Batches of some size would have short blocks, such as parts of archives, wait for each other in one task.
    blocks: dict[str, Any] = {"batch_format": "pyarrow", "batch_size": None}
    leaves = pages.map_batches(count, **blocks, fn_kwargs={"limits": how.limits})
    with tempfile.TemporaryDirectory(prefix="winnow-leaves-") as folder:
        found, counts = Path(folder, "leaves"), Path(folder, "counts")
        found.mkdir()
        counts.mkdir()
        for number, row in enumerate(leaves.iter_rows()):
            for kind in _KINDS:
                (found / f"{number:08d}.{kind}.npy").write_bytes(row[kind])
        for shard in range(SHARDS):
            count_shard([found], shard, counts, how.host_pages)
        known = shared(counts)
    return pages.map_batches(clean, **blocks, fn_kwargs={"counts": known, "options": how})


def _pages_of(batch: pa.Table) -> Iterator[pa.Table]:
    """The pages of the parts of archives."""
    for row in batch.to_pylist():
        part = Part(row["source"], row["begin"], row["end"] or None)
        reader = ArchiveReader(part, max_bytes=DEFAULT_LIMITS.max_bytes)
        rows: list[dict[str, Any]] = []
        for page in reader:
            rows.append({name: getattr(page, name) for name in PAGES.names})
            if len(rows) == _AT_ONCE:
                yield pa.Table.from_pylist(rows, PAGES)
                rows = []
        yield pa.Table.from_pylist(rows, PAGES)
        if reader.broken is not None:
            logger.warning("%s: %s", part.source, reader.broken)


def _archived(rows: list[dict[str, Any]]) -> Iterator[ArchivedPage]:
    for row in rows:
        url, html, charset = row.get("url") or "", row.get("html") or b"", row.get("charset")
        if isinstance(html, str):
            html, charset = html.encode("utf-8", "replace"), "utf-8"
        yield ArchivedPage(url, site_of(url) or "", html, charset, row.get("date") or "", row.get("record_id") or "")


def _leaves_of(block: Any, limits: Limits) -> Any:
    """First pass: the leaves of a block as the bytes of files that are read a shard at a time."""
    with tempfile.TemporaryDirectory(prefix="winnow-leaves-") as folder:
        writer = LeafWriter(Path(folder, "block"))
        for some in block.to_batches(max_chunksize=_AT_ONCE):
            for page in _archived(some.to_pylist()):
                with suppress(Exception):  # the second pass says so of the page
                    hashed = read(page, limits)
                    if hashed is not None and page.host:
                        writer.add(page.url, page.host, hashed)
        writer.close()
        files = sorted(Path(folder, "block").iterdir())
        contents = {kind: [file.read_bytes() for file in files if f".{kind}." in file.name] for kind in _KINDS}
    return pa.table(contents, pa.schema([(kind, pa.large_binary()) for kind in _KINDS]))


def _clean(block: Any, counts: Any, options: Options) -> Iterator[Any]:
    """Second pass: the clean pages of a block."""
    run: tuple[str, Files] = ray.get(counts) if isinstance(counts, ray.ObjectRef) else counts
    known, model = HostCounts(unpacked(*run)), load_model(options.model)
    schema = parquet_schema(options.outputs).append(pa.field("error", pa.string()))
    schema = schema.remove(schema.get_field_index("duplicate_of"))
    for some in block.to_batches(max_chunksize=_AT_ONCE):
        rows: list[dict[str, object]] = []
        for page in _archived(some.to_pylist()):
            try:
                row = counted_row(page, known, model=model, limits=options.limits, outputs=options.outputs)
            except Exception as error:
                row = {"url": page.url, "error": f"{type(error).__name__}: {error}"}
            rows.append(row)
        yield pa.Table.from_pylist(plain_rows(rows), schema)
