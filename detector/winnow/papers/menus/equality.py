"""When two nodes of two pages are taken as equal: the open parameter of the exact top-down mapping.

"Web Template Extraction Based on Hyperlink Analysis", definition 3.2 and section 4.2. Nodes of the first two kinds are
equal when their keys are, which makes mapping a look-up; the third compares each node with each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.papers.menus.profile import Profile

    Hashes = NDArray[np.uint64]
    Numbers = NDArray[np.int64]

TAG: Final = "tag"
ATTRIBUTES: Final = "attributes"
WEIGHTED: Final = "weighted"
EQUALITIES: Final = (TAG, ATTRIBUTES, WEIGHTED)
THRESHOLD: Final = 0.5


class Comparison(Protocol):
    """An equality between the elements of two pages."""

    def __call__(self, nodes: Numbers, others: Numbers, /) -> NDArray[np.bool_]:
        """bool[k]: whether element ``nodes[i]`` of the one page equals ``others[i]`` of the other, k pairs."""
        ...


class Equality(Protocol):
    """A relation between elements of pages."""

    def between(self, one: Profile, other: Profile) -> Comparison:
        """Return what compares elements of two pages."""
        ...


@dataclass(frozen=True)
class ByKey:
    """Elements are equal when their tags are, or their tags and all their normalised attributes.

    Attributes:
        with_attributes: compare attributes, too.
    """

    with_attributes: bool

    def keys(self, page: Profile) -> Hashes:
        """uint64[n]: equal for equal elements, and only for them."""
        return page.tag ^ page.attributes if self.with_attributes else page.tag

    def between(self, one: Profile, other: Profile) -> Comparison:
        """Return what compares elements of two pages."""
        keys, other_keys = self.keys(one), self.keys(other)

        def equal(nodes: Numbers, others: Numbers) -> NDArray[np.bool_]:
            same: NDArray[np.bool_] = keys[nodes] == other_keys[others]
            return same

        return equal


@dataclass(frozen=True)
class Weighted:
    """Elements of one tag are equal when enough else is alike: a weighted mean of up to five likenesses, 0 to 1.

    The paper names what is weighted, not how much; weights and threshold are ours. What neither element has does not
    count. Likeness of ids is 1 or 0, of classes and of other attributes their Jaccard coefficient, of numbers of
    children the lesser over the greater, of places among the siblings (0 first, 1 last) 1 minus their distance.

    ``html``, ``head`` and ``body`` are always equal to their likes.

    Attributes:
        threshold: least mean.
        identifier, classes, children, position, others: weights.
    """

    threshold: float = THRESHOLD
    identifier: float = 1.0
    classes: float = 1.0
    children: float = 0.5
    position: float = 0.5
    others: float = 1.0

    def between(self, one: Profile, other: Profile) -> Comparison:
        """Return what compares elements of two pages; the likenesses of their classes and attributes are tabled."""
        likeness = Likeness(self, one, other)

        def equal(nodes: Numbers, others: Numbers) -> NDArray[np.bool_]:
            same: NDArray[np.bool_] = one.tag[nodes] == other.tag[others]
            where = np.flatnonzero(same & ~one.frame[nodes])
            same[where] = likeness(nodes[where], others[where]) >= self.threshold
            return same

        return equal


class Likeness:
    """Weighted means of the likenesses of elements of two pages, whatever their tags."""

    def __init__(self, weights: Weighted, one: Profile, other: Profile) -> None:
        self._weights = weights
        self._one, self._other = one, other
        self._classes = _jaccard(one.classes.rows, other.classes.rows)
        self._others = _jaccard(one.others.rows, other.others.rows)

    def __call__(self, nodes: Numbers, others: Numbers) -> NDArray[np.float64]:
        """float64[k], likeness of each of k pairs."""
        one, other, weights = self._one, self._other, self._weights
        near = 1 - np.abs(one.position[nodes] - other.position[others]).astype(np.float64)
        total, weight = weights.position * near, np.full(len(nodes), weights.position)

        def add(own: float, likeness: NDArray[np.float64], counts: NDArray[np.bool_]) -> None:
            np.add(total, np.multiply(likeness, own), out=total, where=counts)
            np.add(weight, own, out=weight, where=counts)

        first, second = one.identifier[nodes], other.identifier[others]
        add(weights.identifier, (first == second).astype(np.float64), (first | second) != 0)
        for own, table, mine, its in (
            (weights.classes, self._classes, one.classes, other.classes),
            (weights.others, self._others, one.others, other.others),
        ):
            likeness = table[mine.index[nodes], its.index[others]]
            add(own, likeness, likeness >= 0)
        few, many = (f(one.children[nodes], other.children[others]) for f in (np.minimum, np.maximum))
        add(weights.children, few / np.maximum(1, many), many > 0)
        mean: NDArray[np.float64] = total / weight
        return mean


def equality_of(name: str, threshold: float = THRESHOLD) -> Equality:
    """Return an equality by its name, one of :data:`EQUALITIES`.

    Args:
        name: ``"tag"``, ``"attributes"`` (tag and attributes) or ``"weighted"``.
        threshold: least likeness for ``"weighted"``.

    Raises:
        ValueError: there is no such equality, or the threshold is not from 0 to 1.
    """
    if not 0 <= threshold <= 1:
        raise ValueError(f"threshold must be from 0 to 1: {threshold}")
    if name not in EQUALITIES:
        raise ValueError(f"equality must be one of {', '.join(EQUALITIES)}: {name!r}")
    return Weighted(threshold) if name == WEIGHTED else ByKey(with_attributes=name == ATTRIBUTES)


def _jaccard(one: Hashes, other: Hashes) -> NDArray[np.float64]:
    """float64[u, v], Jaccard coefficient of each two sets, rows of hashes filled up with 0; -1 where both are empty."""
    shared = np.zeros((len(one), len(other)), np.int64)
    for mine in one.T:
        for its in other.T:
            shared += (mine[:, None] == its) & (mine != 0)[:, None]
    union = (one != 0).sum(axis=1)[:, None] + (other != 0).sum(axis=1) - shared
    return np.where(union > 0, shared / np.maximum(1, union), -1.0)
