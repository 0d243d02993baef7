"""The near-duplicate index in Redis, on one server or a cluster: plain keys with an expiry.

Two kinds of keys, see :func:`scrapy_tamis.storage.keys.index_key`: what an original is found by, which holds the id of
the original, and the original itself. What is known around a document is fetched,
:class:`tamis.duplicates.MemoryIndex` decides, and what changed is written. Most documents have nothing in common with
any other: where the keys are on one server, a script enters these at once.
"""

from __future__ import annotations

import struct
import time
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Final

from scrapy_tamis.storage.batches import Script
from scrapy_tamis.storage.connection import NEAR_DUPLICATES
from scrapy_tamis.storage.keys import index_key, original_key
from tamis.duplicates import KEEP, Document, MemoryIndex, Verdict, document_id, make_document

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import NDArray

    from scrapy_tamis.storage.batches import Command
    from scrapy_tamis.storage.connection import Connection

    Hashes = NDArray[np.uint64]

MAX_URL_CHARS: Final = 2_048
"""Characters of an original's address that are kept: a data: address is as long as its page."""

_ATTEMPTS: Final = 4
"""Attempts to decide a document while other processes enter near-duplicates of it."""

_RENEWALS: Final = 8
"""The expiry of an original that is met is renewed when this part of its life is over."""

_ENTER_NEW: Final = Script.load("enter_new")

_HEAD: Final = struct.Struct(">I?H")
"""An original: when it was written, in seconds; whether its sketch is complete; bytes of the sketch. Sketch and address
follow."""


@dataclass(frozen=True, eq=False)
class DuplicateIndex:
    """The index of :class:`tamis.duplicates.MemoryIndex` in Redis, shared by all processes with the same prefix.

    Deciding takes a round trip to look up what a document may repeat, one for the originals found, and one to enter it
    if it repeats none; in each of them a server gets one pipeline. On one server the first enters a document itself
    that shares no key with any other. Keys are only written where there are none. When another process has written some
    of them meanwhile the document is decided again, so of two near-duplicates that come at the same moment one becomes
    the original. Calls may be repeated: a document that is entered already gets the same verdict.

    Args:
        ttl: seconds that a document is remembered after it was last met.
        keep: as of :class:`~tamis.duplicates.MemoryIndex`.
        min_resemblance: as of :class:`~tamis.duplicates.MemoryIndex`; all processes should have the same.
    """

    connection: Connection
    prefix: str
    _: KW_ONLY
    ttl: int = 30 * 86_400
    keep: int = KEEP
    min_resemblance: float | None = None

    async def find(self, url: str, hashes: Hashes, *, enter: bool = True) -> Verdict | None:
        """Return the verdict on a document, and remember it; ``None`` when Redis is unreachable.

        Args:
            url: address of the document.
            hashes: uint64, the shingles of its clean text.
            enter: ``False`` only looks, and writes nothing.
        """
        name, document = document_id(url), make_document(url[:MAX_URL_CHARS], hashes, self.keep)
        verdict = Verdict()
        for _ in range(_ATTEMPTS):
            window = _Window(self.keep, self.min_resemblance)
            if not await self._fetch(window, name, document, enter=enter):
                return None
            verdict = window.decide(name, document, enter=enter)
            commands = self._writes(window, verdict) if enter and not window.is_entered else []
            if not commands:
                break
            replies = await self.connection.run_commands(commands)
            if replies is None:
                return None
            if None not in replies:  # of SET with NX, where another process was faster
                break
        return verdict

    async def _fetch(self, window: _Window, name: bytes, document: Document, *, enter: bool) -> bool:
        """Fetch the originals that a document may repeat; ``False`` when Redis is unreachable."""
        keys = set(document.keys)
        enters = enter and bool(keys) and not self.connection.is_cluster
        if not await self._fetch_parts(window, {name}, keys, document if enters else None):
            return False
        replaced = {key for known in window.documents.values() for key in known.keys}
        return await self._fetch_parts(window, {*window.holders.values()} - {name}, replaced - keys)

    async def _fetch_parts(
        self, window: _Window, names: set[bytes], keys: set[bytes], new: Document | None = None
    ) -> bool:
        """Fetch originals and holders of keys; if there are none, enter the document whose name and keys they are."""
        wanted = [original_key(self.prefix, name) for name in names]
        wanted += [index_key(self.prefix, key) for key in keys]
        if not wanted:
            return True
        if new is not None:
            entry = (_pack(new, int(time.time())), *names, self.ttl)
            values = await self.connection.run(_ENTER_NEW, wanted, entry, NEAR_DUPLICATES)
            window.is_entered = values == []
        elif self.connection.is_cluster:
            values = await self.connection.run_commands([("GET", key) for key in wanted])
        else:  # one command is faster
            (values,) = await self.connection.run_commands([("MGET", *wanted)]) or [None]
        if values:
            window.add(zip(names, values, strict=False), zip(keys, values[len(names) :], strict=True))
        return values is not None

    def _writes(self, window: _Window, verdict: Verdict) -> list[Command]:
        """The commands that make the index what the window has become, and renew an original that was met."""
        now, life = int(time.time()), ("EX", self.ttl)
        commands: list[Command] = []
        for name, document in window.documents.items():
            if document != window.known.get(name):
                commands.append(("SET", original_key(self.prefix, name), _pack(document, now), *life))
        met = bytes.fromhex(verdict.cluster or "")
        known = window.known.get(met)
        is_same = known is not None and known == window.documents.get(met)
        if known is not None and is_same and window.written[met] + self.ttl // _RENEWALS <= now:
            commands.append(("SET", original_key(self.prefix, met), _pack(known, now), *life))
            commands += [("EXPIRE", index_key(self.prefix, key), self.ttl) for key in known.keys]
        for key, name in window.holders.items():
            if key not in window.held:
                commands.append(("SET", index_key(self.prefix, key), name, *life, "NX"))
            elif window.held[key] != name:
                commands.append(("SET", index_key(self.prefix, key), name, *life))
        gone = window.known.keys() - window.documents.keys()
        commands += [("DEL", original_key(self.prefix, name)) for name in gone]
        commands += [("DEL", index_key(self.prefix, key)) for key in window.held.keys() - window.holders.keys()]
        return commands


