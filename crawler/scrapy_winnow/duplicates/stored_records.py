"""Records of documents as the near-duplicate index of a cluster stores them, as bytes."""

from __future__ import annotations

import struct
from typing import Final

import numpy as np

from winnow.duplicates.documents import KEY_SHIFT, Record, packed_keys

_HEAD: Final = struct.Struct(">QB")
_ORIGINAL, _COPY, _EMPTY = 1, 2, 3
_SKETCH: Final = struct.Struct(">BH")
_KEY: Final = 6
_ID: Final = 8


def packed_record(record: Record) -> bytes:
    """Return a record as bytes: when it was entered, in microseconds, its kind, and what that has."""
    if record.sketch is not None:
        head = _HEAD.pack(record.number, _ORIGINAL) + _SKETCH.pack(record.complete, len(record.sketch))
        return head + packed_keys(record.sketch << KEY_SHIFT) + record.url.encode("utf-8", "surrogatepass")
    if record.original:
        return _HEAD.pack(record.number, _COPY) + record.digest + record.original
    return _HEAD.pack(record.number, _EMPTY)


def record_in(data: bytes) -> Record | None:
    """Return the record in some bytes; ``None`` for what is none of ours, whose document was then never met."""
    if len(data) < _HEAD.size:
        return None
    number, kind = _HEAD.unpack_from(data)
    rest = data[_HEAD.size :]
    if kind == _ORIGINAL and len(rest) >= _SKETCH.size:
        complete, size = _SKETCH.unpack_from(rest)
        end = _SKETCH.size + _KEY * size
        if not size or len(rest) < end:
            return None
        keys = np.zeros((size, 8), np.uint8)
        keys[:, 2:] = np.frombuffer(rest[_SKETCH.size : end], np.uint8).reshape(size, _KEY)
        try:
            url = rest[end:].decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            return None
        sketch = keys.view(">u8")[:, 0].astype(np.uint64)
        return Record(0, met=False, url=url, number=number, sketch=sketch, complete=bool(complete))
    if kind == _COPY and len(rest) == _KEY + _ID:
        return Record(0, met=False, number=number, digest=rest[:_KEY], original=rest[_KEY:])
    return Record(0, met=False, number=number) if kind == _EMPTY and not rest else None
