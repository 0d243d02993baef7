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
    from redis.client import Pipeline

_BATCH: Final = 500
_SCANNED: Final = 5_000  # keys a round trip: most of them are those of the near-duplicate index
_FIELDS: Final = ("pages", "entries", "version", "used", "labelled", "changed", "settles_at", "stamp")
_ALL_PAGES: Final = 255


@dataclass(frozen=True, slots=True)
class HostRecord:
    """One host.

    Attributes:
        host: its name, as :func:`scrapy_tamis.storage.keys.site_of` gives it.
        state: ``counting`` or ``settled``; ``evicted`` where the server has dropped some of its keys: it has no
            evidence, and starts again with its next page.
        pages: pages counted, until it settled where it has.
        nodes: nodes held while it is counting.
        labels: nodes that are template by now. While it is counting they are checked whenever its pages have grown by
            an eighth, from the fourth page on.
        changed: fraction of the template's text whose label was another one at the last check than while the labels
            were last stable.
        settles_at: pages at which it settles if its labels do not change, 0 for never.
        label_version: how often its labels have been frozen.
        used: when its last page was counted or its labels were confirmed, by the server's clock, in seconds since 1970.
        bytes: what its keys take in Redis; ``None`` where the user may not ask.
    """

    host: str
    state: str
    pages: int
    nodes: int
    labels: int
    changed: float
    settles_at: int
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
        """Look hosts up, hundreds at a time; unknown and damaged ones, which a crawl counts again, are left out."""
        left = iter(hosts)
        while batch := list(islice(left, _BATCH)):
            yield from self._look_up(batch)

    def _look_up(self, hosts: list[str]) -> Iterator[HostRecord]:
        pipeline = self.client.pipeline(transaction=False)
        for host in hosts:
            keys = host_keys(self.prefix, host)
            pipeline.hmget(keys.state, _FIELDS)
            pipeline.hstrlen(keys.state, "labels")
            _ask_for_held(pipeline, keys)
            for key in keys:
                pipeline.memory_usage(key, samples=0)
        replies = iter(pipeline.execute(raise_on_error=False))
        for host in hosts:
            known = values, frozen, *held = list(islice(replies, 2 + _HELD_REPLIES))
            sizes = list(islice(replies, len(HostKeys._fields)))
            if refusal := next((each for each in known if isinstance(each, RedisError)), None):
                if "WRONGTYPE" in str(refusal):
                    continue
                raise refusal
            *fields, stamp = values
            numbers = [int(value) if value and value.isdigit() else 0 for value in fields]
            pages, entries, version, used, labels, changed, settles_at = numbers
            state = "settled" if stamp is not None else "counting" if _is_whole(pages, entries, held) else "evicted"
            if state != "counting":
                labels, changed, settles_at = frozen // LABEL.itemsize, 0, 0
            is_size_known = not any(isinstance(size, RedisError) for size in sizes)
            size = sum(size or 0 for size in sizes) if is_size_known else None
            if used:
                of_labels = labels, changed / 1_000, settles_at
                yield HostRecord(host, state, pages, entries, *of_labels, version, used, size)

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
        pipeline = self.client.pipeline(transaction=False)
        pipeline.hmget(keys.state, ["pages", "version", "labels", "expected", "entries"])
        pipeline.hgetall(keys.nodes)
        _ask_for_held(pipeline, keys)
        fields, entries, *held = pipeline.execute()
        pages, frozen = int(fields[0] or 0), int(fields[1] or 0)
        if fields[2] is not None:
            return Labels.unpack(pages, frozen, fields[2], float(fields[3] or 0))
        is_known = pages >= (1 if every else MIN_PAGES) and _is_whole(pages, int(fields[4] or 0), held)
        if not is_known or not entries:
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


_HELD_REPLIES: Final = len(HostKeys._fields) - 2


def _ask_for_held(pipeline: Pipeline, keys: HostKeys) -> None:
    """Ask whether a host has its guard, and how many nodes each of its keys holds."""
    pipeline.exists(keys.guard)
    pipeline.hlen(keys.nodes)
    for key in keys[4:]:
        pipeline.scard(key)


def _is_whole(pages: int, entries: int, held: list[int]) -> bool:
    """Whether a host has all that it says, from the replies to :func:`_ask_for_held`; its next page may be in them."""
    has_guard, *sizes = held
    return not pages or (bool(has_guard) and sum(sizes) >= entries)


def ago(seconds: int) -> str:
    """Format a time in the past for users: ``12 s``, ``5 min``, ``3 h`` or ``9 d`` ago."""
    past = max(int(time.time()) - seconds, 0)
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if past >= 2 * length:
            return f"{past // length} {unit}"
    return f"{past} s"
