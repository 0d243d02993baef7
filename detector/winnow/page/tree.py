"""The shape of a tree: its elements in preorder, so that every subtree is a slice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(eq=False)
class Tree:
    """A tree of ``n`` elements in preorder. Subtree ``i`` is the slice ``[i, end[i])``.

    Attributes:
        parent: int32[n], -1 for the root.
        end: int32[n], end of the subtree's slice.
        depth: int32[n], 0 for the root.
    """

    parent: NDArray[np.int32]
    end: NDArray[np.int32]
    depth: NDArray[np.int32]

    @property
    def n(self) -> int:
        """Number of elements."""
        return len(self.parent)
