"""Fields of items as bytes and back: what JSON knows, and the further types that items commonly hold. Nothing runs."""

from __future__ import annotations

import base64
import json
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_TYPE: Final = "__winnow_type__"
_VALUE: Final = "value"

_KINDS: Final[dict[str, tuple[type, Callable[[Any], Any], Callable[[Any], Any]]]] = {
    "datetime": (datetime, datetime.isoformat, datetime.fromisoformat),
    "date": (date, date.isoformat, date.fromisoformat),
    "time": (time, time.isoformat, time.fromisoformat),
    "timedelta": (timedelta, timedelta.total_seconds, lambda seconds: timedelta(seconds=seconds)),
    "decimal": (Decimal, str, Decimal),
    "bytes": (bytes, lambda data: base64.b64encode(data).decode(), base64.b64decode),
    "set": (set, list, set),
    "frozenset": (frozenset, list, frozenset),
}
"""Name to type, the way to a value that JSON knows, and the way back; a type stands before those that it is one of."""


def packed(fields: Mapping[str, object]) -> tuple[bytes, list[str]]:
    """Return fields as bytes, and the names of those that had to be left out since their values are of other types."""
    parts, left_out = [], []
    for name, value in fields.items():
        try:
            parts.append(f"{json.dumps(str(name))}: {json.dumps(value, default=_plain)}")
        except (TypeError, ValueError, RecursionError):
            left_out.append(str(name))
    return f"{{{', '.join(parts)}}}".encode(), left_out


def unpacked(data: bytes) -> dict[str, object]:
    """Return the fields that :func:`packed` made bytes of; a tuple has become a list."""
    fields: dict[str, object] = json.loads(data, object_hook=_typed)
    return fields


def _plain(value: object) -> dict[str, object]:
    for name, (kind, plain, _) in _KINDS.items():
        if isinstance(value, kind):
            return {_TYPE: name, _VALUE: plain(value)}
    raise TypeError(type(value).__name__)


def _typed(found: dict[str, Any]) -> object:
    if found.keys() == {_TYPE, _VALUE} and found[_TYPE] in _KINDS:
        return _KINDS[found[_TYPE]][2](found[_VALUE])
    return found
