"""The callback by which long trainings report progress."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Called after each finished item and at the beginning of each step."""

    def __call__(self, done: int, total: int, name: str = "", /) -> None:
        """Report the number of finished items, their total, and the name of the last item or the new step."""
        ...
