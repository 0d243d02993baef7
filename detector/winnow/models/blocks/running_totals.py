"""Sums of the rows of a wide matrix up to each of them, of which any stretch of rows is a difference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]

_CHUNK: Final = 16  # rows


def running_totals(values: Matrix, weight: Matrix) -> Matrix:
    """float32[m + 1, w], sums of the rows before each of float32[m, w], each counted with its weight (float32[m]).

    All chunks are summed up at once, a row of each at a time, and then put behind each other. numpy's cumsum goes down
    the columns, at several times the cost.
    """
    m, width = values.shape
    chunks = -(-m // _CHUNK)
    totals = np.zeros((chunks * _CHUNK + 1, width), np.float32)
    np.multiply(values, weight[:, None], out=totals[1 : m + 1])
    by_chunk = totals[1:].reshape(chunks, _CHUNK, width)
    for row in range(1, _CHUNK):
        by_chunk[:, row] += by_chunk[:, row - 1]
    for chunk in range(1, chunks):
        by_chunk[chunk] += by_chunk[chunk - 1, -1]
    return totals[: m + 1]
