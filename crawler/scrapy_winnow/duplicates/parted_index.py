"""The near-duplicate index of a cluster: parted by shingle over its servers, with the verdicts of the other indexes."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from scrapy_winnow.duplicates.index import DuplicateIndex
from scrapy_winnow.duplicates.parts import FIELDS_PER_HASH, LIVES, Layout, Operation, Operations
from scrapy_winnow.duplicates.stored_records import packed_record, record_in
from scrapy_winnow.storage.keys import PARTS, parts_key
from scrapy_winnow.storage.scripts import Script
from winnow.duplicates.documents import KEY_SHIFT, Record, Verdict, digest_of, document_id, looked_up
from winnow.duplicates.index import MemoryIndex
from winnow.duplicates.shingles import KEEP

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence
    from typing import Any

    from scrapy_winnow.duplicates.index import Document, IndexOptions
    from scrapy_winnow.storage.connection import Connection

    Run = Callable[..., Awaitable[list[Any] | None]]

_LOOKS: Final = 1_000
"""Parts of the cap after which a worker asks for the generation again: what it lags behind is a thousandth of it."""

_LOOK_AFTER: Final = 30.0
"""Seconds after which it asks in any case."""


@dataclass(slots=True)
class Decided:
    """Verdicts on documents, and what is to be written for the index to know of them.

    Attributes:
        verdicts: in the order of the documents.
        writes: what is to be written, in any order; it may be written twice.
    """

    verdicts: list[Verdict]
    writes: list[Operation]


@dataclass(slots=True)
class _Known:
    """What a look at the index has found around some documents."""

    records: dict[bytes, Record] = field(default_factory=dict)
    older: set[bytes] = field(default_factory=set)
    buckets: dict[bytes, list[bytes]] = field(default_factory=dict)


class PartedIndex:
    """The index of :class:`winnow.duplicates.index.MemoryIndex` in the servers of a cluster.

    Each of 16 parts has the originals of some of the shingles, and the records of some of the documents. To decide a
    document, what is known of its shingles is fetched, the same code decides as in memory, and what it has changed is
    written: a round trip to look, one to write, and between them one for the originals that may be repeated. In each of
    them a server gets one pipeline.

    Documents are remembered in two generations, the one that is written to and the one before. A new one begins after
    the time to live, or with half of the cap entered; what is met in the one before is entered in the new one again.

    Args:
        run: runs a script with many keys and arguments, and returns the replies, or ``None`` when the cluster is away;
            see :meth:`scrapy_winnow.storage.batches.ScriptBatches.run_all`.
        options: where the index is, and its bounds.
    """

    def __init__(self, run: Run, options: IndexOptions) -> None:
        self._run = run
        self._options = options
        self._part = Script("duplicates/parts/part")
        self._generation = Script("duplicates/parts/generation")
        self._layout: Layout | None = None
        self._entered = 0
        self._looked = 0.0

    async def find(self, url: str, shingles: Any, *, enter: bool = True, can_wait: bool = True) -> Verdict | None:
        """Return the verdict on a document; see :meth:`scrapy_winnow.duplicates.index.DuplicateIndex.find`."""
        verdicts = await self.find_all([(url, shingles)], enter=enter, can_wait=can_wait)
        return None if verdicts is None else verdicts[0]

    async def find_all(
        self, documents: Sequence[Document], *, now: float | None = None, enter: bool = True, can_wait: bool = False
    ) -> list[Verdict] | None:
        """Return the verdicts on documents; see :meth:`scrapy_winnow.duplicates.index.DuplicateIndex.find_all`."""
        shift, keep = KEY_SHIFT, self._options.keep
        made = [
            (document_id(url), Record(0, met=False, url=url, sketch=shingles >> shift, complete=len(shingles) < keep))
            for url, shingles in documents
        ]
        decided = await self.decide(made, now=now, enter=enter, can_wait=can_wait)
        if decided is None or not await self.write(decided.writes, can_wait=can_wait):
            return None
        return decided.verdicts

    async def decide(
        self,
        documents: Sequence[tuple[bytes, Record]],
        *,
        now: float | None = None,
        enter: bool = True,
        can_wait: bool = False,
    ) -> Decided | None:
        """Decide documents in their order and write nothing yet; ``None`` when the cluster is away.

        Args:
            documents: their ids, and themselves with their sketches.
            now: time in seconds; by default that of the servers.
            enter: ``False`` only looks, so that nothing is to be written.
            can_wait: whether calls may wait a little, to go along with others.
        """
        if not await self._look_at_generation(now):
            return None
        asked = {document for document, _ in documents}
        fields = {name for _, record in documents for name in _fields_of(record)}
        known = _Known()
        if not await self._fetch(known, asked, fields, can_wait):
            return None
        near = {other for ids in known.buckets.values() for other in ids}
        near |= {record.original for record in known.records.values() if record.original}
        replaced = {name for record in known.records.values() for name in _fields_of(record)} - fields
        if not await self._fetch(known, near - asked, replaced, can_wait):
            return None
        before = {document: (packed_record(record), _fields_of(record)) for document, record in known.records.items()}
        window = self._window(known)
        verdicts = [window.decide_record(document, record, enter=enter) for document, record in documents]
        met = asked | {bytes.fromhex(verdict.cluster) for verdict in verdicts if verdict.cluster}
        return Decided(verdicts, _writes(window, before, known.older, met) if enter else [])

    async def write(self, writes: Iterable[Operation], *, can_wait: bool = False) -> bool:
        """Write what deciding has given; ``False`` when the cluster is away, and then some of it may be missing."""
        operations = Operations(list(writes))
        self._entered += sum(operation.name == "write" for operation in operations)
        return not operations or (await self._look_at_generation(None) and await self._send(operations, can_wait))

    async def _look_at_generation(self, now: float | None) -> bool:
        """Know which generation is written to, as of late."""
        is_due = time.monotonic() > self._looked + _LOOK_AFTER or self._entered * _LOOKS > self._options.cap
        if self._layout is not None and not is_due and now is None:
            return True
        options, hashes = self._options, 1
        while hashes * PARTS * FIELDS_PER_HASH < options.cap * (KEEP + 1) / 2:
            hashes *= 2
        arguments = [self._entered, "" if now is None else int(now), options.ttl, options.cap, hashes]
        replies = await self._run(self._generation, [([parts_key(options.prefix, "g")], arguments)])
        if replies is None:
            return self._layout is not None
        self._layout, self._entered, self._looked = Layout(*replies[0]), 0, time.monotonic()
        return True

    async def _fetch(self, known: _Known, ids: Iterable[bytes], fields: Iterable[bytes], can_wait: bool) -> bool:
        """Fetch records and buckets; ``False`` when the cluster is away."""
        reads = [Operation("read", name) for name in ids]
        looks = [Operation("look", name) for name in fields]
        operations = Operations(reads + looks)
        if operations and not await self._send(operations, can_wait):
            return False
        for read in reads:
            data, age = operations.reply(read)
            if (record := record_in(data)) is not None:
                known.records[read.field] = record
                if age:
                    known.older.add(read.field)
        for look in looks:
            joined = operations.reply(look)
            known.buckets[look.field] = list(dict.fromkeys(joined[at : at + 8] for at in range(0, len(joined), 8)))
        return True

    async def _send(self, operations: Operations, can_wait: bool) -> bool:
        assert self._layout is not None  # noqa: S101 - the generation was looked at
        options = self._options
        calls = operations.calls(options.prefix, self._layout, LIVES * options.ttl, options.hot + 1)
        replies = await self._run(self._part, calls, can_wait=can_wait)
        if replies is not None:
            operations.take(replies)
        return replies is not None

    def _window(self, known: _Known) -> MemoryIndex:
        """The part of the index that was fetched, to decide in."""
        options = self._options
        sizes = {int.from_bytes(shingle, "big"): len(ids) for shingle, ids in known.buckets.items()}
        return MemoryIndex.of_a_part(
            known.records, sizes, time.time_ns() // 1000, hot=options.hot, keep=options.keep, least=options.least
        )


Index = DuplicateIndex | PartedIndex


def index_of(connection: Connection, options: IndexOptions) -> Index:
    """Return the index of a server, or that of a cluster, whose servers share its work."""
    return PartedIndex(connection.run_all, options) if connection.is_cluster else DuplicateIndex(connection, options)


def _writes(
    window: MemoryIndex, before: dict[bytes, tuple[bytes, list[bytes]]], older: set[bytes], met: set[bytes]
) -> list[Operation]:
    """What has changed, and what was met in the generation before and is to be entered in this one."""
    writes = []
    for document in sorted(met):
        record = window.record(document)
        if record is None:
            continue
        data, fields = packed_record(record), _fields_of(record)
        old_data, old_fields = before.get(document, (b"", []))
        writes += [Operation("leave", name, document) for name in old_fields if name not in fields]
        if old_data != data or document in older:
            writes += [Operation("enter", name, document) for name in fields]
            writes.append(Operation("write", document, data))
    return writes


def _fields_of(record: Record) -> list[bytes]:
    """The fields under which a document is entered: its shingles, and the digest of all of them."""
    if record.sketch is None or len(record.sketch) == 0:
        return []
    compared = record.compared
    return [*(shingle.to_bytes(6, "big") for shingle in looked_up(compared)), digest_of(compared)]
