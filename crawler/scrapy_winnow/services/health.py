"""The health file: written while a process is alive, for liveness checks that go by its age."""

from __future__ import annotations

import datetime
import json
import logging
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

EVERY: Final = 1.0
"""Seconds from one writing to the next at least, as long as the state is the same."""

logger = logging.getLogger(__name__)


class HealthFile:
    """Says in a file that a process is alive: the time, its state and some figures, as one JSON object.

    The file is replaced as a whole, so nobody reads half of it. It goes with the process when that ends in order.

    Args:
        path: the file; ``None`` writes none.

    Raises:
        OSError: it cannot be written. Later on that is one warning, and the process goes on: it looks dead then.
    """

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self._path = None if path is None else Path(path)
        self._written = float("-inf")
        self._state = ""
        self._said = False
        if self._path is not None:
            self._write("starting", {})

    def beat(self, state: str, figures: Mapping[str, float] | None = None) -> None:
        """Say that the process is alive; cheap enough to be called often."""
        now = time.monotonic()
        if self._path is None or (state == self._state and now - self._written < EVERY):
            return
        try:
            self._write(state, figures or {})
        except OSError as error:
            if not self._said:
                self._said = True
                logger.warning("The health file cannot be written: %s", error)

    def remove(self) -> None:
        """The process ends, and is not to be taken for one that hangs."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)

    def _write(self, state: str, figures: Mapping[str, float]) -> None:
        assert self._path is not None  # noqa: S101 - asked before
        about = {"time": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"), "state": state, **figures}
        making = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        making.write_text(json.dumps(about) + "\n", encoding="utf-8")
        making.replace(self._path)
        self._written, self._state = time.monotonic(), state
