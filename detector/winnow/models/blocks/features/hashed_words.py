"""Hashes of words of the text and of parts of names, many at once."""

from __future__ import annotations

import re
from itertools import repeat
from typing import TYPE_CHECKING, Final
from zlib import crc32

import numpy as np

from winnow.memo import BulkMemo

if TYPE_CHECKING:
    from numpy.typing import NDArray

NAME_SEED: Final = crc32(b"name:")
WORD_SEED: Final = crc32(b"word:")
NUMBER_HASH: Final = crc32(b"#", WORD_SEED)
NUMBER_OF_NAME: Final = crc32(b"#", NAME_SEED)
_END: Final = "\0"  # no attribute holds it
_NAME_PART: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_a-zA-Z]+|" + _END)
_NO_HASH: Final = -1  # of an end
_MOST_NAME_PARTS: Final = 12


def word_hashes(words: list[str]) -> NDArray[np.uint32]:
    """uint32[k], hash of each word; all numbers are one word."""
    hashes = _hashes(words, WORD_SEED)
    hashes[np.fromiter(map(str.isdigit, words), bool, len(words))] = NUMBER_HASH
    return hashes


def name_hashes(names: list[str]) -> list[tuple[int, ...]]:
    """32-bit hashes of the different parts of each name, 12 at most: ``"postMeta_12"`` -> post, meta, #."""
    return _NAME_HASHES.of(names)


def _name_hashes(names: list[str]) -> list[tuple[int, ...]]:
    found = _NAME_PART.findall(_END.join([*names, ""]))
    parts = " ".join(found).lower().split(" ")
    different = list(dict.fromkeys(parts))
    hash_of = dict(zip(different, _hashes(different, NAME_SEED).tolist(), strict=True))
    hash_of |= dict.fromkeys(filter(str.isdigit, different), NUMBER_OF_NAME)
    hash_of[_END] = _NO_HASH
    hashes = map(hash_of.__getitem__, parts)
    of_names = (list(iter(hashes.__next__, _NO_HASH)) for _ in names)
    return [tuple(dict.fromkeys(of_name[:_MOST_NAME_PARTS])) for of_name in of_names]


def _hashes(words: list[str], prefix: int) -> NDArray[np.uint32]:
    """uint32[k], checksums of words without spaces, each behind a prefix whose checksum is given."""
    encoded = " ".join(words).encode("utf-8", "surrogatepass").split(b" ")
    return np.fromiter(map(crc32, encoded, repeat(prefix)), np.uint32, len(words))


_NAME_HASHES: Final = BulkMemo[str, tuple[int, ...]](_name_hashes, 16_384)
