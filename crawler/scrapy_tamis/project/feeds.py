"""Feeds in files without a buffer: an item that was scraped is in its file, whatever becomes of the crawl."""

from __future__ import annotations

import os
from io import FileIO
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, cast

from scrapy.extensions.feedexport import FileFeedStorage

if TYPE_CHECKING:
    from scrapy import Spider

_LINES: Final = frozenset({".jsonl", ".jl", ".jsonlines"})


class UnbufferedFileStorage(FileFeedStorage):
    """Scrapy's storage of feeds in files, each item written at once: ``FEED_STORAGES``."""

    def open(self, spider: Spider) -> IO[bytes]:  # noqa: ARG002  Scrapy passes it
        """Open the file."""
        path = Path(self.path)
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix in _LINES and "a" in self.write_mode and path.is_file() and path.stat().st_size:
            _cut_half_a_line(path)
        return cast("IO[bytes]", _WholeWrites(path, self.write_mode))


class _WholeWrites(FileIO):
    """Writes all that it is given or, where that fails, nothing of it."""

    def write(self, data: Any) -> int:
        left = memoryview(data)
        try:
            while left:  # the system writes as much as the disk has room for; only the next write is an error
                left = left[super().write(left) :]
        except OSError:
            if (written := len(data) - len(left)) and self.seekable():
                self.truncate(self.seek(-written, os.SEEK_END))
            raise
        return len(data)


def _cut_half_a_line(path: Path) -> None:
    """Cut off an item that was not written to its end, as when the machine died."""
    with path.open("r+b") as stream:
        with mmap(stream.fileno(), 0, access=ACCESS_READ) as content:
            end = content.rfind(b"\n") + 1
        stream.truncate(end)
