"""What the crawl's process and a cleaning process send each other: a head in JSON, and parts that are bytes.

A message is its length (4 bytes, little-endian, these not counted), the length of the head (4 bytes), the head, and the
parts. Under ``"parts"`` the head has the length of each. Nothing is ever executed.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

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
