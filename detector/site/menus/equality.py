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

    from detector.site.menus.profile import Profile

    Hashes = NDArray[np.uint64]
    Numbers = NDArray[np.int64]

TAG: Final = "tag"
ATTRIBUTES: Final = "attributes"
WEIGHTED: Final = "weighted"
EQUALITIES: Final = (TAG, ATTRIBUTES, WEIGHTED)
THRESHOLD: Final = 0.5


class Equality(Protocol):
    """A relation between elements of two pages."""

    def equal(self, one: Profile, nodes: Numbers, other: Profile, others: Numbers) -> NDArray[np.bool_]:
        """bool[k]: whether element ``nodes[i]`` of one page equals ``others[i]`` of the other, k pairs."""
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

    def equal(self, one: Profile, nodes: Numbers, other: Profile, others: Numbers) -> NDArray[np.bool_]:
        """Compare pairs; see :meth:`Equality.equal`."""
        same: NDArray[np.bool_] = self.keys(one)[nodes] == self.keys(other)[others]
        return same


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
    identifier: float = 3.0
    classes: float = 2.0
    children: float = 0.5
    position: float = 0.5
    others: float = 2.0

    def equal(self, one: Profile, nodes: Numbers, other: Profile, others: Numbers) -> NDArray[np.bool_]:
        """Compare pairs; see :meth:`Equality.equal`."""
        same: NDArray[np.bool_] = one.tag[nodes] == other.tag[others]
        where = np.flatnonzero(same & ~one.frame[nodes])
        same[where] = self.likeness(one, nodes[where], other, others[where]) >= self.threshold
        return same

    def likeness(self, one: Profile, nodes: Numbers, other: Profile, others: Numbers) -> NDArray[np.float64]:
        """float64[k], weighted mean of the likenesses of pairs of elements, whatever their tags."""
        total: NDArray[np.float64] = np.zeros(len(nodes))
        weight: NDArray[np.float64] = np.zeros(len(nodes))

        def add(own: float, likeness: NDArray[np.float64], counts: NDArray[np.bool_]) -> None:
            total[counts] += np.multiply(likeness[counts], own)
            weight[counts] += own

        first, second = one.identifier[nodes], other.identifier[others]
        add(self.identifier, (first == second).astype(np.float64), (first | second) != 0)
        add(self.classes, *_jaccard(one.classes[nodes], other.classes[others]))
        add(self.others, *_jaccard(one.others[nodes], other.others[others]))
        few, many = (f(one.children[nodes], other.children[others]) for f in (np.minimum, np.maximum))
        add(self.children, few / np.maximum(1, many), many > 0)
        near = 1 - np.abs(one.position[nodes] - other.position[others]).astype(np.float64)
        add(self.position, near, np.ones(len(nodes), bool))
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


def _jaccard(one: Hashes, other: Hashes) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Jaccard coefficients of pairs of sets, each a row of hashes without repetition and zeros, and which have any."""
    shared = np.zeros(len(one), np.int64)
    for column in range(other.shape[1]):
        hashes = other[:, column : column + 1]
        if not hashes.any():
            break
        shared += ((one == hashes) & (hashes != 0)).any(axis=1)
    union = (one != 0).sum(axis=1) + (other != 0).sum(axis=1) - shared
    return shared / np.maximum(1, union), union > 0
