"""Polynomial hashes of slices of a sequence: in numpy, and for fingerprints and shingles in the compiled core.

The hash of a slice ``t[a:b]`` of 64-bit tokens is ``sum(t[a + k] * B**k)`` modulo ``2**64``. It is computed as the
difference of two prefix sums times a power of the inverse of ``B``, and then passed through a bijective finaliser.

Working modulo ``2**64`` loses some bits: swapping two tokens at distance ``d`` changes the sum by
``(t - u) * (B**d - 1)`` times an odd number. An odd ``d`` loses one bit of 64, an even one ``2 + v`` bits, where
``2**v`` is the largest power of two that divides ``d``: 50 bits are left for swaps over a distance of 4,096. Sequences
that are built to collide (Thue-Morse words of 1,024 tokens and more) collide with every base, but a site gains nothing
by them: its own nodes count as equal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from tamis.core import core

if TYPE_CHECKING:
    from tamis.arrays import Hashes, Integers


BASE: Final = 0x9E3779B97F4A7C13  # the golden ratio's bits, last three made 011: 3 modulo 8
INVERSE: Final = pow(BASE, -1, 2**64)


def hash_text(text: str | bytes) -> int:
    """64-bit hash of bytes, or of a string's UTF-8 form: XXH3, the same on every machine."""
    hashed: int = core.hash_bytes(text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text)
    return hashed


def mix(values: Hashes) -> Hashes:
    """Apply the finaliser of splitmix64 elementwise: a bijection that spreads every bit over all bits."""
    mixed = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def hash_slices(tokens: Hashes, begin: Integers, end: Integers) -> Hashes:
    """uint64[k], hash of each of k slices ``[begin, end)`` of tokens, equal for equal slices wherever they are."""
    powers, inverses = (
        np.multiply.accumulate(np.append(np.uint64(1), np.full(len(tokens), base, np.uint64)))
        for base in (BASE, INVERSE)
    )
    sums = np.zeros(len(tokens) + 1, np.uint64)
    np.cumsum(tokens * powers[:-1], out=sums[1:])
    return mix((sums[end] - sums[begin]) * inverses[begin])
