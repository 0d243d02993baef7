"""Writes files that appear whole or not at all, and never replace what was read."""

from __future__ import annotations

import gzip
import io
import os
import secrets
import shutil
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def refuse_inputs(path: str | Path, inputs: Iterable[str | Path]) -> None:
    """Raise ``ValueError`` if a file to be written is one of the files that are read, even under another name."""
    for each in inputs:
        with suppress(OSError):  # one of them does not exist
            if Path(path).samefile(each):
                raise ValueError(f"would overwrite {each}, which is read")


@contextmanager
def replacing(path: str | Path, inputs: Iterable[str | Path] = ()) -> Iterator[Path]:
    """Yield a temporary path to write to; it replaces ``path`` at the end, and is removed after an exception.

    Nobody sees half a file, also when the disk is full or others write it at the same time. A path that exists and
    is not a regular file, such as a pipe, is yielded itself.

    Raises:
        ValueError: it is one of the inputs.
    """
    refuse_inputs(path, inputs)
    whole, named = Path(os.path.realpath(path)), Path(path)
    if named.exists() and not named.is_file():  # the real path of /dev/stdout is no path where it is a pipe
        yield named
        return
    new = whole.with_name(f".{secrets.token_hex(8)}.part")
    try:
        yield new
        with new.open("rb") as written:
            os.fsync(written.fileno())
        with suppress(OSError):
            shutil.copymode(whole, new)
        new.replace(whole)
    except OSError as error:
        error.filename = str(path) if error.filename in {str(new), new} else error.filename
        raise
    finally:
        new.unlink(missing_ok=True)


@contextmanager
def open_output(path: str | Path, inputs: Iterable[str | Path] = (), errors: str = "replace") -> Iterator[IO[str]]:
    """Open a file to write UTF-8 into, compressed where its name ends in ``.gz``; see :func:`replacing`."""
    with replacing(path, inputs) as new, ExitStack() as stack:
        stream: IO[bytes] | gzip.GzipFile = stack.enter_context(new.open("wb"))
        if str(path).endswith(".gz"):
            stream = stack.enter_context(gzip.GzipFile("", "wb", fileobj=cast("IO[bytes]", stream), mtime=0))
        yield stack.enter_context(io.TextIOWrapper(stream, "utf-8", errors, newline=""))


def write_output(path: str | Path, text: str, inputs: Iterable[str | Path] = ()) -> None:
    """Write a file; see :func:`open_output`."""
    with open_output(path, inputs) as stream:
        stream.write(text)
