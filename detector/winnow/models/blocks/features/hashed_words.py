"""Hashes of words of the text and of parts of names, many at once."""

from __future__ import annotations

import re
from itertools import chain, pairwise, repeat
from typing import TYPE_CHECKING, Final
from zlib import crc32

import numpy as np

from winnow.memo import BulkMemo

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Indices = NDArray[np.int64]

NAME_SEED: Final = crc32(b"name:")
_NUMBER: Final = "#"
WORD_SEED: Final = crc32(b"word:")
NUMBER_HASH: Final = crc32(_NUMBER.encode(), WORD_SEED)
NUMBER_OF_NAME: Final = crc32(_NUMBER.encode(), NAME_SEED)
_END: Final = "\0"  # no attribute holds it
_NAME_PART: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_a-zA-Z]+|" + _END)
_MOST_NAME_PARTS: Final = 12


def word_hashes(words: list[str]) -> NDArray[np.uint32]:
    """uint32[k], hash of each word; all numbers are one word. Each different word is hashed once."""
    different = {word: place for place, word in enumerate(dict.fromkeys(words))}
    hashes = np.array(_WORD_HASHES.of(list(different)), np.uint32)
    return hashes[np.fromiter(map(different.__getitem__, words), np.intp, len(words))]


def _word_hashes(words: list[str]) -> list[int]:
    hashes = _hashes(words, WORD_SEED)
    hashes[np.fromiter(map(str.isdigit, words), bool, len(words))] = NUMBER_HASH
    return hashes.tolist()  # type: ignore[no-any-return]


def name_hashes(names: list[str]) -> list[tuple[int, ...]]:
    """32-bit hashes of the different parts of each name, 12 at most: ``"postMeta_12"`` -> post, meta, #."""
    return _NAME_HASHES.of(names)


def _name_hashes(names: list[str]) -> list[tuple[int, ...]]:
    found = _NAME_PART.findall(_END.join([*names, ""]))
    parts = [_NUMBER if part.isdigit() else part for part in " ".join(found).lower().split(" ")]
    ends = [place for place, part in enumerate(parts) if part == _END]
    different = list(dict.fromkeys(parts))
    hash_of = dict(zip(different, _hashes(different, NAME_SEED).tolist(), strict=True))
    return [
        tuple(map(hash_of.__getitem__, dict.fromkeys(parts[begin + 1 : min(end, begin + 1 + _MOST_NAME_PARTS)])))
        for begin, end in pairwise(chain((-1,), ends))
    ]


def _hashes(words: list[str], prefix: int) -> Indices:
    """int64[k], checksums of words without spaces, each behind a prefix whose checksum is given."""
    encoded = " ".join(words).encode("utf-8", "surrogatepass").split(b" ")
    return np.fromiter(map(crc32, encoded, repeat(prefix)), np.int64, len(words))


_NAME_HASHES: Final = BulkMemo[str, tuple[int, ...]](_name_hashes, 16_384)
_WORD_HASHES: Final = BulkMemo[str, int](_word_hashes, 65_536)
