"""Files that go between the nodes of a cluster: what a task has written, and the counts that all of them look up."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
import uuid
from pathlib import Path
from typing import Any, Final

import ray

Files = dict[str, bytes]

_COUNTS: Final = "winnow-counts-"
_UNUSED: Final = 86_400  # seconds


def shared(folder: Path) -> Any:
    """Put a folder where a node fetches it once and all its tasks share it; they get what :func:`unpacked` takes."""
    cluster: Any = ray  # half of it has types
    return cluster.put((uuid.uuid4().hex, files_of(folder)))


def unpacked(run: str, files: Files) -> Path:
    """The counts as files of this node, written by the first task that needs them: they are looked up on disk.

    Nobody tells a node when a run is over: what no task has used for a day goes when the next run's counts come.
    """
    folder = Path(tempfile.gettempdir(), f"{_COUNTS}{run}")
    if not folder.is_dir():
        for old in folder.parent.glob(f"{_COUNTS}*"):
            if time.time() - old.stat().st_mtime > _UNUSED:
                shutil.rmtree(old, ignore_errors=True)
        making = Path(tempfile.mkdtemp(prefix=f"{folder.name}-"))
        write(making / folder.name, files)
        try:
            (making / folder.name).rename(folder)
        except OSError:  # another task of this node was faster
            if not folder.is_dir():
                raise
        shutil.rmtree(making)
    os.utime(folder)
    return folder


def files_of(path: Path) -> Files:
    """A file under the name ``""``, or the files below a folder by their paths in it."""
    if path.is_file():
        return {"": path.read_bytes()}
    return {str(file.relative_to(path)): file.read_bytes() for file in sorted(path.rglob("*")) if file.is_file()}


def write(target: Path, files: Files) -> None:
    """Put files where they belong, all at once."""
    making = target.with_name(f"{target.name}.part-{os.getpid()}")
    if set(files) == {""}:
        making.write_bytes(files[""])
        making.replace(target)
        return
    for name, contents in files.items():
        file = making / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(contents)
    making.mkdir(exist_ok=True)  # of an archive without pages
    shutil.rmtree(target, ignore_errors=True)
    making.rename(target)
