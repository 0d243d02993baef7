"""Where everything would be on a screen, estimated without a browser and without style sheets.

The layout conserves area: text, images and form controls take up an area, a box is as high as the areas inside it need
at its width, and boxes are stacked in reading order. All quantities are then sums over subtrees or over paths to the
root, and a few array operations lay out a whole page. Menus and hidden parts are laid out as if they were shown: a
model that judges them by themselves is better than one that takes them for a part of what is around them.

Sizes are the browsers' defaults; letters are a little smaller, as most style sheets make them. The paper this serves
annotates nodes with a real browser's positions and areas (Chakrabarti, Kumar, Punera: Page-level template detection via
isotonic smoothing, section 5.2).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.page.tree import (
    IS_BLOCK_LEVEL,
    TAG_ID,
    TAG_NAMES,
    linked_runs,
    path_sums,
    prefix_sums,
    subtree_sums,
    tag_set,
    within,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.page.page import Page
    from winnow.page.text import TextTotals

    Floats = NDArray[np.float64]


_SIDE: Final = re.compile(
    r"side-?_?bar|\baside\b|(left|right)-?_?(col|rail|side|pane)|(col|rail)(umn)?-?_?(left|right)\b"
)
_COLUMN: Final = re.compile(r"\bcol-(?:lg|md)-(\d{1,2})\b")
_COLUMNS_OF_A_ROW: Final = 12  # the grid that class names such as col-md-4 count in
_NUMBER: Final = re.compile(r"\s*(\d{1,5})(?:\.\d*)?\s*(?:px\s*)?$")


def _column_hints(page: Page) -> tuple[NDArray[np.bool_], Floats]:
    """bool[n], class or id names a side column; float64[n], fraction of its row by a grid class, or 0."""
    side, share = np.zeros(page.n, bool), np.zeros(page.n)
    for name in ("class", "id"):
        for element, names in page.attribute(name).items():
            is_side, of_row = _column_hint(names)
            side[element] |= is_side
            share[element] = of_row or share[element]
    return side, share


@lru_cache(maxsize=8_192)
def _column_hint(names: str) -> tuple[bool, float]:
    """Whether a class or id names a side column, and its fraction of a row (0 for none)."""
    names = names.lower()
    if "side" not in names and "col" not in names and "rail" not in names:
        return False, 0.0
    column = _COLUMN.search(names)
    share = min(int(column[1]) / _COLUMNS_OF_A_ROW, 1.0) if column else 0.0
    return bool(_SIDE.search(names)), share


def _pixels(page: Page, name: str) -> dict[int, int]:
    """Pixels by element, where an attribute declares a plain number of them."""
    declared = page.attribute(name).items()
    return {index: int(number[1]) for index, value in declared if (number := _NUMBER.match(value))}


# What elements take up by themselves: margins, images, form controls, and the size of their letters.

BANNERS: Final = tag_set("nav", "header", "footer", "menu")
"""Look-up table over tag ids: elements whose short lines and small images stand beside each other."""

_LOGO_HEIGHT: Final = 60.0  # px; images in headers, footers and menus are no higher, whatever their files are
_SIZED: Final = tag_set("img", "video", "iframe", "embed", "object", "canvas", "svg", "input")


def _by_tag(default: float, **values: float) -> Floats:
    table = np.full(len(TAG_NAMES), default, float)
    for name, value in values.items():
        table[TAG_ID[name]] = value
    return table


LOG_FONT_SCALE: Final = np.log(
    _by_tag(1, h1=2, h2=1.5, h3=1.17, h5=0.83, h6=0.67, small=0.83, sub=0.83, sup=0.83, big=1.2, pre=0.81)
)
"""Logarithm of the size of an element's letters relative to its parent's, by tag id."""

_MARGIN: Final = _by_tag(0, p=16, h1=21, h2=20, h3=19, h4=21, h5=22, h6=25, ul=16, ol=16, dl=16, blockquote=16, pre=13,
                         figure=16, fieldset=16, hr=16, td=2, th=2, legend=4)  # fmt: skip
_DEFAULT_WIDTH: Final = _by_tag(0, img=200, video=640, iframe=300, embed=300, object=300, canvas=300, svg=24, input=170,
                                textarea=180, select=120, audio=300, button=16, progress=160, meter=80)  # fmt: skip
_DEFAULT_HEIGHT: Final = _by_tag(0, img=150, video=360, iframe=150, embed=150, object=150, canvas=150, svg=24, input=24,
                                 textarea=40, select=24, audio=54, button=24, progress=16, meter=16)  # fmt: skip
_RULE_HEIGHT: Final = _by_tag(0, hr=2)  # of its container's width
_SMALL_INPUT: Final = {"hidden": 0, "checkbox": 20, "radio": 20, "submit": 80, "button": 80, "image": 80, "reset": 80}


def own_areas(page: Page, width: Floats) -> Floats:
    """float64[n], area of each element by itself: rules, images, and form controls."""
    tag = page.tag
    area: Floats = _RULE_HEIGHT[tag] * width
    wide, high = _DEFAULT_WIDTH[tag], _DEFAULT_HEIGHT[tag]
    widths, heights, types = _pixels(page, "width"), _pixels(page, "height"), page.attribute("type")
    for index in np.flatnonzero(_SIZED[tag]).tolist():
        declared_width, declared_height = widths.get(index), heights.get(index)
        if declared_width is not None:
            wide[index] = declared_width
            high[index] = declared_height if declared_height is not None else min(declared_width * 0.67, high[index])
        elif declared_height is not None:
            high[index] = declared_height
            wide[index] = min(declared_height * 1.5, wide[index])
        elif index in types:
            wide[index] = _SMALL_INPUT.get(types[index].lower(), wide[index])
    wide[within(page, tag == TAG_ID["noscript"]) & (tag == TAG_ID["img"])] = 0  # stands in for an image already counted
    in_banner = within(page, BANNERS[tag])
    wide[in_banner] = np.minimum(wide, _LOGO_HEIGHT * wide / np.maximum(high, 1))[in_banner]
    high[in_banner] = np.minimum(high, _LOGO_HEIGHT)[in_banner]
    area += wide * high * np.minimum(width / np.maximum(wide, 1), 1) ** 2  # shrunk to fit, in proportion
    return area


# Which boxes of a page stand beside each other, as far as markup tells without style sheets.

_SIDE_SHARE: Final = 0.28  # width of a side column
_TEXT_OF_A_SIDE: Final = 0.5  # an element with more of the page's text is no side column, whatever it is called

_CELL: Final = tag_set("td", "th")


def columns(page: Page, text_length: Floats) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Boxes beside each other: table cells, grid classes, and side columns with what is beside them.

    Returns:
        float64[n] fraction of the parent's width, float64[n] left edge as a fraction of it, bool[n] true for boxes that
        begin at the top of their parent instead of below their predecessor.
    """
    n, parent, tag = page.n, page.parent, page.tag
    share, left, beside = np.ones(n), np.zeros(n), np.zeros(n, bool)

    cells = np.flatnonzero(_CELL[tag])
    if len(cells):
        need = np.sqrt(text_length[cells] + 20)  # a browser gives columns width by their contents
        rows = np.bincount(parent[cells], need, n)
        share[cells] = need / rows[parent[cells]]
        beside[cells] = True
    is_side, column_share = _column_hints(page)
    declared = np.flatnonzero(column_share)
    share[declared] = column_share[declared]
    in_row = np.union1d(cells, declared) if len(declared) else cells
    if len(in_row):
        in_row = in_row[np.argsort(parent[in_row], kind="stable")]
        sums = prefix_sums(np.rint(share[in_row] * 4096).astype(np.int64)) / 4096
        row = parent[in_row]
        first = np.searchsorted(row, row)
        left[in_row] = np.minimum((sums[:-1] - sums[first]) % 1.0, 1 - share[in_row])

    side = (is_side | (tag == TAG_ID["aside"])) & IS_BLOCK_LEVEL[tag]
    side &= (text_length < _TEXT_OF_A_SIDE * text_length[:1]) & (share == 1) & (parent > 0)
    sides = np.flatnonzero(side)
    if len(sides):
        first_side = np.full(n + 1, n)
        first_side[parent[sides][::-1]] = sides[::-1]
        first = first_side[parent]
        main = (first < n) & ~side & IS_BLOCK_LEVEL[tag] & (share == 1)
        share[main] = 1 - _SIDE_SHARE
        on_the_left = page.run_begin[sides] == page.run_begin[parent[sides]]
        left[main & (np.arange(n) > first)] = 0.0
        after_left = np.zeros(n + 1, bool)
        after_left[parent[sides[on_the_left]]] = True
        left[main & after_left[parent]] = _SIDE_SHARE
        share[sides] = _SIDE_SHARE
        left[sides] = np.where(on_the_left, 0.0, 1 - _SIDE_SHARE)
        beside[sides] = True
    return share, left, beside


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
    """Boxes of the ``n`` elements of a page.

    Attributes:
        x, y, width, height: float64[n], left and top edge and size in px.
        area: float64[n], in px²: what the contents take up.
        page_height: in px.
    """

    x: Floats
    y: Floats
    width: Floats
    height: Floats
    area: Floats
    page_height: float

    @property
    def vertical_position(self) -> Floats:
        """float64[n], distance of a box's middle from the top, in page heights."""
        return (self.y + self.height / 2) / self.page_height

    @property
    def centre_distance(self) -> Floats:
        """float64[n], distance of a box's middle from the page's, in half page sizes: 1 is an edge."""
        across = (self.x + self.width / 2) / (PAGE_WIDTH / 2) - 1
        return np.hypot(across, 2 * self.vertical_position - 1)

    @property
    def side_distance(self) -> Floats:
        """float64[n], distance of a box's middle from the nearer side edge, in page widths: 0 to 0.5."""
        middle = (self.x + self.width / 2) / PAGE_WIDTH
        return np.minimum(middle, 1 - middle)

    @property
    def bottom_distance(self) -> Floats:
        """float64[n], distance of a box's bottom from the page's bottom, in px."""
        return np.maximum(self.page_height - self.y - self.height, 0)


