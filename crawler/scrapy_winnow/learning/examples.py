"""What one page teaches: features and labels of its text blocks, as a compact string of bytes without its text.

The layout is our own and holds nothing but numbers, every one of which is checked when it is read: a header, and the
arrays in a fixed order, little-endian, deflated. Words and names are entries of a hash table (15 bits), and those of a
block are sorted, so that no sentence can be read off them.
"""

from __future__ import annotations

import hashlib
import math
import struct
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from winnow.features.blocks import FEATURE_NAMES, STATIC_NAMES, BlockFeatures
from winnow.features.tokens import TABLE_SIZE, Tokens
from winnow.models.networks import ARRAY_NAMES, BLOCKS

if TYPE_CHECKING:
    from numpy.typing import NDArray

CONTENT: Final = 1
TEMPLATE: Final = 0
UNLABELLED: Final = -1

MOST_BLOCKS: Final = 2_000
"""Text blocks of a page; longer pages give no example."""

MOST_BYTES: Final = 262_144
"""Bytes of an example; a page that would need more gives none."""

_FORMAT: Final = 2
_LEVELS: Final = 4
_MOST_ELEMENTS: Final = 100_000
_MOST_INFLATED: Final = 16_000_000
_LARGEST_HALF: Final = 65_504.0
_HEADER: Final = struct.Struct("<8s4IB")  # feature version; elements, blocks, names, words; whether marked
_LEVEL: Final = 3  # of zlib: level 6 takes three times as long for a twentieth less


def _feature_version() -> str:
    named = "\n".join([str(_FORMAT), str(TABLE_SIZE), *FEATURE_NAMES, *ARRAY_NAMES]).encode()
    return f"{BLOCKS}-{len(FEATURE_NAMES)}-{hashlib.blake2b(named, digest_size=4).hexdigest()}"


FEATURE_VERSION: Final = _feature_version()
"""Kind of model, number of features, and a hash of their names and of the model's arrays: what all must agree on."""

_MARK: Final = hashlib.blake2b(FEATURE_VERSION.encode(), digest_size=8).digest()


class ExampleError(ValueError):
    """Bytes are not an example, are damaged, or were made for other features."""


