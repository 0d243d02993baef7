"""Model files: numpy arrays and a JSON header in one ``.npz``. Reading one never executes code."""

from __future__ import annotations

import hashlib
import json
import zipfile
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tamis.files import replacing

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    Arrays = dict[str, NDArray[Any]]

    from tamis.arrays import Floats

FORMAT: Final = "tamis model 1"
_HEADER: Final = "header"
_MAX_BYTES: Final = 64_000_000


class ModelError(ValueError):
    """A file is not a model, is damaged, or is of a kind or version that this package cannot use."""


def write_model_file(path: Path, header: Mapping[str, object], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write a model; the same contents give the same bytes.

    Args:
        path: the file, ending in ``.npz``; replaced if it exists.
        header: JSON-serialisable metadata; ``format`` is added.
        arrays: numeric arrays, none of them named ``header``.
    """
    text = json.dumps({**header, "format": FORMAT}, sort_keys=True, ensure_ascii=False)
    encoded = np.frombuffer(text.encode(), np.uint8)
    with replacing(path) as new, new.open("wb") as stream:
        np.savez_compressed(stream, allow_pickle=False, **{_HEADER: encoded}, **dict(sorted(arrays.items())))


def read_model_file(path: Path, *, only_header: bool = False) -> tuple[dict[str, Any], Arrays]:
    """Read a model's header and arrays, or the header and no arrays.

    Raises:
        FileNotFoundError: there is no such file.
        ModelError: the file is not a model of this format, or is damaged.
    """
    try:
        arrays = _read_arrays(path, only_header)
        header = json.loads(arrays.pop(_HEADER).tobytes())
    except FileNotFoundError:
        raise
    # a damaged archive raises many different exceptions
    except Exception as error:
        raise ModelError(f"{path}: not a model file, or damaged: {error}") from error
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ModelError(f"{path}: not a model of the format {FORMAT!r}")
    return header, arrays


def _read_arrays(path: Path, only_header: bool) -> Arrays:
    with zipfile.ZipFile(path) as archive:
        if sum(member.file_size for member in archive.infolist()) > _MAX_BYTES:
            raise ValueError(f"larger than {_MAX_BYTES:,} bytes")
    with np.load(path, allow_pickle=False) as stored:
        return {name: stored[name] for name in ([_HEADER] if only_header else stored.files)}


def required_array(arrays: Arrays, name: str, *shape: int) -> Floats:
    """Return an array of finite numbers with a given shape from a model file, as float64.

    Raises:
        ModelError: the array is missing, has another shape or type, or is not finite.
    """
    array = arrays.get(name)
    if array is None or array.shape != shape or array.dtype.kind not in "fiu":
        found = "none" if array is None else f"{array.dtype}{list(array.shape)}"
        raise ModelError(f"model array {name!r}: expected numbers of shape {list(shape)}, found {found}")
    numbers = array.astype(np.float64)
    if not np.isfinite(numbers).all():
        raise ModelError(f"model array {name!r}: not all numbers are finite")
    return numbers


def fingerprint_of(arrays: Mapping[str, NDArray[Any]]) -> str:
    """Hash the weights to eight hexadecimal digits."""
    digest = hashlib.blake2b(digest_size=4)
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype} {array.shape} ".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