class _Window(MemoryIndex):
    """The part of the index around a document, what it was when it was fetched, and whether that has entered it."""

    def __init__(self, keep: int, min_resemblance: float | None) -> None:
        super().__init__(keep=keep, min_resemblance=min_resemblance)
        self.known: dict[bytes, Document] = {}
        self.written: dict[bytes, int] = {}
        self.held: dict[bytes, bytes] = {}
        self.is_entered = False

    def add(
        self, originals: Iterable[tuple[bytes, bytes | None]], holders: Iterable[tuple[bytes, bytes | None]]
    ) -> None:
        """Add originals and holders of keys, as they were fetched."""
        for name, data in originals:
            if data is not None and (document := _unpack(data)) is not None:
                self.known[name], self.written[name] = document
        self.held |= {key: name for key, name in holders if name is not None}
        self.documents, self.holders = dict(self.known), dict(self.held)


def _pack(document: Document, now: int) -> bytes:
    head = _HEAD.pack(now, document.is_complete, len(document.sketch))
    return head + document.sketch + document.url.encode("utf-8", "surrogatepass")


def _unpack(data: bytes) -> tuple[Document, int] | None:
    """Return the original that a key holds and when it was written; ``None`` for a foreign value."""
    try:
        written, is_complete, size = _HEAD.unpack_from(data)
        sketch, url = data[_HEAD.size : _HEAD.size + size], data[_HEAD.size + size :].decode("utf-8", "surrogatepass")
    except (struct.error, UnicodeDecodeError):
        return None
    return (Document(url, sketch, is_complete), written) if len(sketch) == size and size % 6 == 0 else None
