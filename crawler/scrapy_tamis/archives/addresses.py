"""Archives and results at addresses that fsspec knows: find them, open them at an offset, write them."""

from __future__ import annotations

import glob
import hashlib
import re
import shutil
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from fsspec.core import url_to_fs

from tamis.files import replacing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

READ_BYTES: Final = 1 << 20
"""Bytes requested from a server at a time; up to as many are read for nothing after the end of a part."""

_WORK_FOLDER: Final = ".tamis"
_WRITE_TEST: Final = ".tamis-may-write"
_HTTP: Final = frozenset({"http", "https"})
_EXTRAS: Final = {"s3": "s3", "s3a": "s3", "http": "archives", "https": "archives"}
"""What to install for a kind of address; fsspec names the package for every other kind."""
_NO_CREDENTIALS: Final = frozenset({"NoCredentialsError", "PartialCredentialsError", "ProfileNotFound"})
"""Errors of botocore, which is installed with s3fs only."""

_S3_REMEDY: Final = (
    "give credentials in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile in AWS_PROFILE; FSSPEC_S3_ANON=true "
    "goes without, AWS_ENDPOINT_URL names another server"
)


def is_address(name: str) -> bool:
    """Whether a name is an address rather than a path on this machine."""
    return "://" in name


def open_store(address: str) -> tuple[Any, str]:
    """Return the fsspec file system of an address, and the path there, or raise a ``ValueError`` that says why not."""
    scheme = urlsplit(address).scheme
    try:
        store, path = url_to_fs(address)
    except ImportError as error:
        remedy = f"pip install 'tamis[{_EXTRAS[scheme]}]'" if scheme in _EXTRAS else str(error)
        raise ValueError(f"{address}: a package is not installed: {remedy}") from error
    except ValueError as error:
        raise ValueError(f"{address}: unknown kind of address: {scheme}://") from error
    return store, str(path)


def open_source(source: str, begin: int = 0, read_bytes: int = READ_BYTES) -> IO[bytes]:
    """Open an archive at an offset; where that fails, stores raise any kind of error.

    ``read_bytes`` are requested from a server at a time; 0 requests the whole file at once, for servers that ignore
    ranges. Then everything before the offset is read, too.
    """
    store, path = open_store(source)
    stream: IO[bytes] = store.open(path, "rb", block_size=read_bytes)
    try:
        stream.seek(begin)
    except ValueError:  # fsspec's answer where the length is unknown or the whole file was requested
        while begin > 0 and (passed := stream.read(min(begin, READ_BYTES))):
            begin -= len(passed)
    return stream


def size_of(source: str) -> int:
    """Return the bytes of an archive, 0 where they are unknown; the reader will report what is wrong with it."""
    try:
        store, path = open_store(source)
        return int(store.info(path)["size"] or 0)
    except Exception:
        return 0


def find_archives(pattern: str) -> list[str]:
    """Return the paths or addresses that match a pattern, sorted.

    The path of a file is itself, also with ``[`` in its name; so is an HTTP address, or another one without ``*?[``.
    """
    if not is_address(pattern):
        names = [pattern] if Path(pattern).is_file() else sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207
        return [name for name in names if Path(name).is_file()]
    store, path = open_store(pattern)
    if urlsplit(pattern).scheme in _HTTP or not glob.has_magic(path):
        return [pattern]
    with _explain_errors(pattern), suppress(FileNotFoundError):
        store.ls(re.split(r"[*?[]", path)[0].rpartition("/")[0], detail=False)  # glob() hides a refusal
        return [str(store.unstrip_protocol(name)) for name in sorted(store.glob(path))]
    return []


def check_access(sources: Iterable[str]) -> None:
    """Look up one archive of each store; a refusal is one :class:`ValueError`, not a list of broken archives."""
    first = {urlsplit(source)[:2]: source for source in reversed(list(filter(is_address, sources)))}
    for source in first.values():
        store, path = open_store(source)
        with _explain_errors(source):
            try:
                store.info(path)
            except Exception as error:  # a fault of this archive alone is reported by its reader
                if _is_about_access(error):
                    raise


def describe(error: Exception) -> str:
    """Return kind and message of an error, which may be of any package."""
    return f"{type(error).__name__}: {error}"


@contextmanager
def _explain_errors(source: str) -> Iterator[None]:
    """Turn an error of a store, which may be of any kind, into a :class:`ValueError` that says what to do."""
    try:
        yield
    except Exception as error:
        remedy = f": {_S3_REMEDY}" if urlsplit(source).scheme in {"s3", "s3a"} and _is_about_access(error) else ""
        raise ValueError(f"{source}: {describe(error)}{remedy}") from error


def _is_about_access(error: Exception) -> bool:
    return isinstance(error, PermissionError) or type(error).__name__ in _NO_CREDENTIALS


class Destination:
    """A folder on this machine, or in a store such as S3; a file appears there when it is complete.

    Attributes:
        work: folder of this run's unfinished work and of nothing else, in ``.tamis`` in the output or, where that is
            an address, in ``.tamis`` in the current one.

    Raises:
        ValueError: nothing can be written to the store.
    """

    def __init__(self, output: str | Path) -> None:
        self._output = str(output)
        self._is_remote = is_address(self._output)
        if self._is_remote:
            digest = hashlib.blake2b(self._output.encode(), digest_size=6).hexdigest()
            self.work = Path(_WORK_FOLDER, f"warc-{digest}")
            self._check_writable()
        else:
            self.work = Path(output, _WORK_FOLDER, "warc")

    @contextmanager
    def open_file(self, name: str) -> Iterator[Path]:
        """Yield a path to write a file at in :attr:`work`; it is moved to its place if nothing was raised."""
        unfinished = self.work / name
        yield unfinished
        if self._is_remote:
            store, path = open_store(self._output)
            with _explain_errors(self._output):
                store.put_file(str(unfinished), f"{path.rstrip('/')}/{name}")
        else:
            with replacing(Path(self._output, name)) as whole:
                shutil.move(unfinished, whole)

    def _check_writable(self) -> None:
        """Write an empty file now: a refusal should not come after hours of work."""
        if urlsplit(self._output).scheme in _HTTP:
            raise ValueError(f"{self._output}: cannot write over HTTP: give a folder, or a store such as s3://")
        store, path = open_store(self._output)
        test_file = f"{path.rstrip('/')}/{_WRITE_TEST}"
        with _explain_errors(self._output):
            store.pipe_file(test_file, b"")
        with suppress(Exception):  # the right to write may not include the right to remove
            store.rm_file(test_file)
