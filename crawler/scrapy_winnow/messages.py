"""The messages between the crawl's process and a cleaning process: tasks, and their results.

A message is its length (4 bytes, little-endian, not counting these), the length of its head (4 bytes), the head in
JSON, and its parts: the texts of dataclasses, bytes and arrays. Nothing is ever executed.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from scrapy_winnow.fields import CleanedItem, CleaningOptions
from scrapy_winnow.storage.evidence import UnitCounts
from winnow.page.page import Limits

if TYPE_CHECKING:
    from winnow.rules import Rule

LENGTH: Final = struct.Struct("<I")
_TYPE: Final = "winnow.messages"
"""Key of a dataclass's name, or of the type of a part, which for an array is its dtype."""


@dataclass(frozen=True, slots=True, eq=False)
class ReadingTask:
    """A page to read; it is cleaned later by its ``number``, and ``model`` computes its places."""

    number: int
    html: str | bytes
    url: str
    limits: Limits
    model: str | None


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


FORGOTTEN: Final = "forgotten"
"""The result for a page that is not kept any more: the page itself must be sent."""

_CLASSES: Final = {
    each.__name__: each for each in (ReadingTask, CleaningTask, CleaningOptions, Limits, UnitCounts, CleanedItem)
}


def pack(message: object) -> bytes:
    """Return a message as it is sent: what JSON can hold, dataclasses of this module, bytes and arrays."""
    parts = bytearray()

    def plain(value: object) -> object:
        if is_dataclass(value) and not isinstance(value, type):
            values = {each.name: getattr(value, each.name) for each in fields(value)}
            texts = {name: plain(each) for name, each in values.items() if isinstance(each, str)}
            return {_TYPE: type(value).__name__, **values, **texts}
        begin = len(parts)
        if isinstance(value, str):
            parts.extend(value.encode("utf-8", "surrogatepass"))
            return {_TYPE: "text", "part": (begin, len(parts))}
        if isinstance(value, np.ndarray):
            parts.extend(value.tobytes())
            return {_TYPE: value.dtype.str, "part": (begin, len(parts))}
        parts.extend(value)  # type: ignore[arg-type]  # or it is a TypeError
        return {_TYPE: "bytes", "part": (begin, len(parts))}

    head = json.dumps(message, default=plain, ensure_ascii=False, check_circular=False).encode("utf-8", "surrogatepass")
    return b"".join((LENGTH.pack(LENGTH.size + len(head) + len(parts)), LENGTH.pack(len(head)), head, parts))


def unpack(body: bytes) -> Any:
    """Return the message that follows a length; its tuples have become lists."""
    end_of_head = LENGTH.size + LENGTH.unpack_from(body)[0]
    parts = memoryview(body)[end_of_head:]

    def build(values: dict[str, Any]) -> object:
        kind = values.pop(_TYPE, None)
        if kind is None:
            return values
        if kind in _CLASSES:
            return _CLASSES[kind](**values)
        begin, end = values["part"]
        part = parts[begin:end]
        if kind == "text":
            return str(part, "utf-8", "surrogatepass")
        return bytes(part) if kind == "bytes" else np.frombuffer(part, kind).copy()

    return json.loads(str(body[LENGTH.size : end_of_head], "utf-8", "surrogatepass"), object_hook=build)
