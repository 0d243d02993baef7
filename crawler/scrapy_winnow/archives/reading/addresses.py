"""Archives at addresses: found by a pattern, opened at a place; what a whole store is not read for is said at once."""

from __future__ import annotations

import glob
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from fsspec.core import url_to_fs

if TYPE_CHECKING:
    from collections.abc import Iterable

_PACKAGES: Final = {"s3": "s3fs", "s3a": "s3fs", "gs": "gcsfs", "gcs": "gcsfs", "abfs": "adlfs", "az": "adlfs"}
_EXTRAS: Final = {"s3fs": "scrapy-winnow[s3]", "aiohttp": "scrapy-winnow[archives]"}
_NO_CREDENTIALS: Final = frozenset({"NoCredentialsError", "PartialCredentialsError", "ProfileNotFound"})
"""Errors of botocore, which is there with s3fs alone."""

_S3_REMEDY: Final = (
    "give credentials in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile in AWS_PROFILE; FSSPEC_S3_ANON=true "
    "goes without, AWS_ENDPOINT_URL names another server"
)


BLOCK: Final = 1 << 20
"""Bytes that are asked of a server at a time, and so the most that is read for nothing behind a part."""


class AddressError(ValueError):
    """An address that cannot be used as things are; the message says what to do."""


def is_address(name: str) -> bool:
    """Whether a name is an address rather than a path on this machine."""
    return "://" in name


def store_at(address: str) -> tuple[Any, str]:
    """The file system of an address, as fsspec has it, and the path there.

    Raises:
        AddressError: no such kind of address is known, or its package is not installed.
    """
    scheme = urlsplit(address).scheme
    try:
        store, path = url_to_fs(address)
    except ImportError as error:
        package = _PACKAGES.get(scheme, "aiohttp" if scheme in {"http", "https"} else "")
        wanted = f"pip install '{_EXTRAS.get(package, package)}'" if package else str(error)
        raise AddressError(f"{address}: {package or 'a package'} is not installed: {wanted}") from error
    except ValueError as error:
        raise AddressError(f"{address}: no kind of address that is known: {scheme}://") from error
    return store, str(path)


def opened(source: str, begin: int = 0, block: int = BLOCK) -> IO[bytes]:
    """Open an archive at a place.

    Args:
        source: its path or address.
        begin: the place, in bytes.
        block: bytes that are asked of a server at a time; 0 asks for all at once, as a server has to be that does not
            give parts of files. Then all that stands before the place is read, too.

    Raises:
        AddressError: see :func:`store_at`.
        OSError: it cannot be opened; stores have errors of their own besides.
    """
    store, path = store_at(source)
    stream: IO[bytes] = store.open(path, "rb", block_size=block)
    try:
        stream.seek(begin)
    except ValueError:  # as fsspec says of a server that tells no length, or was asked for all at once
        while begin > 0 and (passed := stream.read(min(begin, BLOCK))):
            begin -= len(passed)
    return stream


def size_of(source: str) -> int:
    """Bytes of an archive, 0 where they are not known; what is wrong with it is said by who reads it."""
    try:
        if is_address(source):
            store, path = store_at(source)
            return int(store.info(path)["size"] or 0)
        return Path(source).stat().st_size if Path(source).is_file() else 0
    except Exception:
        return 0


def matching(pattern: str) -> list[str]:
    """The addresses that a pattern stands for, in order; one without ``*``, ``?`` or ``[``, or of HTTP, for itself.

    Raises:
        AddressError: the store does not let it be looked for.
    """
    store, path = store_at(pattern)
    if urlsplit(pattern).scheme in {"http", "https"} or not glob.has_magic(path):
        return [pattern]
    steps = path.split("/")
    before = next(number for number, step in enumerate(steps) if glob.has_magic(step))
    try:
        store.ls("/".join(steps[:before]), detail=False)  # a search passes over what it may not see
        return [str(store.unstrip_protocol(name)) for name in sorted(store.glob(path))]
    except FileNotFoundError:
        return []
    except Exception as error:
        raise AddressError(explained(pattern, error)) from error


def check_rights(sources: Iterable[str]) -> None:
    """Look at one archive of each store, so that wrong credentials are no list of broken archives.

    Raises:
        AddressError: a store refuses to be read.
    """
    first: dict[tuple[str, str], str] = {}
    for source in filter(is_address, sources):
        first.setdefault(urlsplit(source)[:2], source)
    for source in first.values():
        store, path = store_at(source)
        try:
            store.info(path)
        # What is wrong with one archive alone is said by who reads it.
        except Exception as error:
            if _is_about_rights(error):
                raise AddressError(explained(source, error)) from error


def explained(source: str, error: Exception) -> str:
    """What went wrong at an address, and what to do where that is known."""
    remedy = f": {_S3_REMEDY}" if urlsplit(source).scheme in {"s3", "s3a"} and _is_about_rights(error) else ""
    return f"{source}: {type(error).__name__}: {error}{remedy}"


def _is_about_rights(error: Exception) -> bool:
    return isinstance(error, PermissionError) or type(error).__name__ in _NO_CREDENTIALS
