"""Code as it stands: its lines and its language."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from lxml import etree

from winnow.page.tags import BLOCK_LEVEL

if TYPE_CHECKING:
    from lxml.etree import _Element

_LANGUAGE: Final = re.compile(r"(?:^|\s)lang(?:uage)?-([^\s`]+)")


def language(pre: _Element) -> str:
    """Language of a ``pre``, by a class ``language-...`` of its own or of its ``code``; "" where none is named."""
    for element in (pre, *pre.iterchildren("code")):
        if found := _LANGUAGE.search(element.get("class", "")):
            return found[1]
    return ""


def code_lines(pre: _Element) -> str:
    r"""Text of a ``pre`` line by line: an element for each line is one, with or without a ``"\n"`` behind it."""
    written: list[str] = []
    begins: list[int] = []  # of the block-level elements that are open: pieces written before them
    for event, element in etree.iterwalk(pre, events=("start", "end")):
        block = element is not pre and element.tag in BLOCK_LEVEL
        if event == "start":
            if element.tag == "br":
                written.append("\n")
                continue
            if block and not _at_line_start(written):
                written.append("\n")
            begins.append(len(written))
            text = element.text or ""
            written.append(text.removeprefix("\n") if element is pre else text)
        else:
            if element.tag != "br":
                begin = begins.pop()
                if block and not "".join(written[begin:]).endswith("\n"):
                    written.append("\n")
            if element is not pre:
                tail = element.tail or ""
                written.append(tail.removeprefix("\n") if block and element.tag != "br" else tail)
    return "".join(written).replace("\r\n", "\n").removesuffix("\n")


def _at_line_start(written: list[str]) -> bool:
    last = next((piece for piece in reversed(written) if piece), "\n")
    return last.endswith("\n")
