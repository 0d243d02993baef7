"""Where everything would be on a screen, estimated without a browser and without style sheets.

The layout conserves area: text, images and form controls take up an area, a box is as high as the areas inside it need
at its width, and boxes are stacked in reading order. All quantities are then sums over subtrees or over paths to the
root, and a few array operations lay out a whole page. Menus and hidden parts are laid out as if they were shown: a
model that judges them by themselves is better than one that takes them for a part of what is around them.

Sizes are the browsers' defaults; letters are a little smaller, as most style sheets make them. The paper this serves
annotates nodes with a real browser's positions and areas (Chakrabarti, Kumar, Punera: Page-level template detection via
isotonic smoothing, section 5.2). How near the estimate comes to a browser: ``benchmarks/layout/geometry.py``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.models.logistic.attributes import Attributes
from winnow.models.logistic.box_sizes import BANNERS, LOG_FONT_SCALE, margin_areas, own_areas
from winnow.models.logistic.columns import columns
from winnow.page.tags import IS_BLOCK_LEVEL
from winnow.page.text import TextStatistics
from winnow.page.tree import linked_runs, path_sums, subtree_sums, within

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.page.page import Page

    Floats = NDArray[np.float64]

PAGE_WIDTH: Final = 1024.0
HIDDEN_AREA: Final = 2000.0
"""Area in px² below which a node is hidden: neither classified nor smoothed (section 5.3)."""

_CHARACTER_WIDTH: Final = 7.2  # px, average
_LINE_HEIGHT: Final = 24.0  # px
_LETTER_HEIGHT: Final = 16.0  # px; boxes of inline elements leave out the space between lines
_LOG_SCALES: Final = (-0.7, 1.1)  # half and three times the usual size, however deep headings are nested
_NARROWEST: Final = 24.0  # px; of columns in columns in columns
_SHORT_LINE: Final = 200.0  # px; a shorter line in a link list or a page's header is one of several beside each other
_PADDING: Final = 60.0  # px, on both sides of such a line


@dataclass(frozen=True, eq=False)
class Geometry:
    """Boxes of the units of a page: its ``n`` elements, then its ``m`` text blocks.

    Attributes:
        x, y: float64[n + m], left and top edge in px.
        width, height: float64[n + m], in px.
        area: float64[n + m], in px²: what the contents take up.
        page_width, page_height: size of the page in px.
    """

    x: Floats
    y: Floats
    width: Floats
    height: Floats
    area: Floats
    page_width: float
    page_height: float

    @cached_property
    def hidden(self) -> NDArray[np.bool_]:
        """bool[n + m], area under 2,000 px²."""
        return self.area < HIDDEN_AREA

    @cached_property
    def centre_distance(self) -> Floats:
        """float64[n + m], distance of a box's middle from the page's, in half page sizes: 1 is an edge."""
        across = (self.x + self.width / 2) / (self.page_width / 2) - 1
        down = (self.y + self.height / 2) / (self.page_height / 2) - 1
        return np.hypot(across, down)

    @cached_property
    def side_distance(self) -> Floats:
        """float64[n + m], distance of a box's middle from the nearer side edge, in page widths: 0 to 0.5."""
        middle = (self.x + self.width / 2) / self.page_width
        return np.minimum(middle, 1 - middle)

    @cached_property
    def bottom_distance(self) -> Floats:
        """float64[n + m], distance of a box's bottom from the page's bottom, in px."""
        return np.maximum(self.page_height - self.y - self.height, 0)


def layout(page: Page, statistics: TextStatistics | None = None, attributes: Attributes | None = None) -> Geometry:
    """Estimate the box of every unit of a page on a screen 1,024 px wide.

    Args:
        page: the page.
        statistics: its text statistics, where the caller has them.
        attributes: its attributes, where the caller has them.
    """
    statistics = statistics or TextStatistics.of(page)
    attributes = attributes or Attributes.of(page)
    n, tag, parent = page.n, page.tag, page.parent
    above = np.maximum(parent, 0)
    block_level = IS_BLOCK_LEVEL[tag]

    scale = np.exp(np.clip(path_sums(page, LOG_FONT_SCALE[tag]), *_LOG_SCALES))
    characters = statistics.characters + statistics.words  # a space follows every word
    run_length = np.diff(characters) * _CHARACTER_WIDTH * scale[page.run_node]
    length = np.concatenate([[0.0], np.cumsum(run_length)])
    text_length = length[statistics.unit_run_end] - length[statistics.unit_run_begin]

    share, x_share, beside = columns(page, attributes, text_length[:n])
    width = np.maximum(PAGE_WIDTH * np.exp(path_sums(page, np.log(share))), _NARROWEST)

    line_height = _LINE_HEIGHT * scale
    block_width = width[page.block_node]
    block_length = text_length[n:]
    short = (within(page, BANNERS[tag])[page.block_node] | _linked(page)) & (block_length < _SHORT_LINE)
    full_lines = np.where(short, block_length + _PADDING, np.ceil(block_length / block_width) * block_width)
    block_area = full_lines * line_height[page.block_node] * (block_length > 0)
    margin = margin_areas(page, width, text_length[:n] > 0)
    own_area = own_areas(page, attributes, width) + margin

    before_block = np.concatenate([[0.0], np.cumsum(block_area)])
    before_element = np.concatenate([[0.0], np.cumsum(own_area)])
    start = before_block[page.block_begin] + before_element[:-1]
    own_in_subtree = before_element[page.end] - before_element[:-1] - margin
    area = np.maximum(before_block[page.block_end] - before_block[page.block_begin] + own_in_subtree, 0)
    inline = subtree_sums(page, block_level) == 0
    area[inline] = (text_length[:n] * _LETTER_HEIGHT * scale + np.maximum(own_in_subtree, 0))[inline]

    height = np.divide(area, width, out=np.zeros(n), where=width > 0)
    y_offset = np.where(beside, 0.0, (start - start[above]) / width[above])
    y = path_sums(page, y_offset)
    x = path_sums(page, x_share * width[above])
    narrow = np.minimum(width, np.maximum(area / line_height, 1.0))
    width = np.where(inline, narrow, width)
    height = np.where(inline, np.maximum(height, np.minimum(line_height, area)), height)

    node = page.block_node
    opened = np.searchsorted(page.run_begin, page.block_run_begin, side="right")
    block_start = before_block[:-1] + before_element[opened]
    page_height = max(float(area[0]) / PAGE_WIDTH if n else 0.0, _LINE_HEIGHT)
    return Geometry(
        x=np.concatenate([x, x[node]]),
        y=np.concatenate([y, y[node] + (block_start - start[node]) / block_width]),
        width=np.concatenate([width, np.minimum(block_width, block_length)]),
        height=np.concatenate([height, block_area / block_width]),
        area=np.concatenate([area, block_area]),
        page_width=PAGE_WIDTH,
        page_height=page_height,
    )


def _linked(page: Page) -> NDArray[np.bool_]:
    """bool[m], whether the first and the last run of each block are inside links: an item of a link list."""
    linked = linked_runs(page)
    return linked[page.block_run_begin] & linked[page.block_run_end - 1]
