"""A queue of requests that a killed crawl finds again: ``SCHEDULER_PRIORITY_QUEUE`` for any project with ``JOBDIR``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from scrapy.pqueues import DownloaderAwarePriorityQueue

if TYPE_CHECKING:
    from scrapy import Request

_STATE: Final = "active.json"


class KeptPriorityQueue(DownloaderAwarePriorityQueue):
    """Scrapy's default queue, which keeps note of its parts on disk as they come, not only when the crawl ends.

    Scrapy reads at the start which hosts and priorities have requests waiting, and writes it at the end: after
    ``kill -9`` they are on disk, and nobody looks for them, while the filter of duplicates takes them for done. The
    requests that were under way when the crawl was killed are in no queue and stay lost to other spiders than ours.

    It goes with the disk queues of SQLite, which are whole after a kill.
    """

    def __init__(
        self, crawler: Any, downstream_queue_cls: Any, key: str, startprios: Any = None, **options: Any
    ) -> None:
        super().__init__(crawler, downstream_queue_cls, key, startprios, **options)
        self._noted: dict[str, set[int]] = {slot: set(numbers) for slot, numbers in (startprios or {}).items()}

    def push(self, request: Request) -> None:
        """Add a request; the first of a host and priority is noted on disk."""
        super().push(request)
        slot, priority = self._downloader_interface.get_slot_key(request), -request.priority
        if self.key and priority not in self._noted.setdefault(slot, set()):
            self._noted[slot].add(priority)
            self._note()

    def _note(self) -> None:
        """Replace the file that Scrapy's scheduler reads; a part that is empty by then does no harm."""
        state = {slot: sorted(numbers) for slot, numbers in self._noted.items()}
        new = Path(self.key, f"{_STATE}.new")
        new.write_text(json.dumps(state), encoding="utf-8")
        new.replace(Path(self.key, _STATE))
