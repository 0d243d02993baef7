"""The messages between the crawl's process and a cleaning process: pages to read or clean, and the results.

A message is its length (4 bytes, little-endian, not counting these), the length of its head (4 bytes), the head in
JSON, and the parts. The head has the type and the length of each part under ``"parts"``. Nothing is ever executed.
"""

from __future__ import annotations

import json
import struct
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from scrapy_winnow.fields import CleanedItem, CleaningOptions
from scrapy_winnow.storage.evidence import HashedUnits, UnitCounts
from winnow.page.page import Limits, PageTooLarge
from winnow.rules import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

_LENGTH: Final = struct.Struct("<I")
_PARTS: Final = "parts"
_TEXT, _BYTES = "text", "bytes"  # types of parts; that of an array is its dtype


@dataclass(frozen=True, slots=True, eq=False)
class Message:
    """One message.

    Attributes:
        head: values that JSON can hold; text may have lone surrogates.
        parts: large or binary values: text, bytes or arrays of one dimension.
    """

    head: dict[str, Any]
    parts: tuple[Any, ...] = ()

    def packed(self) -> bytes:
        """Return the message as it is sent."""
        typed = [_packed_part(part) for part in self.parts]
        plain = {**self.head, _PARTS: [(kind, len(data)) for kind, data in typed]}
        head = json.dumps(plain, ensure_ascii=False, check_circular=False).encode("utf-8", "surrogatepass")
        parts = [data for _, data in typed]
        length = _LENGTH.size + len(head) + sum(map(len, parts))
        return b"".join((_LENGTH.pack(length), _LENGTH.pack(len(head)), head, *parts))


class MessageReader:
    """Puts messages together from bytes as they come in."""

    def __init__(self) -> None:
        self._received = bytearray()

    def feed(self, data: bytes) -> Iterator[Message]:
        """Add bytes, and yield the messages that they complete."""
        self._received += data
        while len(self._received) >= _LENGTH.size:
            end = _LENGTH.size + _LENGTH.unpack_from(self._received)[0]
            if len(self._received) < end:
                return
            with memoryview(self._received) as received:
                message = _unpacked(received[_LENGTH.size : end])
            del self._received[:end]
            yield message


def _unpacked(body: memoryview) -> Message:
    at = _LENGTH.size + _LENGTH.unpack_from(body)[0]
    head = json.loads(str(body[_LENGTH.size : at], "utf-8", "surrogatepass"))
    parts = []
    for kind, length in head.pop(_PARTS):
        parts.append(_unpacked_part(kind, body[at : at + length]))
        at += length
    return Message(head, tuple(parts))


def _packed_part(part: str | bytes | NDArray[Any]) -> tuple[str, bytes]:
    """Return the type of a part, and its bytes."""
    if isinstance(part, str):
        return _TEXT, part.encode("utf-8", "surrogatepass")
    return (_BYTES, part) if isinstance(part, bytes) else (part.dtype.str, part.tobytes())


def _unpacked_part(kind: str, data: memoryview) -> str | bytes | NDArray[Any]:
    if kind == _TEXT:
        return str(data, "utf-8", "surrogatepass")
    return bytes(data) if kind == _BYTES else np.frombuffer(data, kind).copy()


@dataclass(frozen=True, slots=True, eq=False)
class CleaningTask:
    """The arguments of :func:`scrapy_winnow.fields.clean_item`.

    Attributes:
        kept: number of a page that the process has read and may have kept; then the page itself is not sent.
    """

    html: str | bytes
    url: str | None
    counts: UnitCounts | None
    options: CleaningOptions
    model: str | None
    rules: tuple[Rule, ...] = ()
    kept: int | None = None


def pack_task(task: CleaningTask) -> bytes:
    """Return a task as it is sent."""
    html, counts = task.html if task.kept is None else b"", task.counts
    head: dict[str, Any] = {name: getattr(task, name) for name in ("url", "model", "rules", "kept")}
    head |= {"options": asdict(task.options), "counts": None}
    if counts is None:
        return Message(head, (html,)).packed()
    head["counts"] = [counts.size, counts.pages, counts.label_version]
    return Message(head, (html, counts.units, counts.df)).packed()


def unpack_task(message: Message) -> CleaningTask:
    """Return the argument of :func:`pack_task`."""
    head, (html, *arrays) = message.head, message.parts
    counts = None
    if head["counts"] is not None:
        (size, pages, label_version), (units, df) = head["counts"], arrays
        counts = UnitCounts(size, units, df, pages, label_version)
    options, rules = CleaningOptions.of(head["options"]), tuple(Rule(*rule) for rule in head["rules"])
    return CleaningTask(html, head["url"], counts, options, head["model"], rules, head["kept"])


FAILED: Final = Message({"values": None})
"""The answer for a page that could not be read or cleaned."""

FORGOTTEN: Final = Message({"values": None, "forgotten": True})
"""The answer for a page that is not kept any more: the page itself must be sent."""


def pack_cleaned(cleaned: CleanedItem) -> bytes:
    """Return a cleaned item as it is sent."""
    return Message({"values": cleaned.values}, (cleaned.shingles,)).packed()


def unpack_cleaned(message: Message) -> CleanedItem | None:
    """Return the argument of :func:`pack_cleaned`; ``None`` for a page that could not be cleaned."""
    values = message.head["values"]
    return None if values is None else CleanedItem(values, *message.parts)


def pack_reading(number: int, html: str | bytes, url: str, limits: Limits, model: str | None) -> bytes:
    """Return a page to read as it is sent; unlike that of a task, the head has a field ``read``.

    The page is cleaned later by its ``number``; ``model`` computes its places.
    """
    return Message({"read": number, "url": url, "limits": asdict(limits), "model": model}, (html,)).packed()


def unpack_reading(message: Message) -> tuple[int, str | bytes, str, Limits, str | None]:
    """Return the argument of :func:`pack_reading`."""
    head, (html,) = message.head, message.parts
    return head["read"], html, head["url"], Limits(**head["limits"]), head["model"]


def pack_hashed(hashed: HashedUnits | PageTooLarge) -> bytes:
    """Return the fingerprints of a page as they are sent, or that it is too large."""
    if isinstance(hashed, PageTooLarge):
        return Message({"too_large": [hashed.reason, hashed.size, hashed.limit]}).packed()
    parts = (hashed.units, hashed.fingerprints, hashed.masses, hashed.contents_id, hashed.main_text_id)
    return Message({"size": hashed.size}, parts).packed()


def unpack_hashed(message: Message) -> HashedUnits | None:
    """Return the fingerprints of a page; ``None`` if it could not be read.

    Raises:
        PageTooLarge: the page is above one of the limits.
    """
    if "too_large" in message.head:
        raise PageTooLarge(*message.head["too_large"])
    return HashedUnits(message.head["size"], *message.parts) if "size" in message.head else None
