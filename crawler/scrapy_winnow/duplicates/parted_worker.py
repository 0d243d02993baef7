"""A worker of ``winnow dedup`` on a cluster, where no script can take, decide and acknowledge in one piece."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

import numpy as np

from scrapy_winnow.duplicates.parted_index import PartedIndex
from scrapy_winnow.duplicates.parts import Operation
from scrapy_winnow.duplicates.worker import Batch, Worker
from scrapy_winnow.storage.clients import is_cluster
from scrapy_winnow.storage.keys import DecidingKeys
from scrapy_winnow.storage.lease import Lease
from scrapy_winnow.storage.scripts import Script
from winnow.duplicates.documents import KEY_SHIFT, Record

if TYPE_CHECKING:
    from collections.abc import Coroutine, Sequence

    from redis import Redis

    from scrapy_winnow.duplicates.index import IndexOptions

T = TypeVar("T")

LEASE: Final = 10.0
"""Seconds until a worker that has died is replaced."""

_KEPT_FOR: Final = 30 * 86_400
"""Seconds that a batch is kept which nobody finishes."""

_ID: Final = 8
_MOST_SHINGLES: Final = 1024
_VERDICT: Final = ("url", "host", "id", "label", "duplicate_of", "resemblance", "cluster")


class PartedWorker(Worker):
    """One member of a group of workers on the stream of documents of a cluster.

    One worker is in charge, and the others wait for its lease to run out. It looks at the next entries without taking
    them, decides them, keeps what is to be written under one key, writes it to the parts of the index, and then one
    script takes the entries, writes the verdicts and acknowledges. Whoever takes over finds either nothing of a batch,
    which is then decided as if it were new, or all of it, which is written once more. So no document is decided twice
    or left out, and they are decided in the order of the stream.

    Args:
        client: the way to the cluster.
        options: of the index.
        lease: seconds until a worker that has died is replaced.
        about: as of :class:`~scrapy_winnow.duplicates.worker.Worker`.
    """

    def __init__(self, client: Redis, options: IndexOptions, *, lease: float = LEASE, **about: Any) -> None:
        super().__init__(client, options, **about)
        self._life = 3 * options.ttl
        self._keys = DecidingKeys.of(options.prefix, self._group)
        self._lease = Lease(client, self._keys, lease)
        self._lease_seconds = lease
        self._index = PartedIndex(self._run_all, options)
        self._keep = Script("duplicates/parts/keep_batch").of(client)
        self._finish = Script("duplicates/parts/finish_batch").of(client)

    def decide(self) -> Batch:
        """Decide the next documents; see :meth:`~scrapy_winnow.duplicates.worker.Worker.decide`."""
        if not self._lease.take():
            return Batch(0, 0, 0, 0, 0, is_last=not self._next())
        kept: Any = self._client.get(self._keys.batch)
        batch = json.loads(kept) if kept else self._decided_batch()
        if batch is None:
            return Batch(0, 0, 0, 0, 0)
        writes = [Operation(name, bytes.fromhex(field), bytes.fromhex(value)) for name, field, value in batch["writes"]]
        _result(self._index.write(writes))
        rows = batch["rows"]
        keys = [self._documents, self.verdicts, self._keys.lease, self._keys.batch, self._keys.decided]
        arguments = [self._lease.token, self._group, self._name, self._kept, self._life, *batch["fresh"]]
        for entry, row in rows:
            arguments += [entry, int(row is not None), *(text.encode("utf-8", "surrogatepass") for text in row or [])]
        taken = self._finish(keys, arguments)
        if taken < 0:
            return Batch(0, 0, 0, 0, 0, is_last=False)
        near = sum(row is not None and bool(row[_VERDICT.index("duplicate_of")]) for _, row in rows)
        return Batch(taken, near, sum(row is None for _, row in rows), batch["claimed"], 0)

    def leave(self) -> None:
        """Take this worker off the list of its group, and let another be in charge."""
        self._lease.leave()
        super().leave()

    def wait(self, seconds: float) -> None:
        """Wait for another document, or for the worker in charge to go."""
        if self._lease.token:
            super().wait(seconds)
        else:
            time.sleep(min(seconds, self._lease_seconds / 4))

    def _decided(self) -> Any:
        return self._client.get(self._keys.decided)

    def _next(self) -> list[tuple[bytes, dict[bytes, bytes] | None, bool]]:
        """The next entries: id, fields, and whether it was never delivered; fields are ``None`` when they have gone."""
        stream, group, client = self._documents, self._group, self._client
        pending: Any = client.xpending_range(stream, group, "-", "+", self._batch, idle=self._claim_after)
        found: list[tuple[bytes, dict[bytes, bytes] | None, bool]] = []
        for about in pending:
            entry = about["message_id"]
            read: Any = client.xrange(stream, entry, entry)
            found.append((entry, read[0][1] if read else None, False))
        if left := self._batch - len(found):
            groups: Any = client.xinfo_groups(stream)
            last = next(about["last-delivered-id"] for about in groups if about["name"] == group.encode())
            entries: Any = client.xrange(stream, f"({last.decode()}", "+", count=left)
            found += [(entry, fields, True) for entry, fields in entries]
        return found

    def _decided_batch(self) -> dict[str, Any] | None:
        """Decide the next entries, and keep what came of it; ``None`` when there are none, or another is in charge."""
        entries = self._next()
        if not entries:
            return None
        documents = [None if fields is None else _document_in(fields) for _, fields, _ in entries]
        decided = _result(self._index.decide([document for document in documents if document is not None]))
        assert decided is not None  # noqa: S101 - the calls of a worker raise their errors
        verdicts = iter(decided.verdicts)
        rows = []
        for (entry, fields, _), document in zip(entries, documents, strict=True):
            row = None
            if document is not None and fields is not None:
                verdict = next(verdicts)
                share = "" if verdict.resemblance is None else f"{verdict.resemblance:.4f}"
                row = [
                    document[1].url, _text(fields.get(b"host", b"")), document[0].hex(),
                    _text(fields.get(b"label", b"")), verdict.duplicate_of or "", share,
                    verdict.cluster or "",
                ]  # fmt: skip
            rows.append((entry.decode(), row))
        writes = [(operation.name, operation.field.hex(), operation.value.hex()) for operation in decided.writes]
        fresh = [entry.decode() for entry, _, is_new in entries if is_new]
        ends = (fresh[0], fresh[-1]) if fresh else ("", "")
        batch = {"rows": rows, "writes": writes, "fresh": ends, "claimed": len(entries) - len(fresh)}
        kept = self._keep([self._keys.batch, self._keys.lease], [self._lease.token, json.dumps(batch), _KEPT_FOR])
        return batch if kept else None

    async def _run_all(self, script: Script, calls: Sequence[tuple[Any, Any]], *, can_wait: bool = False) -> list[Any]:
        """Run a script several times, one call after the other."""
        del can_wait  # nobody else has anything to send
        run = script.of(self._client)
        return [run(keys, arguments) for keys, arguments in calls]


def worker_on(client: Redis, options: IndexOptions, *, lease: float = LEASE, **about: Any) -> Worker:
    """Return a worker for a server, which needs no lease, or for a cluster; see :class:`PartedWorker`."""
    if is_cluster(client):
        return PartedWorker(client, options, lease=lease, **about)
    return Worker(client, options, **about)


def _result(work: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine all of whose calls block, so that it ends at the first step."""
    try:
        work.send(None)
    except StopIteration as end:
        return cast("T", end.value)
    raise RuntimeError("a worker's calls block")


def _document_in(fields: dict[bytes, bytes]) -> tuple[bytes, Record] | None:
    """The document in an entry of the stream; ``None`` for one that is none."""
    document, url, shingles = (fields.get(name, b"") for name in (b"id", b"url", b"shingles"))
    if len(document) != _ID or b"url" not in fields or b"shingles" not in fields:
        return None
    if len(shingles) % 8 or len(shingles) > 8 * _MOST_SHINGLES or fields.get(b"complete") not in {b"0", b"1"}:
        return None
    sketch = np.frombuffer(shingles, ">u8").astype(np.uint64) >> KEY_SHIFT
    return document, Record(0, met=False, url=_text(url), sketch=sketch, complete=fields[b"complete"] == b"1")


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace")
