"""Code as it stands: its lines and its language."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from lxml import etree

from winnow.page.tags import BLOCK_LEVEL, UNSEEN_TEXT

if TYPE_CHECKING:
    from lxml.etree import _Element

    from winnow.page.page import Page

_IN_CLASS: Final = re.compile(
    r"(?:^|\s)(?:lang(?:uage)?-|highlight-(?:source-|text-)?|brush:\s*|(?:hljs|sourceCode|shj-lang-)\s+(?:language-)?)"
    r"([a-zA-Z][a-zA-Z0-9+#.-]*)"
)
_WRITTEN: Final = re.compile(r"(?:^|\s)language-([^\s`]+)")
_NO_LANGUAGE: Final = frozenset(
    "default none text plain plaintext plain-text txt nohighlight auto code notranslate".split()  # noqa: SIM905
)
_LEVELS_ABOVE: Final = 3


def language_of(page: Page, pre: int) -> str:
    """Language of a ``pre`` of a page, by the marks of its highlighter on it, inside it or around it; "" for none."""
    element = page.elements[pre]
    around = [element]
    while len(around) <= _LEVELS_ABOVE and (above := around[-1].getparent()) is not None:
        around.append(above)
    for candidate in (*element.iterchildren("code"), *around):
        for name in ("data-lang", "data-language"):
            if (stated := candidate.get(name, "").strip().lower()) and stated.split() == [stated]:
                return "" if stated in _NO_LANGUAGE else stated
        found = _IN_CLASS.search(candidate.get("class", ""))
        if found and found[1].lower() not in _NO_LANGUAGE:
            return found[1].lower()
    return ""


def language(pre: _Element) -> str:
    """Language of a ``pre`` of clean HTML, by its class ``language-...`` or that of its ``code``; "" for none."""
    for element in (pre, *pre.iterchildren("code")):
        if found := _WRITTEN.search(element.get("class", "")):
            return found[1] if found[1] not in _NO_LANGUAGE else ""
    return ""


def code_lines(pre: _Element) -> str:
    r"""Text of a ``pre`` line by line: an element for each line is one, with or without a ``"\n"`` behind it."""
    written: list[str] = []
    begins: list[int] = []  # of the block-level elements that are open: pieces written before them
    walk = etree.iterwalk(pre, events=("start", "end", "comment", "pi"))
    for event, element in walk:
        if event in {"comment", "pi"}:
            written.append(element.tail or "")
            continue
        block = element is not pre and element.tag in BLOCK_LEVEL
        if event == "start":
            if element.tag in UNSEEN_TEXT:
                begins.append(len(written))
                walk.skip_subtree()
                continue
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
