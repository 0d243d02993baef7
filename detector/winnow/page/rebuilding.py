"""lxml's elements of a page or a part of it, made of its arrays where a step or a rule needs a tree."""

from __future__ import annotations

import gc
import re
from typing import TYPE_CHECKING, Final

from lxml import etree

from winnow.page.text import NOT_IN_XML
from winnow.page.tree import TAG_NAMES

if TYPE_CHECKING:
    from winnow.page.page import Page

_NAME: Final = re.compile(r"(?:\{[^{}\s]+\})?[a-z_][a-z0-9_.-]*", re.IGNORECASE | re.ASCII)
"""Names that lxml takes; parsers of HTML take nearly any."""

_NOT_IN_NAMES: Final = re.compile(r"[^a-z0-9_.-]", re.IGNORECASE | re.ASCII)


def rebuild(page: Page, root: int) -> list[etree._Element]:
    """Make the elements of the subtree of ``root``, in the order of the page, with attributes and text, no comments."""
    was_enabled = gc.isenabled()
    gc.disable()  # it would scan the elements repeatedly for nothing
    try:
        return _rebuilt(page, root)
    finally:
        if was_enabled:
            gc.enable()


def _rebuilt(page: Page, root: int) -> list[etree._Element]:
    end, first_run, last_run = int(page.end[root]), int(page.run_begin[root]), int(page.run_end[root])
    run_node = page.run_node[first_run:last_run].tolist()  # not of the whole page: it may have thousands of such parts
    runs, runs_before, run = page.runs, page.run_begin[root:end].tolist(), first_run
    tag, parent = page.tag[root:end].tolist(), page.parent[root:end].tolist()
    elements: list[etree._Element] = []

    def add_text(text: str, element: etree._Element) -> None:
        text = NOT_IN_XML.sub(" ", text)
        if len(element):
            element[-1].tail = (element[-1].tail or "") + text
        else:
            element.text = (element.text or "") + text

    for number in range(root, end):
        for each in range(run, runs_before[number - root]):
            add_text(runs[each], elements[run_node[each - first_run] - root])
        run = runs_before[number - root]
        name = TAG_NAMES[tag[number - root]] or page.unknown_names[number]
        name = name if _NAME.fullmatch(name) else _NOT_IN_NAMES.sub("-", f"x-{name}")
        element = etree.SubElement(elements[parent[number - root] - root], name) if elements else etree.Element(name)
        for key, value in page.attributes[number]:
            if _NAME.fullmatch(key):
                element.set(key, NOT_IN_XML.sub(" ", value))
        if number in page.raw_texts:
            add_text(page.raw_text(number), element)
        elements.append(element)
    for each in range(run, last_run):
        add_text(runs[each], elements[run_node[each - first_run] - root])
    return elements
