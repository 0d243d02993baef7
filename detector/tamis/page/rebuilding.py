"""Rebuilds lxml elements of a page or a part of it from its arrays, for steps and rules that need a tree."""

from __future__ import annotations

import gc
import re
from itertools import groupby
from typing import TYPE_CHECKING, Final

import numpy as np
from lxml import etree

from tamis.page.tree import TAG_NAMES

if TYPE_CHECKING:
    from tamis.page.page import Page

_NAME: Final = re.compile(r"(?:\{[^{}\s]+\})?[a-z_][a-z0-9_.-]*", re.IGNORECASE | re.ASCII)
"""Names that lxml takes; parsers of HTML take nearly any."""

_NOT_IN_NAMES: Final = re.compile(r"[^a-z0-9_.-]", re.IGNORECASE | re.ASCII)


def rebuild(page: Page, root: int) -> list[etree._Element]:
    """Create the elements of the subtree of ``root`` in document order, with attributes and text, without comments."""
    was_enabled = gc.isenabled()
    gc.disable()  # it would scan the elements repeatedly for nothing
    try:
        return _rebuilt(page, root)
    finally:
        if was_enabled:
            gc.enable()


def _rebuilt(page: Page, root: int) -> list[etree._Element]:
    end = int(page.end[root])
    first_run = int(page.run_begin[root])
    last_run = int(page.run_end[root])
    run_node = page.run_node[first_run:last_run].tolist()  # not of the whole page: it may have thousands of such parts
    bounds, run = page.run_offset[first_run : last_run + 1].tolist(), 0
    runs_before = [*(page.run_begin[root:end] - first_run).tolist(), last_run - first_run]
    tag, parent = page.tag[root:end].tolist(), page.parent[root:end].tolist()
    attributes = page.attributes.of_elements(np.arange(root, end))
    elements: list[etree._Element] = []
    last_child: list[etree._Element | None] = []

    def set_text(number: int, text: str) -> None:
        """Append text to what an element has so far."""
        child = last_child[number]
        if child is None:
            elements[number].text = text
        else:
            child.tail = text

    for number in range(end - root + 1):
        for node, same in groupby(range(run, runs_before[number]), run_node.__getitem__):
            of_node = [*same]  # more than one where comments part them
            set_text(node - root, page.text[bounds[of_node[0]] : bounds[of_node[-1] + 1]])
        run = runs_before[number]
        if number == end - root:
            break
        name = TAG_NAMES[tag[number]] or page.unknown_names[number + root]
        name = name if _NAME.fullmatch(name) else _NOT_IN_NAMES.sub("-", f"x-{name}")
        element = etree.SubElement(elements[parent[number] - root], name) if number else etree.Element(name)
        for key, value in attributes[number]:
            if _NAME.fullmatch(key):
                element.set(key, value)
        if number:
            last_child[parent[number] - root] = element
        elements.append(element)
        last_child.append(None)
        if number + root in page.raw_texts:
            set_text(number, page.raw_text(number + root))
    return elements
