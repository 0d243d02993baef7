"""What Redis knows of the hosts that were counted, for commands: their state, and their labels to take elsewhere."""

from __future__ import annotations

import glob
import hashlib
import time
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from redis.exceptions import RedisError

from scrapy_tamis.storage.evidence import ENTRY
from scrapy_tamis.storage.keys import HostKeys, host_keys
from scrapy_tamis.storage.settled import LABEL, Labels
from tamis.counting import MIN_DF, MIN_PAGES, THETA

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from redis import Redis

_BATCH: Final = 500
_SCANNED: Final = 5_000  # keys a round trip: most of them are those of the near-duplicate index
_FIELDS: Final = ("pages", "entries", "version", "used", "stamp")
_ALL_PAGES: Final = 255


@dataclass(frozen=True, slots=True)
class HostRecord:
    """One host.

    Attributes:
        host: its name, as :func:`scrapy_tamis.storage.keys.site_of` gives it.
        state: ``counting`` or ``settled``.
        pages: pages counted, until it settled where it has.
        nodes: nodes held while it is counting.
        labels: nodes that its frozen labels call template.
        label_version: how often its labels have been frozen.
        used: when its last page was counted or its labels were confirmed, by the server's clock, in seconds since 1970.
        bytes: what its keys take in Redis; ``None`` where the user may not ask.
    """

    host: str
    state: str
    pages: int
    nodes: int
    labels: int
    label_version: int
    used: int
    bytes: int | None


@dataclass(eq=False)
class HostRecords:
    """The hosts below one prefix on a server."""

    client: Redis
    prefix: str

    def all(self) -> Iterator[HostRecord]:
        """Go through all hosts, in no order."""
        before, after = host_keys(self.prefix, "\n").state.split("\n")
        pattern = glob.escape(before).replace("\\", r"\\")  # which is special in Redis only
        keys = self.client.scan_iter(match=f"{pattern}*{after}", count=_SCANNED)
        yield from self.named(key[len(before) : -len(after)].decode(errors="replace") for key in keys)

    def named(self, hosts: Iterable[str]) -> Iterator[HostRecord]:
        """Look hosts up, some hundreds at a time, but for unknown ones and damaged ones, which a crawl counts anew."""
        left = iter(hosts)
        while batch := list(islice(left, _BATCH)):
            yield from self._look_up(batch)

    def _look_up(self, hosts: list[str]) -> Iterator[HostRecord]:
        pipeline = self.client.pipeline(transaction=False)
        for host in hosts:
            keys = host_keys(self.prefix, host)
            pipeline.hmget(keys.state, _FIELDS)
            pipeline.hstrlen(keys.state, "labels")
            for key in keys:
                pipeline.memory_usage(key, samples=0)
        replies = iter(pipeline.execute(raise_on_error=False))
        for host in hosts:
            values, labels, *sizes = islice(replies, 2 + len(HostKeys._fields))
            refusal = next((each for each in (values, labels) if isinstance(each, RedisError)), None)
            if refusal is not None:
                if "WRONGTYPE" in str(refusal):
                    continue
                raise refusal
            *numbers, stamp = values
            pages, entries, version, used = (int(value) if value and value.isdigit() else 0 for value in numbers)
            if used:
                state = "counting" if stamp is None else "settled"
                is_size_known = not any(isinstance(size, RedisError) for size in sizes)
                size = sum(size or 0 for size in sizes) if is_size_known else None
                yield HostRecord(host, state, pages, entries, labels // LABEL.itemsize, version, used, size)

    def forget(self, host: str) -> bool:
        """Delete all that is known of a host; return whether something was."""
        return bool(self.client.delete(*host_keys(self.prefix, host)))

    def reopen(self, host: str) -> bool:
        """Have a settled host count again, as after a redesign; return whether it was settled."""
        state = host_keys(self.prefix, host).state
        if not self.client.hexists(state, "stamp"):
            return False
        self.client.hdel(state, "labels", "stamp", "expected", "pages")
        return True

    def labels_of(self, host: str, *, every: bool = False) -> Labels | None:
        """Return the frozen labels of a host or, while it is counting, those that its counts give.

        Args:
            host: its name.
            every: while it is counting, return ``every`` node that is on several pages.

        Returns:
            The labels, or ``None`` for a host that is not known or of which too little is known.

        Raises:
            ValueError: what is held of it is damaged.
        """
        keys = host_keys(self.prefix, host)
        fields: Any = self.client.hmget(keys.state, ["pages", "version", "labels", "expected"])
        pages, frozen = int(fields[0] or 0), int(fields[1] or 0)
        if fields[2] is not None:
            return Labels.unpack(pages, frozen, fields[2], float(fields[3] or 0))
        entries: Any = self.client.hgetall(keys.nodes)
        if pages < (1 if every else MIN_PAGES) or not entries:
            return None
        # As count_page.lua would freeze them now.
        nodes = np.frombuffer(b"".join(entries), "<u8").astype(np.uint64)
        entry = np.frombuffer(b"".join(entries.values()), ENTRY)
        seen = entry["seen"].astype(np.int64)
        chosen = np.flatnonzero(seen >= (0 if every else max(THETA * pages, MIN_DF)))
        chosen = chosen[np.argsort(nodes[chosen])]
        fractions = np.maximum(np.floor(_ALL_PAGES * seen[chosen] / pages + 0.5), 1).astype(np.uint8)
        expected = float((entry["mass"][chosen] * (fractions / _ALL_PAGES) ** 2).sum())
        return Labels(pages, frozen, nodes[chosen], fractions, expected)

    def settle(self, host: str, labels: Labels, ttl: int) -> bool:
        """Make a host that is not known one that is settled with these labels; return whether it was not known."""
        rows = np.empty(len(labels.fingerprints), LABEL)
        rows["fingerprint"], rows["fraction"] = labels.fingerprints, labels.fractions
        packed = rows.tobytes()
        stamp = hashlib.sha1(packed + str(labels.pages).encode(), usedforsecurity=False).hexdigest()
        state, *others = host_keys(self.prefix, host)
        known: Any = self.client.hmget(state, ["stamp", "used"])
        if known[1] is not None:
            return bool(known[0] == stamp.encode())
        fields: dict[Any, Any] = {
            "labels": packed,
            "stamp": stamp,
            "pages": labels.pages,
            "expected": repr(labels.expected),
            "version": max(labels.version, 1),
            "used": int(time.time()),
        }
        self.client.delete(*others)
        self.client.hset(state, mapping=fields)
        self.client.expire(state, ttl)
        return True


def ago(seconds: int) -> str:
    """Format a time in the past for users: ``12 s``, ``5 min``, ``3 h`` or ``9 d`` ago."""
    past = max(int(time.time()) - seconds, 0)
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if past >= 2 * length:
            return f"{past // length} {unit}"
    return f"{past} s"
