"""One row of features per text block: the block itself, its place, its containers and its neighbours.

Every feature is a number without a script's or a language's rules in it; names of elements and words enter only
through learned log-odds (:mod:`winnow.models.blocks.features.tokens`). What the whole page is like is kept apart: a
network that sees it learns the pages of its collection, and does worse on others.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.core import compiled
from winnow.models.blocks.compiled_features import write_features
from winnow.models.blocks.features import containers, neighbours, page_level, position, signatures, tokens, wording
from winnow.models.blocks.features.measures import WORDS, BlockMeasures
from winnow.models.blocks.features.names import NameParts, Naming
from winnow.models.blocks.surroundings import Surroundings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.core import Core
    from winnow.models.blocks.features.tokens import Tokens, TokenTables
    from winnow.page.page import Page

    Floats = NDArray[np.float64]

_GROUPS: Final = (wording, position, containers, neighbours, signatures)
_ENDS: Final = tuple(accumulate(len(group.NAMES) for group in _GROUPS))

STATIC_NAMES: Final = tuple(name for group in _GROUPS for name in group.NAMES)
"""Features that need nothing learned, in the order of the columns."""

FEATURE_NAMES: Final = (*STATIC_NAMES, *tokens.NAMES)
"""All features, in the order of the columns."""

_KEPT: Final = "block features"  # where a page keeps them


@dataclass(frozen=True, eq=False)
class BlockFeatures:
    """Features of a page's blocks, and what the learned ones are made from.

    Attributes:
        static: float32[m, len(STATIC_NAMES)].
        of_page: float32[len(page_level.NAMES)], what tells kinds of pages apart.
        words: float64[m], words of each block.
        tokens: hashed names and words.
        rows: float32[len(FEATURE_NAMES), m], all features, feature by feature; those that are learned come last.
    """

    static: NDArray[np.float32]
    of_page: NDArray[np.float32]
    words: Floats
    tokens: Tokens
    rows: NDArray[np.float32]

    @classmethod
    def of(cls, page: Page) -> BlockFeatures:
        """Compute the features of a page."""
        core = compiled()
        if core is not None:
            return cls._compiled(core, page)
        measures = BlockMeasures.of(page)
        levels = containers.containers(page)
        naming = Naming.of(page)
        alike = signatures.alike_siblings(page, naming.signature)
        place = signatures.places(measures, naming.signature)
        twins = _twins(measures.texts)
        rows = np.empty((len(FEATURE_NAMES), page.m), np.float32)
        of_wording, of_position, of_containers, of_neighbours, of_place, _ = np.split(rows, _ENDS)
        wording.write(of_wording, measures, twins, naming.hidden)
        position.write(of_position, measures)
        containers.write(of_containers, measures, levels, alike)
        neighbours.write(of_neighbours, measures)
        signatures.write(of_place, measures, place, twins)
        return cls(
            words=measures.counts[WORDS],
            static=rows[: len(STATIC_NAMES)].T,
            of_page=page_level.page_features(measures, alike).astype(np.float32),
            tokens=tokens.Tokens.of(page, measures.words, measures.owner, naming.parts, levels),
            rows=rows,
        )

    @classmethod
    def _compiled(cls, core: Core, page: Page) -> BlockFeatures:
        rows = np.empty((len(FEATURE_NAMES), page.m), np.float32)
        found = write_features(core, page, rows[: len(STATIC_NAMES)])
        return cls(
            words=found.words,
            static=rows[: len(STATIC_NAMES)].T,
            of_page=found.of_page,
            tokens=tokens.Tokens.of(page, found.leading, found.owner, NameParts.of(page.attributes), found.levels),
            rows=rows,
        )

    @cached_property
    def surroundings(self) -> Surroundings:
        """Stretches of blocks around each block."""
        return Surroundings.of(self.tokens, self.words)

    def matrix(self, tables: TokenTables) -> NDArray[np.float32]:
        """float32[m, len(FEATURE_NAMES)], all features."""
        tables.write(self.rows[len(STATIC_NAMES) :], self.tokens)
        return self.rows.T


def features_of(page: Page) -> BlockFeatures:
    """Features of a page's blocks, computed once for all who ask for them."""
    known = vars(page)
    if _KEPT not in known:
        known[_KEPT] = BlockFeatures.of(page)
    features: BlockFeatures = known[_KEPT]
    return features


def _twins(texts: list[str]) -> NDArray[np.float64]:
    """float64[m], number of other blocks with the same text."""
    number = Counter(texts)
    return np.fromiter(map(number.__getitem__, texts), np.float64, len(texts)) - 1
