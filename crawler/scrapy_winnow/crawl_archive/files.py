"""Files of bounded size, one after the other, none of them written over."""

from __future__ import annotations

import time
from pathlib import Path
from typing import IO


class RotatingFiles:
    """A file after the other, each up to about so many bytes.

    Args:
        template: path; ``%(time)s`` in it becomes the time at which a file is begun. No file is written over.
        most: bytes of a file, after which the next one is begun.
    """

    def __init__(self, template: str, most: int) -> None:
        self._template = template
        self._most = most
        self._stream: IO[bytes] | None = None

    def write(self, record: bytes) -> None:
        """Append a record."""
        if self._stream is not None and self._stream.tell() >= self._most:
            self.close()
        if self._stream is None:
            self._stream = self._opened()
        self._stream.write(record)

    def close(self) -> None:
        """Close the file; the next record begins another."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def _opened(self) -> IO[bytes]:
        path = Path(self._template.replace("%(time)s", time.strftime("%Y%m%dT%H%M%S")))
        name, endings = path.name.partition(".")[::2]
        number = 1
        while True:
            try:
                return path.open("xb", buffering=0)
            except FileExistsError:
                number += 1
                path = path.with_name(f"{name}-{number}.{endings}")
