"""Files that are complete at any time."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Write a file by a new one that replaces it, so that it is complete at any time, also when the disk is full."""
    path = path.resolve()
    new_file = path.with_name(f"{path.name}.part")
    new_file.write_text(text, "utf-8")
    with new_file.open("rb") as written:
        os.fsync(written.fileno())
    new_file.replace(path)
