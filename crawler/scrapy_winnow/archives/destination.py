"""Where the files of a run go: a folder on this machine, or a store such as S3, file by file and each as a whole."""

from __future__ import annotations

import hashlib
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from scrapy_winnow.archives.reading.addresses import AddressError, explained, is_address, store_at

if TYPE_CHECKING:
    from collections.abc import Iterator

_WORK: Final = ".winnow"
_TRIAL: Final = ".winnow-may-write"


class Destination:
    """A folder for files, which is made if need be.

    Args:
        output: its path or address.
        work: folder on this machine; in one of its own in there what is half done is kept. ``None`` keeps that in
            ``.winnow`` in the output, or, where that is an address, below ``.winnow`` in the current folder.

    Attributes:
        work: the folder of what is half done, which is nobody else's.

    Raises:
        AddressError: the store does not let files be written.
    """

    def __init__(self, output: str | Path, work: Path | None = None) -> None:
        self._output = str(output)
        self._is_far = is_address(self._output)
        if work is None and not self._is_far:
            self.work = Path(output, _WORK)
        else:
            name = self._output if self._is_far else str(Path(output).resolve())
            digest = hashlib.blake2b(name.encode(), digest_size=6).hexdigest()
            self.work = Path(work if work is not None else _WORK, f"warc-{digest}")
        if self._is_far:
            self._try_to_write()
        else:
            Path(output).mkdir(parents=True, exist_ok=True)

    @contextmanager
    def file(self, name: str) -> Iterator[Path]:
        """Give the path that a file is to be made at; it is there under its name once all went well."""
        if not self._is_far:
            making = Path(self._output, f"{name}.part")
            yield making
            making.rename(making.with_name(name))
            return
        making = self.work / name
        yield making
        store, path = store_at(self._output)
        try:
            store.put_file(str(making), f"{path.rstrip('/')}/{name}")
        # Stores fail in ways of their own.
        except Exception as error:
            raise AddressError(explained(self._output, error)) from error
        making.unlink()

    def _try_to_write(self) -> None:
        """Write now rather than find out after hours that nothing may be written."""
        if urlsplit(self._output).scheme in {"http", "https"}:
            raise AddressError(
                f"{self._output}: files are not written over HTTP: give a folder, or a store such as s3://"
            )
        store, path = store_at(self._output)
        trial = f"{path.rstrip('/')}/{_TRIAL}"
        try:
            store.pipe_file(trial, b"")
        except Exception as error:
            raise AddressError(explained(self._output, error)) from error
        with suppress(Exception):  # who may write may not be allowed to remove
            store.rm_file(trial)
