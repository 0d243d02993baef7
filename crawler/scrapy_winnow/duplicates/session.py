"""One run of ``winnow dedup``: batch after batch, with its verdicts, its progress and its troubles."""

from __future__ import annotations

import logging
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from redis.exceptions import ConnectionError as AwayError
from redis.exceptions import OutOfMemoryError, ReadOnlyError, RedisError, ResponseError
from redis.exceptions import TimeoutError as SlowError

from scrapy_winnow.services.service import Figure

if TYPE_CHECKING:
    from redis import Redis

    from scrapy_winnow.duplicates.verdict_file import VerdictFile
    from scrapy_winnow.duplicates.worker import Backlog, Batch, Worker
    from scrapy_winnow.services.service import Service

WAIT: Final = 1.0
"""Seconds to wait for another document, or for a server that is away."""

EVERY: Final = 5.0
"""Seconds between lines of progress."""

FIGURES: Final = (
    Figure("documents", "Documents decided"),
    Figure("near_duplicates", "Near-duplicates among them"),
    Figure("refused", "Entries that are no documents or could not be decided"),
    Figure("taken_over", "Entries taken over from others"),
    Figure("verdicts_copied", "Verdicts copied to the file"),
    Figure("outages", "Times that Redis went away"),
    Figure("waiting", "Documents that wait, as of the last line of progress", counts=False),
    Figure("pending", "Documents that others took and did not decide, as of then", counts=False),
    Figure("lost", "Documents cut off the stream before they were decided, as of then", counts=False),
    Figure("hot_shingles", "Shingles that are hot", counts=False),
)

logger = logging.getLogger(__name__)


class Session:
    """Has documents decided until none is left, or until it is told to end; says how far it has got.

    Args:
        client: the way to Redis.
        worker: the worker.
        file: where to copy the verdicts to; ``None`` leaves them in their stream.
        service: how it is looked after, with :data:`FIGURES`.
    """

    def __init__(self, client: Redis, worker: Worker, file: VerdictFile | None, service: Service) -> None:
        self._client = client
        self._worker = worker
        self._file = file
        self._service = service
        self._away = False
        self._taken = self._near = self._refused = self._claimed = self._hot = self._copied = 0
        self._cut = False
        self._said = time.monotonic()
        self._said_of = 0

    def work(self, *, until_empty: bool) -> bool:
        """Work on.

        Args:
            until_empty: end when no document is left.

        Returns:
            Whether every document was decided, and every verdict copied: ``False`` when the bounds of a stream were too
            narrow for that.

        Raises:
            redis.RedisError: the server refuses for good, for want of rights, say, or is away at the end.
        """
        self._worker.join()
        while not self._service.is_ended:
            try:
                batch = self._decide()
                if batch.taken == 0:
                    if until_empty and batch.is_last and not self._worker.backlog().pending:
                        break
                    self._worker.wait(WAIT)
            except (AwayError, SlowError, OutOfMemoryError, ReadOnlyError) as error:
                self._wait_for_redis(error)
            except ResponseError as error:
                if "NOGROUP" not in str(error):
                    raise
                self._worker.join()  # the server has come back empty
            else:
                self._is_back()
                self._service.beat("deciding" if batch.taken else "waiting")
        self._copy()
        backlog = self._worker.backlog()
        self._say(backlog)
        with suppress(RedisError):  # of a user without the right to; the next worker tries again
            self._worker.leave()
        return not (self._cut or backlog.lost)

    def _decide(self) -> Batch:
        """Decide a batch, and copy its verdicts."""
        batch = self._worker.decide()
        self._add(batch)
        self._copy()
        if self._taken > self._said_of and time.monotonic() - self._said > EVERY:
            self._say(self._worker.backlog())
        return batch

    def _add(self, batch: Batch) -> None:
        self._taken += batch.taken
        self._near += batch.near
        self._refused += batch.refused
        self._claimed += batch.claimed
        self._hot = batch.hot
        self._service.add("documents", batch.taken)
        self._service.add("near_duplicates", batch.near)
        self._service.add("refused", batch.refused)
        self._service.add("taken_over", batch.claimed)
        self._service.put("hot_shingles", batch.hot)

    def _copy(self) -> None:
        if self._file is None:
            return
        copied, cut = self._file.copy(self._client, self._worker.verdicts)
        self._copied += copied
        self._service.add("verdicts_copied", copied)
        if cut and not self._cut:
            logger.warning(
                "verdicts have gone from their stream that may not have been copied; a higher --kept holds more"
            )
        self._cut |= cut

    def _wait_for_redis(self, error: Exception) -> None:
        if not self._away:
            self._away = True
            self._service.add("outages")
            logger.warning("Redis is away (%s); nothing is lost, it is asked again every %g s", error, WAIT)
        self._service.beat("Redis is away")
        self._service.wait(WAIT)

    def _is_back(self) -> None:
        if self._away:
            self._away = False
            logger.info("Redis is back")

    def _say(self, backlog: Backlog) -> None:
        now = time.monotonic()
        rate = (self._taken - self._said_of) / max(now - self._said, 1e-3)
        self._said, self._said_of = now, self._taken
        for name, figure in (("waiting", backlog.waiting), ("pending", backlog.pending), ("lost", backlog.lost)):
            self._service.put(name, figure)
        parts = [f"{self._taken:,} documents", f"{self._near:,} near-duplicates", f"{rate:,.0f} a second"]
        for count, what in (
            (backlog.waiting, "waiting"),
            (self._copied if self._file is not None else None, "verdicts copied"),
            (backlog.pending or None, "taken by others and not decided"),
            (self._claimed or None, "taken over from others"),
            (self._refused or None, "entries that are no documents or could not be decided"),
            (self._hot or None, "hot shingles"),
            (backlog.lost or None, "cut off the stream before they were decided"),
        ):
            if count is not None:
                parts.append(f"{count:,} {what}")
        logger.info("%s", ", ".join(parts), extra={"documents": self._taken, "near_duplicates": self._near})
