"""The near-duplicate index in Redis, on one server or a cluster: plain keys with an expiry, two for each original.

The *home* of an original, its first key, holds its sketch and its address, and its second key, an alias, the name of
the home (:class:`tamis.duplicates.Windows`). Near-duplicates take no memory. A key that several originals
share, such as reports of a series, holds the last eight.
"""

from __future__ import annotations

import struct
import time
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from scrapy_tamis.storage.batches import Script
from scrapy_tamis.storage.connection import NEAR_DUPLICATES
from scrapy_tamis.storage.keys import near_keys
from tamis.duplicates import (
    MAX_PER_KEY,
    MIN_RESEMBLANCE,
    SKETCH_BYTES,
    Original,
    Sketch,
    Verdict,
    find_original,
    is_same_page,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from scrapy_tamis.storage.connection import Connection
    from tamis.duplicates import Windows

MAX_URL_CHARS: Final = 2_048
"""Characters of an original's address that are kept: a data: address is as long as its page."""

_ENTER: Final = Script.load("enter")
_MAX_TRIES: Final = 16
"""Times that a document is looked up while others with its keys are entered; then it is not entered itself."""

_LENGTH: Final = struct.Struct(">H")  # of each entry of a key; the name of a home, or a record:
_SKETCH: Final = struct.Struct(f">H{SKETCH_BYTES}s")  # level and size; parities; then the address, and at the end
_KEPT: Final = struct.Struct(">I")  # the time
_LEVEL: Final = 1_024  # above the sizes of sketches
_HOME_BYTES: Final = 6


class Record(NamedTuple):
    """An original as its home holds it.

    Attributes:
        home: key of the index.
        original: address and sketch.
        kept: when an item with its text was last stored, in seconds since 1970.
    """

    home: bytes
    original: Original
    kept: int

    def pack(self) -> bytes:
        """Return the entry of its home."""
        (level, size, parities), url = self.original.sketch, self.original.url.encode("utf-8", "surrogatepass")
        return _pack(_SKETCH.pack(_LEVEL * level + size, parities) + url + _KEPT.pack(self.kept))


@dataclass(frozen=True, eq=False)
class DuplicateIndex:
    """The index of :class:`tamis.duplicates.MemoryIndex` in Redis, shared by all processes with the same prefix.

    On one server a script looks a document up and enters it, if it shares no key with another: one round trip, as for
    most documents and their exact copies. It takes another one to follow aliases to homes that were not looked up, and
    another to enter a document that shares keys with others and nearly duplicates none of them, unless these keys have
    changed since it was compared: then it is compared again. So of copies at the same moment one is the original. On a
    cluster, whose scripts see one key, both may become originals. Calls may be repeated.

    Args:
        min_resemblance: as of :class:`~tamis.duplicates.MemoryIndex`.
        ttl: seconds that an original is remembered after it was last met at its own address.
    """

    connection: Connection
    prefix: str
    _: KW_ONLY
    min_resemblance: float = MIN_RESEMBLANCE
    ttl: int = 30 * 86_400

    async def find(self, url: str, windows: Windows, *, enter: bool = True) -> tuple[Verdict, Record | None] | None:
        """Return the verdict on a document with the record of its original, which it may be itself, and remember it.

        Args:
            url: address of the document.
            windows: of its clean text. Without words it has no record.
            enter: ``False`` only looks, and writes nothing.

        Returns:
            ``None`` when Redis is unreachable.
        """
        keys, own = windows.keys, Original(url[:MAX_URL_CHARS], windows.sketch)
        if not keys:
            return Verdict(), None
        record = Record(keys[0], own, int(time.time()))
        entries = record.pack(), _pack(record.home)
        values = await (self._enter(keys, entries) if enter else self._get(keys))
        for _ in range(_MAX_TRIES):
            if not values:
                break
            held = dict(zip(keys, values, strict=True))
            if homes := {home for value in values for home in _read_homes(value)} - held.keys():
                if (more := await self._get(list(homes))) is None:
                    return None
                held.update(zip(homes, more, strict=True))
            known = [each for home, value in held.items() for each in _read_records(home, value)]
            verdict = find_original(own.url, windows, (each.original for each in known), self.min_resemblance)
            if verdict.duplicate_of is not None:
                return verdict, next(each for each in known if each.original.url == verdict.duplicate_of)
            if not enter:
                break
            alias = values[1] if len(values) > 1 else None
            entries = _add_record(values[0], record), _add_home(alias, record.home)
            values = await self._enter(keys, entries, values)
        return None if values is None else (Verdict(), record)

    async def set_kept(self, record: Record, kept: int) -> None:
        """Note when an item with the text of an original was stored; 0 for none in this crawl."""
        for value in await self._get([record.home]) or ():
            records = [
                each._replace(kept=kept) if each.original.url == record.original.url else each
                for each in _read_records(record.home, value)
            ]
            packed = _pack_all(records, _read_homes(value))
            await self.connection.run_commands([("SET", *near_keys(self.prefix, [record.home]), packed, "KEEPTTL")])

    async def _get(self, keys: list[bytes]) -> list[bytes | None] | None:
        names = near_keys(self.prefix, keys)
        parts = [[name] for name in names] if self.connection.is_cluster else [names]
        found = await self.connection.run_commands([("MGET", *part) for part in parts])  # GET refuses other types
        return None if found is None else [value for values in found for value in values]

    async def _enter(
        self, keys: list[bytes], entries: tuple[bytes, bytes], seen: list[bytes | None] | None = None
    ) -> list[bytes | None] | None:
        """Enter an original, if its keys hold what was seen, or without that nothing else; or return what they hold."""
        names = near_keys(self.prefix, keys)
        if not self.connection.is_cluster:
            expected = [value or b"" for value in seen or ()]
            found: list[bytes | None] | None = await self.connection.run(
                _ENTER, names, (*entries, self.ttl, *expected), NEAR_DUPLICATES
            )
            return found
        if seen is None:
            return await self._get(keys)
        commands = [("SET", name, entry, "EX", self.ttl) for name, entry in zip(names, entries, strict=False)]
        return None if await self.connection.run_commands(commands) is None else []


def _add_record(value: bytes | None, record: Record) -> bytes:
    """Return what a home holds with another original beside its latest ones."""
    others = [
        each for each in _read_records(record.home, value) if not is_same_page(each.original.url, record.original.url)
    ]
    return _pack_all([*others[1 - MAX_PER_KEY :], record], _read_homes(value))


def _add_home(value: bytes | None, home: bytes) -> bytes:
    """Return what an alias holds with another home beside its latest ones."""
    others = [each for each in _read_homes(value) if each != home]
    return _pack_all(_read_records(b"", value), [*others[1 - MAX_PER_KEY :], home])


def _pack_all(records: Iterable[Record], homes: Iterable[bytes]) -> bytes:
    return b"".join([each.pack() for each in records] + [_pack(home) for home in homes])


def _pack(entry: bytes) -> bytes:
    return _LENGTH.pack(len(entry)) + entry


def _split(value: bytes | None) -> Iterator[bytes]:
    """Go through the entries of a key; of a value that is not ours, nothing that could be one."""
    begin = 0
    while value and begin + _LENGTH.size <= len(value):
        end = begin + _LENGTH.size + _LENGTH.unpack_from(value, begin)[0]
        yield value[begin + _LENGTH.size : end]
        begin = end


def _read_homes(value: bytes | None) -> list[bytes]:
    return [entry for entry in _split(value) if len(entry) == _HOME_BYTES]


def _read_records(home: bytes, value: bytes | None) -> list[Record]:
    found = []
    for entry in _split(value):
        if len(entry) >= _SKETCH.size + _KEPT.size:
            head, parities = _SKETCH.unpack_from(entry)
            with suppress(UnicodeDecodeError):
                url = entry[_SKETCH.size : -_KEPT.size].decode("utf-8", "surrogatepass")
                original = Original(url, Sketch(head // _LEVEL, head % _LEVEL, parities))
                found.append(Record(home, original, *_KEPT.unpack(entry[-_KEPT.size :])))
    return found
