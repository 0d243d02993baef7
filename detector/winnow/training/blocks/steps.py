"""Tells the progress which step of several trainings begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from winnow.training.blocks.model import STEPS

if TYPE_CHECKING:
    from winnow.progress import Progress


class Steps:
    """Counts the steps of so many trainings; ``of`` says what the training of the moment is for."""

    def __init__(self, progress: Progress | None, trainings: int) -> None:
        self.of = ""
        self._progress = progress
        self._begun = 0
        self._all = trainings * len(STEPS)

    def __call__(self, step: str) -> None:
        """Say that a step begins."""
        if self._progress:
            self._progress(self._begun, self._all, f"{step} {self.of}")
        self._begun += 1

    def finish(self) -> None:
        """Say that all is done."""
        if self._progress:
            self._progress(self._begun, self._all, "trained")
