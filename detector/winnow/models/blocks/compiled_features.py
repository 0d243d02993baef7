"""The features that need nothing learned, by the compiled core: the double of the modules of ``features``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from winnow.core import SEED
from winnow.models.blocks.features import containers, page_level
from winnow.models.blocks.features.measures import EMPHASIS, GROUP_OF_TAG
from winnow.models.blocks.features.names import class_signatures, hiding_places
from winnow.models.blocks.features.words import LeadingWords
from winnow.page.tags import tag_set
from winnow.page.text.kinds import character_properties
from winnow.page.text.statistics import text_totals

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.core import Core
    from winnow.page.page import Page

_GROUP_OF_TAG: Final = GROUP_OF_TAG.astype(np.int8)
_SETS: Final = (
    *containers.COUNTED_TAGS.values(),  # features.h has the same order
    *(page_level.COUNTED[name] for name in ("tables", "li", "pre", "articles", "mains")), tag_set("noscript"), EMPHASIS,
)  # fmt: skip
_FLAGS: Final = sum((table.astype(np.uint32) << bit for bit, table in enumerate(_SETS)), start=np.uint32(0))


class Computed(NamedTuple):
    """What comes with the features.

    Attributes:
        of_page: float32[len(page_level.NAMES)].
        words: float64[m], words of each block.
        leading: the first words of each block.
        levels: int64[LEVELS, m], the containers of each block, innermost first.
        owner: int32[m], the element that the first run of each block belongs to.
    """

    of_page: NDArray[np.float32]
    words: NDArray[np.float64]
    leading: LeadingWords
    levels: NDArray[np.int64]
    owner: NDArray[np.int32]


def write_features(core: Core, page: Page, rows: NDArray[np.float32]) -> Computed:
    """Write float32[len(STATIC_NAMES), m], feature by feature."""
    table, lines = page.attributes, page.block_lines
    hides = np.zeros(len(table.first), bool)
    hides[hiding_places(table)] = True
    lowered = core.lower_case(lines, character_properties())
    leading = LeadingWords.of(lowered, page.m, page.title)
    found = Computed(
        of_page=np.empty(len(page_level.NAMES), np.float32),
        words=np.empty(page.m),
        leading=leading,
        levels=np.empty((containers.LEVELS, page.m), np.int64),
        owner=np.empty(page.m, np.int32),
    )
    core.static_features(
        *(page.arrays, _FLAGS, _GROUP_OF_TAG, text_totals(page), table.first, table.begin),
        *(class_signatures(table), hides, character_properties(), leading.told, lines, lowered, leading.title, SEED),
        *(rows, found.of_page, found.words, found.levels, found.owner),
    )
    return found
