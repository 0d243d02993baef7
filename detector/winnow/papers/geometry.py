"""Where everything would be on a screen, estimated without a browser and without style sheets.

The layout conserves area: text, images and form controls take up an area, and an element is as high as the areas inside
it need at the width of the page. All quantities are then sums over subtrees or over paths to the root, and a few array
operations lay out a whole page. Menus and hidden parts are laid out as if they were shown: a model that judges them by
themselves is better than one that takes them for a part of what is around them. Margins, declared sizes, and columns as
far as markup tells of them are left out: with them the model had recall 0.82 of the template of held-out sites at
precision 0.90, without them 0.85; the text F1 on WCXB was 0.829, and is 0.818, on ``articles`` 0.831 and 0.836.

Sizes are the browsers' defaults; letters are a little smaller, as most style sheets make them. The paper this serves
annotates nodes with a real browser's positions and areas (Chakrabarti, Kumar, Punera: Page-level template detection via
isotonic smoothing, section 5.2).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from winnow.page.tree import IS_BLOCK_LEVEL, TAG_ID, TAG_NAMES, path_sums, subtree_sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.page.page import Page
    from winnow.page.text import TextTotals

    Floats = NDArray[np.float64]


def _by_tag(default: float, **values: float) -> Floats:
    table = np.full(len(TAG_NAMES), default, float)
    for name, value in values.items():
        table[TAG_ID[name]] = value
    return table


_LOG_FONT_SCALE: Final = np.log(  # of an element's letters, relative to its parent's
    _by_tag(1, h1=2, h2=1.5, h3=1.17, h5=0.83, h6=0.67, small=0.83, sub=0.83, sup=0.83, big=1.2, pre=0.81)
)
_LOG_SCALES: Final = (-0.7, 1.1)  # half and three times the usual size, however deep headings are nested
_AREA: Final = _by_tag(  # px² of images and form controls
    0, img=30_000, video=230_400, iframe=45_000, embed=45_000, object=45_000, canvas=45_000, svg=576, input=4_080,
    textarea=7_200, select=2_880, audio=16_200, button=384, progress=2_560, meter=1_280,
)  # fmt: skip

_PAGE_WIDTH: Final = 1024.0  # px
_CHARACTER_WIDTH: Final = 7.2  # px, average
_LINE_HEIGHT: Final = 24.0  # px
_LETTER_HEIGHT: Final = 16.0  # px; elements within a line leave out the space between lines

HIDDEN_AREA: Final = 2000.0
"""Area in px² below which a node is hidden: neither classified nor smoothed (section 5.3)."""


class Geometry(NamedTuple):
    """Places of the ``n`` elements of a page.

    Attributes:
        top, bottom, area: float64[n], in px and px²; the area is what the contents take up.
        page_height: in px.
    """

    top: Floats
    bottom: Floats
    area: Floats
    page_height: float


def layout(page: Page, statistics: TextTotals) -> Geometry:
    """Estimate the place of every element of a page, whose text statistics are given, on a screen 1,024 px wide."""
    tag = page.tag
    scale = np.exp(np.clip(path_sums(page, _LOG_FONT_SCALE[tag]), *_LOG_SCALES))
    characters = statistics.characters + statistics.words  # a space follows every word
    length = _sums_before(np.diff(characters) * _CHARACTER_WIDTH * scale[page.run_node])
    text_length = length[page.run_end] - length[page.run_begin]
    lines = np.ceil((length[page.block_run_end] - length[page.block_run_begin]) / _PAGE_WIDTH)
    before_block = _sums_before(lines * _LINE_HEIGHT * _PAGE_WIDTH * scale[page.block_node])
    before_element = _sums_before(_AREA[tag])
    own_area = before_element[page.end] - before_element[:-1]
    in_line = subtree_sums(page, IS_BLOCK_LEVEL[tag]) == 0
    text_area = before_block[page.block_end] - before_block[page.block_begin]
    area = np.where(in_line, text_length * _LETTER_HEIGHT * scale, text_area) + own_area
    top = (before_block[page.block_begin] + before_element[:-1]) / _PAGE_WIDTH
    return Geometry(top, top + area / _PAGE_WIDTH, area, max(float(area[0]) / _PAGE_WIDTH, _LINE_HEIGHT))


def _sums_before(values: Floats) -> Floats:
    """float64[k + 1], sums of what comes before each of k values, and of all."""
    return np.append(0.0, np.cumsum(values))
