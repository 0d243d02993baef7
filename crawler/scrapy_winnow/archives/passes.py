"""The work on a part of an archive in each pass, for processes of their own: files in, files and a report out."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

from scrapy_winnow.archives.counting.host_counts import HostCounts
from scrapy_winnow.archives.counting.leaf_files import LeafWriter
from scrapy_winnow.archives.job import FileReport
from scrapy_winnow.archives.reading.records import ArchiveReader
from scrapy_winnow.archives.rows import counted_row, read
from winnow.models import load_model

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from scrapy_winnow.archives.reading.parts import Part
    from winnow.page.page import Limits


class _Progress:
    """Adds to the numbers that all processes share: bytes read and pages done."""

    read_bytes: Any = None
    pages: Any = None

    @classmethod
    def share(cls, read_bytes: Any, pages: Any) -> None:
        """Begin a process with the numbers of the run."""
        cls.read_bytes, cls.pages = read_bytes, pages

    @classmethod
    def follow(cls) -> Callable[[int], None]:
        """Return what is told of the place in a file after each record."""
        last = 0

        def at(place: int) -> None:
            nonlocal last
            if cls.read_bytes is not None:
                with cls.read_bytes.get_lock():
                    cls.read_bytes.value += place - last
            last = place

        return at

    @classmethod
    def page(cls) -> None:
        """Count a page."""
        if cls.pages is not None:
            with cls.pages.get_lock():
                cls.pages.value += 1


share_progress = _Progress.share


def count_archive(part: Part, folder: Path, limits: Limits) -> FileReport:
    """First pass: write the leaves of the pages of a part into a folder, which is there once all are."""
    making = folder.with_name(folder.name + ".part")
    shutil.rmtree(making, ignore_errors=True)
    reader = ArchiveReader(part, max_bytes=limits.max_bytes, at=_Progress.follow())
    report = FileReport()
    writer = LeafWriter(making)
    for page in reader:
        try:
            hashed = read(page, limits)
            if hashed is not None:
                writer.add(page.url, page.host, hashed)
        except Exception as error:
            report.note(error)
        report.pages += 1
        _Progress.page()
    writer.close()
    report.skipped, report.broken = reader.skipped, reader.broken
    shutil.rmtree(folder, ignore_errors=True)  # of a run that was killed before it could note that it is done
    making.rename(folder)
    return report


def clean_archive(
    part: Part, file: Path, counts: Path, model: str | None, limits: Limits, outputs: frozenset[str]
) -> FileReport:
    """Second pass: clean the pages of a part into a file of JSON lines, which is there once all are."""
    making = file.with_name(file.name + ".part")
    reader = ArchiveReader(part, max_bytes=limits.max_bytes, at=_Progress.follow())
    report = FileReport()
    known = HostCounts(counts)
    loaded = load_model(model)
    with making.open("w", encoding="utf-8", errors="surrogatepass", newline="\n") as lines:
        for page in reader:
            try:
                row = counted_row(page, known, model=loaded, limits=limits, outputs=outputs)
                lines.write(json.dumps(row) + "\n")
                report.pages += 1
            except Exception as error:
                report.note(error)
            _Progress.page()
    report.skipped, report.broken = reader.skipped, reader.broken
    making.rename(file)
    return report
