"""A page written in all ways, with some of its text cut."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tamis.output.html import write_html
from tamis.output.markdown import to_markdown
from tamis.output.markup import make_markup
from tamis.output.text import text_of_blocks
from tamis.page.page import Page
from tamis.page.tree import within


class Written(NamedTuple):
    """The outputs, and the inside of the body of the HTML with single spaces."""

    text: str
    html: str
    markdown: str
    body: str


def write(html: str, *cut: int, url: str | None = None) -> Written:
    """Write a page without the blocks of some numbers, and without all in elements with an attribute ``cut``."""
    page = Page.parse(html, url)
    elements = np.zeros(page.n, bool)
    elements[list(page.attribute("cut"))] = True
    elements = within(page, elements)
    template = np.concatenate([elements, elements[page.block_node]])
    template[[page.n + block for block in cut]] = True
    written = write_html(make_markup(page, template))
    body = " ".join(written.partition("<body>")[2].partition("</body>")[0].split())
    return Written(text_of_blocks(page, ~template[page.n :]), written, to_markdown(written), body)