def layout(page: Page, statistics: TextTotals) -> Geometry:
    """Estimate the box of every element of a page, whose text statistics are given, on a screen 1,024 px wide."""
    n, tag, parent = page.n, page.tag, page.parent
    above = np.maximum(parent, 0)
    block_level = IS_BLOCK_LEVEL[tag]

    scale = np.exp(np.clip(path_sums(page, LOG_FONT_SCALE[tag]), *_LOG_SCALES))
    characters = statistics.characters + statistics.words  # a space follows every word
    run_length = np.diff(characters) * _CHARACTER_WIDTH * scale[page.run_node]
    length = np.concatenate([[0.0], np.cumsum(run_length)])
    text_length = length[page.run_end] - length[page.run_begin]

    share, x_share, beside = columns(page, text_length)
    width = np.maximum(PAGE_WIDTH * np.exp(path_sums(page, np.log(share))), _NARROWEST)

    line_height = _LINE_HEIGHT * scale
    block_width = width[page.block_node]
    block_length = length[page.block_run_end] - length[page.block_run_begin]
    linked = linked_runs(page)
    in_list = linked[page.block_run_begin] & linked[page.block_run_end - 1]  # an item of a link list
    short = (within(page, BANNERS[tag])[page.block_node] | in_list) & (block_length < _SHORT_LINE)
    full_lines = np.where(short, block_length + _PADDING, np.ceil(block_length / block_width) * block_width)
    block_area = full_lines * line_height[page.block_node] * (block_length > 0)
    margin = _MARGIN[tag] * ((text_length > 0) | (tag == TAG_ID["hr"])) * width  # no part of the box itself
    own_area = own_areas(page, width) + margin

    before_block = np.concatenate([[0.0], np.cumsum(block_area)])
    before_element = np.concatenate([[0.0], np.cumsum(own_area)])
    start = before_block[page.block_begin] + before_element[:-1]
    own_in_subtree = before_element[page.end] - before_element[:-1] - margin
    area = np.maximum(before_block[page.block_end] - before_block[page.block_begin] + own_in_subtree, 0)
    inline = subtree_sums(page, block_level) == 0
    area[inline] = (text_length * _LETTER_HEIGHT * scale + np.maximum(own_in_subtree, 0))[inline]

    height = np.divide(area, width, out=np.zeros(n), where=width > 0)
    y_offset = np.where(beside, 0.0, (start - start[above]) / width[above])
    y = path_sums(page, y_offset)
    x = path_sums(page, x_share * width[above])
    narrow = np.minimum(width, np.maximum(area / line_height, 1.0))
    width = np.where(inline, narrow, width)
    height = np.where(inline, np.maximum(height, np.minimum(line_height, area)), height)
    page_height = max(float(area[0]) / PAGE_WIDTH, _LINE_HEIGHT)
    return Geometry(x, y, width, height, area, page_height)
