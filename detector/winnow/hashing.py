"""Polynomial hashes of all the slices of a sequence, in numpy: what fingerprints and shingles are made of.

The hash of a slice ``t[a:b]`` of 64-bit tokens is ``sum(t[a + k] * B**k)`` modulo ``2**64``, got for any slice as the
difference of two prefix sums times a power of the inverse of ``B``, and then passed through a bijective finaliser.

What modulo ``2**64`` costs: exchanging two tokens that stand ``d`` apart changes the sum by
``(t - u) * (B**d - 1)`` times an odd number. For an odd ``d`` one bit of 64 is lost by it; for an even one ``2 + v``
bits, where ``2**v`` is the largest power of two in ``d``: 50 bits still tell two sequences apart in which tokens have
changed places over a distance of 4,096. Sequences of two tokens made to collide on purpose (Thue-Morse words of 1,024
tokens and more) do so with every base. All that a site can gain by them is that its own nodes count as equal, which it
can have by making them equal.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np
import xxhash

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Hashes = NDArray[np.uint64]

BASE: Final = 0x9E3779B97F4A7C13  # the golden ratio's bits, last three made 011: 3 modulo 8
INVERSE: Final = pow(BASE, -1, 2**64)
_LOW_BITS: Final = 16
_SHIFTS: Final = (np.uint64(30), np.uint64(27), np.uint64(31))
_FACTORS: Final = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


def hash_text(text: str) -> int:
    """64-bit hash of a string: XXH3 of its UTF-8 form, the same on every machine."""
    return xxhash.xxh3_64_intdigest(text.encode("utf-8", "surrogatepass"))


def mix(values: Hashes) -> Hashes:
    """The finaliser of splitmix64, element by element: a bijection in which every bit depends on every bit."""
    mixed = values ^ (values >> _SHIFTS[0])
    mixed *= _FACTORS[0]
    mixed ^= mixed >> _SHIFTS[1]
    mixed *= _FACTORS[1]
    mixed ^= mixed >> _SHIFTS[2]
    return mixed


def powers(begin: int, end: int) -> Hashes:
    """uint64[end - begin]: ``BASE`` to the powers ``begin`` to ``end - 1``."""
    low, high = _tables(BASE)
    if end <= len(low):
        return low[begin:end]
    exponents = np.arange(begin, end)
    product: Hashes = low.take(exponents & (len(low) - 1)) * high.take(exponents >> _LOW_BITS)
    return product


def inverse_powers(exponents: NDArray[np.int64]) -> Hashes:
    """``BASE`` to the minus given powers; exponents below 2**32."""
    low, high = _tables(INVERSE)
    product: Hashes = low.take(exponents & (len(low) - 1)) * high.take(exponents >> _LOW_BITS)
    return product


@cache
def _tables(base: int) -> tuple[Hashes, Hashes]:
    """Powers 0 to 2**16 - 1, and the same numbers times 2**16, so that any power is one product of two."""
    count = 1 << _LOW_BITS
    low, high = np.ones((2, count), np.uint64)
    low[1:] = np.uint64(base)
    high[1:] = np.uint64(pow(base, count, 2**64))
    return np.multiply.accumulate(low), np.multiply.accumulate(high)