@dataclass(frozen=True, eq=False, slots=True)
class Example:
    """The blocks of one page (m of them) of n elements.

    Attributes:
        static: float32[m, len(STATIC_NAMES)], features that need nothing learned, in half precision.
        tokens: hashed names and words.
        words: float64[m], words of each block.
        content: int8[m], :data:`CONTENT`, :data:`TEMPLATE` or :data:`UNLABELLED`.
        marked: whether the author's marks gave the labels, and not what the site repeats.
    """

    static: NDArray[np.float32]
    tokens: Tokens
    words: NDArray[np.float64]
    content: NDArray[np.int8]
    marked: bool = False

    @classmethod
    def of(cls, features: BlockFeatures, content: NDArray[np.int8], *, marked: bool = False) -> Self:
        """Take the features of a page's blocks and their labels."""
        half = np.clip(features.static, -_LARGEST_HALF, _LARGEST_HALF).astype(np.float16)
        return cls(half.astype(np.float32), _sorted(features.tokens), features.words, content, marked)

    def to_bytes(self) -> bytes:
        """Write the example."""
        tokens = self.tokens
        n, m = len(tokens.parent), len(tokens.owner)
        header = _HEADER.pack(_MARK, n, m, len(tokens.name), len(tokens.word), self.marked)
        static = np.ascontiguousarray(self.static.T, "<f2").view(np.uint8).reshape(-1, 2)
        index = np.arange(n)
        arrays: tuple[tuple[NDArray[np.generic], str], ...] = (
            (static.T, "u1"),  # columns of features, high bytes apart from low ones: a third less
            (self.words, "<u4"),
            (self.content, "i1"),
            (index - tokens.parent, "<i4"),
            (tokens.end - index, "<i4"),
            (np.diff(tokens.block_begin, prepend=0), "<i4"),
            (tokens.block_end - tokens.block_begin, "<i4"),
            (np.diff(tokens.owner, prepend=0), "<i4"),
            (tokens.owner - tokens.levels, "<i4"),
            (np.diff(tokens.name_element, prepend=0), "<i4"),
            (tokens.name, "<u2"),
            (np.diff(tokens.word_block, prepend=0), "<i4"),
            (tokens.word, "<u2"),
        )
        return header + zlib.compress(b"".join(array.astype(kind).tobytes() for array, kind in arrays), _LEVEL)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Read an example and check every number of it.

        Raises:
            ExampleError: the bytes are no example, or one of other features.
        """
        if len(data) < _HEADER.size or len(data) > MOST_BYTES:
            raise ExampleError(f"not an example: {len(data):,} bytes")
        mark, n, m, names, words, marked = _HEADER.unpack_from(data)
        if mark != _MARK:
            raise ExampleError("an example of another feature version")
        size = 2 * len(STATIC_NAMES) * m + (4 + 1 + 4 + 4 * _LEVELS) * m + 16 * n + 6 * (names + words)
        if n > _MOST_ELEMENTS or m > MOST_BLOCKS or size > _MOST_INFLATED:
            raise ExampleError("an example of a page that is too large")
        take = _Arrays(_inflated(data[_HEADER.size :], size))
        k = len(STATIC_NAMES)
        static = np.ascontiguousarray(take.raw("u1", 2, k * m).T).view("<f2").reshape(k, m).T.astype(np.float32)
        number, content = take("<u4", m).astype(np.float64), take("i1", m)
        index = np.arange(n)
        parent, end = index - take("<i4", n), index + take("<i4", n)
        begin = np.cumsum(take("<i4", n))
        block_end = begin + take("<i4", n)
        owner = np.cumsum(take("<i4", m))
        levels = owner - take("<i4", _LEVELS, m)
        name_element, name = np.cumsum(take("<i4", names)), take("<u2", names)
        word_block, word = np.cumsum(take("<i4", words)), take("<u2", words)
        right = (
            np.isfinite(static).all()
            and np.isin(content, (CONTENT, TEMPLATE, UNLABELLED)).all()
            and (parent >= -1).all()
            and (parent < index).all()
            and (end > index).all()
            and (end <= n).all()
            and (begin >= 0).all()
            and (block_end >= begin).all()
            and (block_end <= m).all()
            and all(_within(array, n) for array in (owner, levels, name_element))
            and _within(word_block, m)
            and all(_within(array, TABLE_SIZE) for array in (name, word))
        )
        if not right:
            raise ExampleError("not an example: numbers out of range")
        tokens = Tokens(
            name_element=name_element,
            name=name,
            word_block=word_block,
            word=word,
            parent=parent.astype(np.int32),
            end=end.astype(np.int32),
            block_begin=begin.astype(np.int32),
            block_end=block_end.astype(np.int32),
            owner=owner.astype(np.int32),
            levels=levels,
        )
        return cls(static, tokens, number, content.astype(np.int8), bool(marked))


def _within(array: NDArray[np.int64], size: int) -> bool:
    return bool(((array >= 0) & (array < size)).all())


def _sorted(tokens: Tokens) -> Tokens:
    """The same tokens in the order of their elements and blocks, and among those by their entries."""
    names, words = np.lexsort((tokens.name, tokens.name_element)), np.lexsort((tokens.word, tokens.word_block))
    return Tokens(
        tokens.name_element[names],
        tokens.name[names],
        tokens.word_block[words],
        tokens.word[words],
        *(tokens.parent, tokens.end, tokens.block_begin, tokens.block_end, tokens.owner, tokens.levels),
    )


def _inflated(data: bytes, size: int) -> bytes:
    """Inflate to exactly so many bytes; a bomb is not inflated."""
    inflater = zlib.decompressobj()
    try:
        plain = inflater.decompress(data, size + 1)
    except zlib.error as error:
        raise ExampleError(f"not an example, or damaged: {error}") from error
    if len(plain) != size or not inflater.eof:
        raise ExampleError("not an example, or damaged: its arrays have other lengths than it says")
    return plain


class _Arrays:
    """Takes arrays off the front of some bytes."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def __call__(self, kind: str, *shape: int) -> NDArray[np.int64]:
        return self.raw(kind, *shape).astype(np.int64)

    def raw(self, kind: str, *shape: int) -> NDArray[Any]:
        array = np.frombuffer(self._data, kind, math.prod(shape), self._at).reshape(shape)
        self._at += array.nbytes
        return array
