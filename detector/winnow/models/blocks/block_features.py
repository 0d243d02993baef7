"""One row of features per text block: the block itself, its place, its containers, its neighbours and its page.

Every feature is a number without a script's or a language's rules in it; names of elements and words enter only
through learned log-odds (:mod:`winnow.models.blocks.features.tokens`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.models.blocks.features import containers, neighbours, page_level, position, signatures, tokens, wording
from winnow.models.blocks.features.measures import WORDS, BlockMeasures
from winnow.models.blocks.features.naming import Naming
from winnow.models.blocks.surroundings import Surroundings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.models.blocks.features.tokens import Tokens, TokenTables
    from winnow.page.page import Page

    Floats = NDArray[np.float64]

STATIC_NAMES: Final = (
    *wording.NAMES, *position.NAMES, *containers.NAMES, *neighbours.NAMES, *signatures.NAMES, *page_level.NAMES,
)  # fmt: skip
"""Features that need nothing learned, in the order of the columns."""

FEATURE_NAMES: Final = (*STATIC_NAMES, *tokens.NAMES)
"""All features, in the order of the columns."""


@dataclass(frozen=True, eq=False, slots=True)
class BlockFeatures:
    """Features of a page's blocks, and what the learned ones are made from.

    Attributes:
        static: float32[m, len(STATIC_NAMES)].
        words: float64[m], words of each block.
        tokens: hashed names and words.
    """

    static: NDArray[np.float32]
    words: Floats
    tokens: Tokens

    @classmethod
    def of(cls, page: Page) -> BlockFeatures:
        """Compute the features of a page."""
        measures = BlockMeasures.of(page)
        levels = containers.containers(page)
        naming = Naming.of(page)
        alike = signatures.alike_siblings(page, naming.signature)
        place = signatures.places(measures, naming.signature)
        twins = _twins(measures.texts)
        columns = [
            wording.wording_features(measures, twins, naming.hidden),
            position.position_features(measures),
            containers.container_features(measures, levels, alike),
            neighbours.neighbour_features(measures),
            signatures.place_features(measures, place, twins),
            page_level.page_features(measures, alike),
        ]
        return cls(
            words=measures.block[:, WORDS],
            static=np.concatenate(columns, axis=1, dtype=np.float32),
            tokens=tokens.Tokens.of(measures, naming.parts, levels),
        )

    @property
    def surroundings(self) -> Surroundings:
        """Stretches of blocks around each block."""
        return Surroundings.of(self.tokens, self.words)

    def matrix(self, tables: TokenTables) -> NDArray[np.float32]:
        """float32[m, len(FEATURE_NAMES)], all features."""
        learned = tables.features(self.tokens)
        return np.concatenate([self.static, learned], axis=1, dtype=np.float32)


def _twins(texts: list[str]) -> NDArray[np.float64]:
    """float64[m], number of other blocks with the same text."""
    seen: dict[str, int] = {}
    for text in texts:
        seen[text] = seen.get(text, -1) + 1
    return np.fromiter((seen[text] for text in texts), np.float64, len(texts))
