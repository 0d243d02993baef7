"""Copies of gold pages in the markup of other times: what is learned must not lean on how today's pages are written.

Gold pages are of recent years. Without copies, models that were trained on them keep too much of pages whose elements
have no telling names, or that were laid out with tables.
"""

from __future__ import annotations

from contextlib import suppress
from itertools import compress
from typing import TYPE_CHECKING, Final, Literal, get_args
from zlib import crc32

import numpy as np
from lxml import etree

from winnow.page.page import Page, PageTooLarge
from winnow.page.parsing import parse_html

if TYPE_CHECKING:
    from winnow.training.blocks.gold_sets import GoldExample

Style = Literal["unnamed", "plain", "tables"]

STYLES: Final[tuple[Style, ...]] = get_args(Style)
"""Attributes that name elements are gone; elements of HTML5 are ``div`` besides; some of these are tables besides."""

_TABLES: Final = 0.3  # share of the containers that become tables
_KEPT: Final = frozenset(
    """
    alt charset colspan content dir hidden href http-equiv lang name property rel rowspan src style type
    """.split()  # noqa: SIM905
)
_OF_META: Final = frozenset({"name", "property"})
_CONTAINERS: Final = frozenset(
    """
    article aside details figcaption figure footer header hgroup main nav section summary
    """.split()  # noqa: SIM905
)


def pages_of(example: GoldExample) -> list[Page]:
    """Parse a gold page, and a copy of it in another style; there are none of a page above the caps."""
    html, url = example.file.read_bytes(), example.gold.url
    pages: list[Page] = []
    with suppress(PageTooLarge):
        pages.append(Page.parse(html, url))
        pages.append(Page.from_tree(restyled(html, style_of(example)), url))
    return pages


def style_of(example: GoldExample) -> Style:
    """Return the style of a gold page's copy; every page has one, a third of them each."""
    return STYLES[crc32(example.gold.page_id.encode()) % len(STYLES)]


def restyled(html: bytes, style: Style) -> etree._Element:
    """Parse a page and write it in another style; the text stays as it is.

    Args:
        html: the page.
        style: one of :data:`STYLES`.
    """
    root = parse_html(html)
    elements = [element for element in root.iter() if isinstance(element.tag, str)]
    for element in elements:
        _forget_names(element)
    if style != "unnamed":
        for element in elements:
            if element.tag in _CONTAINERS:
                element.tag = "div"
            elif element.tag == "time":
                element.tag = "span"
    if style == "tables":
        chance = np.random.default_rng(len(elements)).random(len(elements))
        for element in compress(elements, chance < _TABLES):
            if element.tag == "div" and len(element) and element is not root:
                _lay_out_with_a_table(element)
    return root


def _forget_names(element: etree._Element) -> None:
    for name in element.attrib:
        if name not in _KEPT or (name in _OF_META and element.tag != "meta"):
            with suppress(ValueError):  # a name that lxml gives out and does not take back
                del element.attrib[name]


def _lay_out_with_a_table(element: etree._Element) -> None:
    cell = etree.Element("td")
    cell.text, element.text = element.text, None
    cell.extend(list(element))
    etree.SubElement(element, "tr").append(cell)
    element.tag = "table"
