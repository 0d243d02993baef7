"""The index of near-duplicates in memory: which earlier document has the same story.

The verdict is that of section 6.2 of Chakrabarti, Kumar and Punera (WWW 2007): 4 of the 8 smallest shingles in common.
``scrapy_winnow.duplicates.index`` keeps the same index in Redis, with the same verdicts on the same documents.
"""

from __future__ import annotations

import sys
import time
from collections import deque
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from winnow.duplicates.documents import (
    KEY_SHIFT,
    Record,
    Verdict,
    digest_of,
    document_id,
    estimated_resemblance,
    looked_up,
)
from winnow.duplicates.shingles import COMMON, KEEP, common_shingles

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Hashes = NDArray[np.uint64]

DAY: Final = 86_400
TTL: Final = 30 * DAY
CAP: Final = 1_000_000
"""Most documents remembered, by default."""

HOT: Final = 8
"""Most originals that a shingle leads to; one that more of them have is a phrase, and says nothing about a story."""

CANDIDATES: Final = 32
"""Most originals that a document is compared with, those first that share most."""

FORGOTTEN: Final = 4
"""Most documents forgotten for each one decided, so that no call takes long."""


class MemoryIndex:
    """Documents by their shingles.

    The first document of a story is its *original* and represents the cluster of its near-duplicates: each of them has
    4 shingles in common with it. Of several originals it is the one with the most in common, then the earliest. Only
    originals are entered under their shingles, so that any number of copies costs no bucket.

    * A document that comes again with the same shingles keeps its verdict, as long as its original is there and has
      its story still. With other shingles it replaces its earlier version and is decided anew.
    * A shingle that more than ``hot`` originals have leads to none of them, until the last of them is gone. It counts
      as common all the same, and exact copies are found whatever is hot.
    * A document of fewer than 4 shingles only repeats one with exactly the same. One without words is nobody's
      near-duplicate, and not remembered.
    * At most ``cap`` documents are remembered. Each is forgotten ``ttl`` after it was last met, up to twice as late;
      above the cap, those first that were queued first and not met since. A story whose original is forgotten is
      represented by the next document that tells it.

    Args:
        ttl: how long a document is remembered, in seconds.
        cap: most documents remembered.
        hot: most originals that a shingle leads to.
        keep: shingles that documents are given with, from 8 on; the more, the better the estimate of resemblance.
        least: resemblance from which on documents are near-duplicates; they are compared when they share one of their 8
            smallest shingles. ``None`` is the paper's rule of 4 shingles in common.

    Raises:
        ValueError: ``cap`` or ``ttl`` is below 1, ``keep`` below 8, or ``least`` not in 0 to 1.
    """

    def __init__(
        self, *, ttl: int = TTL, cap: int = CAP, hot: int = HOT, keep: int = KEEP, least: float | None = None
    ) -> None:
        if ttl < 1 or cap < 1 or keep < KEEP:
            raise ValueError(f"ttl and cap must be at least 1 and keep at least {KEEP}, got {ttl}, {cap} and {keep}")
        if least is not None and not 0 < least <= 1:
            raise ValueError(f"least must be above 0 and at most 1, got {least}")
        self._ttl = ttl
        self._cap = cap
        self._hot = hot
        self._keep = keep
        self._least = least
        self._records: dict[bytes, Record] = {}
        self._queue: deque[bytes] = deque()
        self._buckets: dict[int, list[bytes] | int] = {}
        self._exact: dict[bytes, bytes] = {}
        self._entered = 0

    @classmethod
    def of_a_part(
        cls,
        records: Mapping[bytes, Record],
        sizes: Mapping[int, int],
        entered: int,
        *,
        hot: int = HOT,
        keep: int = KEEP,
        least: float | None = None,
    ) -> Self:
        """Return an index with what is known of some documents of a larger one, to decide others in.

        Args:
            records: documents by their ids; they become the index's own.
            sizes: originals that have a shingle in the larger index, for each shingle that is asked for.
            entered: number that the next original comes after.
            hot: as of the larger one.
            keep: as of the larger one.
            least: as of the larger one.
        """
        index = cls(cap=sys.maxsize, hot=hot, keep=keep, least=least)
        index._entered = entered
        index._records = dict(records)
        for document, record in sorted(records.items(), key=lambda item: item[1].number):
            if record.sketch is not None:
                index._exact.setdefault(digest_of(record.compared), document)
                for shingle in looked_up(record.compared):
                    index._buckets.setdefault(shingle, []).append(document)  # type: ignore[union-attr]
        for shingle, bucket in index._buckets.items():
            size = max(sizes.get(shingle, 0), len(bucket))  # type: ignore[arg-type]
            index._buckets[shingle] = bucket if size <= hot else size
        index._buckets |= {shingle: size for shingle, size in sizes.items() if size > hot}
        return index

    def record(self, document: bytes) -> Record | None:
        """What is remembered of a document, by its id."""
        return self._records.get(document)

    def __len__(self) -> int:
        """Number of documents remembered."""
        return len(self._queue)

    @property
    def hot_shingles(self) -> int:
        """Number of shingles that are hot now."""
        return sum(isinstance(bucket, int) for bucket in self._buckets.values())

    def decide(self, url: str, shingles: Hashes, *, now: float | None = None, enter: bool = True) -> Verdict:
        """Return the verdict on a document, and remember it.

        Args:
            url: its address; addresses that differ in what :func:`w3lib.url.canonicalize_url` evens out are one.
            shingles: uint64[up to ``keep``], distinct and ascending, see :func:`winnow.duplicates.shingles`.
            now: time in seconds; by default the clock's.
            enter: ``False`` only looks, and remembers nothing.
        """
        seconds = int(time.time() if now is None else now)
        new = Record(seconds, met=False, url=url, sketch=shingles >> KEY_SHIFT, complete=len(shingles) < self._keep)
        verdict = self.decide_record(document_id(url), new, enter=enter)
        if enter:
            self._forget(seconds)
        return verdict

    def decide_record(self, document: bytes, new: Record, *, enter: bool = True) -> Verdict:
        """Return the verdict on a document, and remember it, and forget no other for it.

        Args:
            document: its id.
            new: the document, with a sketch of 48 bits of each shingle.
            enter: ``False`` only looks, and remembers nothing.
        """
        known = self._records.get(document)
        if len(new.compared) == 0:
            if known is not None and enter:
                self._take_out(document, known)
                self._records[document] = Record(known.queued, met=True)
            return Verdict()
        if known is not None and known.sketch is not None and np.array_equal(known.compared, new.compared):
            if enter:
                known.met, known.sketch, known.complete = True, new.sketch, new.complete
            return Verdict(cluster=document.hex())
        digest = digest_of(new.compared)
        original, hot = self._earlier_original(known, digest, new), 0
        if original is None:
            original, hot = self._decide_anew(document, known, new, digest, enter)
        elif enter:
            self._records[document].met = self._records[original].met = True
        if original is None:
            return Verdict(cluster=document.hex(), hot=hot)
        found = self._records[original]
        return Verdict(found.url, estimated_resemblance(new, found), original.hex(), hot)

    def _decide_anew(
        self, document: bytes, known: Record | None, new: Record, digest: bytes, enter: bool
    ) -> tuple[bytes | None, int]:
        """The original that a version repeats which has not been met before, and how many of its shingles are hot."""
        if known is not None and enter:
            self._take_out(document, known)
        original, hot = self._search(document, new, digest)
        if not enter:
            return original, hot
        if known is None:
            self._queue.append(document)
        else:
            new.queued, new.met = known.queued, True
        if original is None:
            self._entered += 1
            new.number = self._entered
            self._records[document] = new
            self._enter(document, new.compared, digest)
        else:
            self._records[document] = Record(new.queued, new.met, digest=digest, original=original)
            self._records[original].met = True
        return original, hot

    def _earlier_original(self, known: Record | None, digest: bytes, new: Record) -> bytes | None:
        """The original that this very version of a document was found to repeat, if it still does."""
        if known is None or known.digest != digest:
            return None
        record = self._records.get(known.original)
        if record is None or record.sketch is None or self._closeness(new, record) is None:
            return None
        return known.original

    def _closeness(self, new: Record, other: Record) -> float | None:
        """How much a document has in common with an original; ``None`` unless it is enough for a near-duplicate."""
        if np.array_equal(new.compared, other.compared):
            return np.inf
        if min(len(new.compared), len(other.compared)) < COMMON:
            return None
        if self._least is not None:
            share = estimated_resemblance(new, other)
            return share if share >= self._least else None
        common = common_shingles(new.compared, other.compared)
        return common if common >= COMMON else None

    def _search(self, document: bytes, new: Record, digest: bytes) -> tuple[bytes | None, int]:
        """The original that a document repeats, and how many of its shingles are hot."""
        same = self._exact.get(digest)
        if same is not None and same != document:
            return same, 0
        counts: dict[bytes, int] = {}
        hot = 0
        for shingle in looked_up(new.compared):
            bucket = self._buckets.get(shingle, [])
            if isinstance(bucket, int):
                hot += 1
                continue
            for other in bucket:
                if other != document:
                    counts[other] = counts.get(other, 0) + 1
        least = max(1, COMMON - hot) if self._least is None else 1
        candidates = sorted((other for other in counts if counts[other] >= least), key=lambda other: -counts[other])
        best: tuple[float, int, bytes | None] = (0, 0, None)
        for other in candidates[:CANDIDATES]:
            record = self._records[other]
            close = self._closeness(new, record)
            if close is not None:
                best = max(best, (close, -record.number, other))
        return best[2], hot

    def _enter(self, document: bytes, compared: Hashes, digest: bytes) -> None:
        for shingle in looked_up(compared):
            bucket = self._buckets.setdefault(shingle, [])
            if isinstance(bucket, int):
                self._buckets[shingle] = bucket + 1
            elif len(bucket) < self._hot:
                bucket.append(document)
            else:
                self._buckets[shingle] = len(bucket) + 1
        self._exact[digest] = document

    def _take_out(self, document: bytes, record: Record) -> None:
        if record.sketch is None:
            return
        for shingle in looked_up(record.compared):
            bucket = self._buckets[shingle]
            if isinstance(bucket, int):
                bucket = self._buckets[shingle] = bucket - 1
            else:
                bucket.remove(document)
            if not bucket:
                del self._buckets[shingle]
        if self._exact.get(digest := digest_of(record.compared)) == document:
            del self._exact[digest]

    def _forget(self, now: int) -> None:
        """Forget documents that are due; one that was met since it was queued gets another turn."""
        for left in reversed(range(FORGOTTEN)):
            if not self._queue:
                return
            document = self._queue[0]
            record = self._records[document]
            over = len(self._queue) > self._cap
            if not over and record.queued + self._ttl > now:
                return
            self._queue.popleft()
            if record.met and not (over and left == 0):
                record.met, record.queued = False, now
                self._queue.append(document)
            else:
                self._take_out(document, record)
                del self._records[document]
