"""What the crawl's process and a cleaning process send each other: pages to read or clean, and what came out.

A message is its length (4 bytes, little-endian, these not counted), the length of its head (4 bytes), the head in JSON,
and the parts, which are bytes. Under ``"parts"`` the head has the length of each. Nothing is ever executed.
"""

from __future__ import annotations

import json
import struct
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from scrapy_winnow.fields import CleanedItem, CleaningOptions
from scrapy_winnow.storage.evidence import HashedUnits, UnitCounts
from winnow.page.page import Limits, PageTooLarge
from winnow.rules import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

_LENGTH: Final = struct.Struct("<I")
_PARTS: Final = "parts"


@dataclass(frozen=True, slots=True, eq=False)
class Message:
    """One message.

    Attributes:
        head: what JSON can hold; text may have lone surrogates.
        parts: all that is large, or binary.
    """

    head: dict[str, Any]
    parts: tuple[bytes, ...] = ()

    def packed(self) -> bytes:
        """Return the message as it is sent."""
        plain = {**self.head, _PARTS: [len(part) for part in self.parts]}
        head = json.dumps(plain, ensure_ascii=False, check_circular=False).encode("utf-8", "surrogatepass")
        length = _LENGTH.size + len(head) + sum(plain[_PARTS])
        return b"".join((_LENGTH.pack(length), _LENGTH.pack(len(head)), head, *self.parts))


class MessageReader:
    """Puts messages together from bytes as they come in."""

    def __init__(self) -> None:
        self._received = bytearray()

    def feed(self, data: bytes) -> Iterator[Message]:
        """Take bytes, and yield the messages that they complete."""
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
    for length in head.pop(_PARTS):
        parts.append(bytes(body[at : at + length]))
        at += length
    return Message(head, tuple(parts))


@dataclass(frozen=True, slots=True, eq=False)
class CleaningTask:
    """What :func:`scrapy_winnow.fields.clean_item` is to clean, and how.

    Attributes:
        html: the page.
        url: its address, where known.
        counts: what its site's counts say of it, where there are some.
        options: what is the same for all pages of a crawl.
        model: name or path of the model; ``None`` for the package's own.
        rules: the user's own for this page.
        kept: number by which the process has read the page and may have kept it; the page is not sent along then.
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
    head: dict[str, Any] = {
        "url": task.url,
        "model": task.model,
        "rules": task.rules,
        "kept": task.kept,
        "is_text": isinstance(html, str),
        "options": _plain(task.options),
        "counts": None,
    }
    parts = [packed_html(html)]
    if counts is not None:
        head["counts"] = [counts.size, counts.pages, counts.label_version]
        parts += [counts.units.astype("<i4").tobytes(), counts.df.astype("<i4").tobytes()]
    return Message(head, tuple(parts)).packed()


@lru_cache(maxsize=8)
def _plain(options: CleaningOptions) -> dict[str, Any]:
    """Options as they are sent, the same with every page."""
    return asdict(options)


def read_task(message: Message) -> CleaningTask:
    """Return the argument of :func:`pack_task`."""
    head, (html, *arrays) = message.head, message.parts
    counts = None
    if head["counts"] is not None:
        units, df = (np.frombuffer(array, "<i4").astype(np.int64) for array in arrays)
        size, pages, label_version = head["counts"]
        counts = UnitCounts(size, units, df, pages, label_version)
    return CleaningTask(
        unpacked_html(html, is_text=head["is_text"]),
        head["url"],
        counts,
        CleaningOptions.of(head["options"]),
        head["model"],
        tuple(Rule(*rule) for rule in head["rules"]),
        head["kept"],
    )


def packed_html(html: str | bytes) -> bytes:
    """Return HTML as it is sent; whether it was text goes into the head."""
    return html.encode("utf-8", "surrogatepass") if isinstance(html, str) else html


def unpacked_html(html: bytes, *, is_text: bool) -> str | bytes:
    """Return the argument of :func:`packed_html`."""
    return html.decode("utf-8", "surrogatepass") if is_text else html


def pack_cleaned(cleaned: CleanedItem) -> bytes:
    """Return what came out as it is sent."""
    head = {"values": cleaned.values, "with_evidence": cleaned.with_evidence}
    return Message(head, (cleaned.shingles.astype("<u8").tobytes(),)).packed()


def pack_failure() -> bytes:
    """Return that a page could not be cleaned, as it is sent."""
    return Message({"values": None}).packed()


def pack_forgotten() -> bytes:
    """Return that a page is not kept any more, as it is sent."""
    return Message({"values": None, "forgotten": True}).packed()


def is_forgotten(message: Message) -> bool:
    """Whether a process asks for the page itself."""
    return "forgotten" in message.head


def read_cleaned(message: Message) -> CleanedItem | None:
    """Return the argument of :func:`pack_cleaned`; ``None`` for a page that could not be cleaned."""
    if message.head["values"] is None:
        return None
    (shingles,) = message.parts
    own = np.frombuffer(shingles, "<u8").astype(np.uint64)
    return CleanedItem(message.head["values"], own, message.head["with_evidence"])


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """What a process is to read.

    Attributes:
        number: what the page is called by when it is to be cleaned.
        html: the page.
        url: its address.
        limits: caps above which it is not worked on.
        model: name or path of the model by which its places are counted.
    """

    number: int
    html: str | bytes
    url: str
    limits: Limits
    model: str | None


def pack_reading(reading: Reading) -> bytes:
    """Return what is to be read as it is sent."""
    is_text, limits = isinstance(reading.html, str), asdict(reading.limits)
    head = {"read": reading.number, "is_text": is_text, "url": reading.url, "limits": limits, "model": reading.model}
    return Message(head, (packed_html(reading.html),)).packed()


def is_reading(message: Message) -> bool:
    """Whether a page is to be read, and not to be cleaned."""
    return "read" in message.head


def unpack_reading(message: Message) -> Reading:
    """Return the argument of :func:`pack_reading`."""
    head, (html,) = message.head, message.parts
    page = unpacked_html(html, is_text=head["is_text"])
    return Reading(head["read"], page, head["url"], Limits(**head["limits"]), head["model"])


def pack_hashed(hashed: HashedUnits) -> bytes:
    """Return what was found as it is sent."""
    arrays = (hashed.units.astype("<i4"), hashed.fingerprints.astype("<u8"), hashed.masses)
    return Message(
        {"size": hashed.size}, (*(array.tobytes() for array in arrays), hashed.contents_id, hashed.main_text_id)
    ).packed()


def pack_too_large(error: PageTooLarge) -> bytes:
    """Return that a page is too large as it is sent."""
    return Message({"too_large": [error.reason, error.size, error.limit]}).packed()


def unpack_hashed(message: Message) -> HashedUnits | None:
    """Return what a process has found; ``None`` for a page that could not be read.

    Raises:
        PageTooLarge: the page is.
    """
    if "too_large" in message.head:
        raise PageTooLarge(*message.head["too_large"])
    if "size" not in message.head:
        return None
    units, fingerprints, masses, contents_id, main_text_id = message.parts
    return HashedUnits(
        message.head["size"],
        np.frombuffer(units, "<i4").astype(np.int64),
        np.frombuffer(fingerprints, "<u8").astype(np.uint64),
        np.frombuffer(masses, np.uint8),
        contents_id,
        main_text_id,
    )
