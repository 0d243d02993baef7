"""The verdicts in a file, one JSON object a line: a copy of the stream of verdicts that goes on where it ends."""

from __future__ import annotations

import fcntl
import json
import os
from typing import TYPE_CHECKING, Any, Final, Self

if TYPE_CHECKING:
    from pathlib import Path

    from redis import Redis

BATCH: Final = 1000
_TAIL: Final = 1 << 16
"""Bytes read at the end of the file for its last line; a verdict has two addresses and little else."""


class VerdictFileError(Exception):
    """The file cannot be written to; the message says why."""


class VerdictFile:
    """Copies verdicts from their stream to a file.

    Each line has the id of its verdict in the stream, so the file itself says how far it has got: after a ``kill -9``
    half a line at its end is cut off, and copying goes on behind the last whole one. No verdict is written twice or
    left out, as long as the stream still holds it. One process at a time writes a file.

    Args:
        path: the file; made if need be, and appended to otherwise.

    Raises:
        VerdictFileError: another process writes it, or it holds something else.
        OSError: it cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self._file = path.open("a+b")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.close()
            raise VerdictFileError("another process is writing it") from None
        try:
            self._position = self._last_verdict()
        except (KeyError, TypeError, ValueError):
            self._file.close()
            raise VerdictFileError("it holds something else than verdicts") from None

    def copy(self, client: Redis, verdicts: str) -> tuple[int, bool]:
        """Copy all verdicts that are new.

        Args:
            client: the way to Redis.
            verdicts: key of their stream.

        Returns:
            Number of verdicts copied; whether some may be missing, since the stream was cut before they were copied.
        """
        copied = 0
        cut = False
        while True:
            # The entry copied last is asked for again: when it has gone, so may have others behind it.
            entries: Any = client.xrange(verdicts, min=self._position, count=BATCH + 1)
            if entries and entries[0][0].decode() == self._position:
                entries = entries[1:]
            else:
                cut |= bool(entries) and self._position != "-"
            for verdict, fields in entries:
                self._file.write(verdict_line(verdict, fields))
            self._file.flush()
            copied += len(entries)
            if entries:
                self._position = entries[-1][0].decode()
            if len(entries) < BATCH:
                return copied, cut

    def close(self) -> None:
        """Close the file; another process may write it then."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _last_verdict(self) -> str:
        """Cut off half a line, and return the verdict id of the last whole one; ``-`` in an empty file."""
        end = self._file.seek(0, os.SEEK_END)
        self._file.seek(max(0, end - _TAIL))
        tail = self._file.read()
        whole = tail[: tail.rfind(b"\n") + 1]
        if len(tail) == _TAIL and not whole:
            raise ValueError("a line that long is no verdict")
        self._file.truncate(end - len(tail) + len(whole))
        if not whole:
            return "-"
        last = whole[whole.rfind(b"\n", 0, -1) + 1 :]
        return str(json.loads(last)["verdict"])


def verdict_line(verdict: bytes, fields: dict[bytes, bytes]) -> bytes:
    """Return an entry of the stream of verdicts as a line of JSON; what is empty there is ``null`` here."""
    row: dict[str, object] = {"verdict": verdict.decode()}
    row |= {name.decode(): value.decode("utf-8", "replace") or None for name, value in fields.items()}
    if row.get("resemblance") is not None:
        row["resemblance"] = float(fields[b"resemblance"])
    return json.dumps(row, ensure_ascii=False).encode() + b"\n"
