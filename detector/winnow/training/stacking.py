"""Stacking: what is learned as a feature is given to each page by what was learned without its source.

As in the stacked model of the site-independent template blocks paper, section 4.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]
    Floats = NDArray[np.float64]


class StaticPage(Protocol):
    """A page as examples, with features that need nothing learned."""

    @property
    def source(self) -> str:
        """Site or domain."""
        ...

    @property
    def static(self) -> Matrix:
        """float32[m, k]."""
        ...


_Page = TypeVar("_Page", bound=StaticPage)


def dealt(sources: Iterable[str], folds: int, seed: int) -> dict[str, int]:
    """Deal sources into folds of the same size or one more; the same seed and sources give the same folds."""
    names = sorted(set(sources))
    return dict(zip(names, (np.random.default_rng(seed).permutation(len(names)) % folds).tolist(), strict=True))


def stacked(
    pages: Sequence[_Page],
    weight: Floats,
    learn: Callable[[Sequence[_Page], Floats], Callable[[_Page], Matrix]],
    *,
    folds: int,
    seed: int,
) -> list[Matrix]:
    """Put the static and the learned features of pages side by side.

    Args:
        pages: of m blocks each.
        weight: float64[pages].
        learn: given pages and their weights, returns what gives a page its learned features, float32[m, l].
        folds: the learned features of a page are of the pages of the other folds.
        seed: of the folds.

    Returns:
        float32[m, k + l] of every page.
    """
    fold_of = dealt((page.source for page in pages), folds, seed)
    fold = np.array([fold_of[page.source] for page in pages])
    matrices: list[Matrix] = [np.zeros((0, 0), np.float32)] * len(pages)
    for number in range(folds):
        seen = np.flatnonzero(fold != number)
        features = learn([pages[index] for index in seen.tolist()], weight[seen])
        for index in np.flatnonzero(fold == number).tolist():
            page = pages[index]
            matrices[index] = np.concatenate([page.static, features(page)], axis=1, dtype=np.float32)
    return matrices
