"""What Redis holds of the nodes of a host that is counting, and what it means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.counting import frequency_estimates

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_PAGES: Final = 32_767
"""Largest number of pages that an entry can hold."""

ENTRY: Final = np.dtype([("seen", "<u2"), ("missed", "<u2"), ("mass", "u1")])
"""One node; see ``storage/lua/hosts/entries.lua``."""

_WAS_TEMPLATE: Final = 0x8000


def frequencies(entries: bytes, pages: int) -> NDArray[np.int64]:
    """int64, the document frequencies that packed entries stand for on a host of so many pages."""
    entry = np.frombuffer(entries, ENTRY)
    missed = (entry["missed"] & ~np.uint16(_WAS_TEMPLATE)).astype(np.int64)
    return frequency_estimates(entry["seen"].astype(np.int64), missed, pages)
