"""How a long training says how far it has got."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Told of each thing that is done, and of each step that begins."""

    def __call__(self, done: int, total: int, name: str = "", /) -> None:
        """Say that so many of all are done, and the name of the last one or of the step that begins."""
        ...
