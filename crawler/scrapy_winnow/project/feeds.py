"""Feeds in files without a buffer: an item that was scraped is in its file, whatever becomes of the crawl."""

from __future__ import annotations

from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from scrapy.extensions.feedexport import FileFeedStorage

if TYPE_CHECKING:
    from scrapy import Spider


class UnbufferedFileStorage(FileFeedStorage):
    """Scrapy's storage of feeds in files, each item written at once: ``FEED_STORAGES``."""

    def open(self, spider: Spider) -> IO[bytes]:  # noqa: ARG002  Scrapy passes it
        """Open the file."""
        path = Path(self.path)
        path.parent.mkdir(parents=True, exist_ok=True)
        return cast("IO[bytes]", path.open(self.write_mode, buffering=0))
