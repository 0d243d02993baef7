"""The template of a page, written as a page."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.page.tags import UNSEEN_TEXT, tag_set
from winnow.page.tree import within

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.page.page import Page

_UNSEEN_TEXT: Final = tag_set(*(UNSEEN_TEXT - {"head"})) | tag_set("title")
_RAW: Final = frozenset({"script", "style"})
_VOID: Final = frozenset(
    {"area", "base", "br", "col", "embed", "frame", "hr", "img", "input", "link", "meta", "param", "source", "track"}
    | {"wbr"}
)


def template_page(page: Page, template: NDArray[np.bool_]) -> str:
    """Write what is template of a page as an HTML document: its elements with all their attributes, and their text.

    What names the page's charset names UTF-8, which the document is to be stored in.

    Args:
        page: the page; neither it nor its tree is changed.
        template: bool[n + m], elements first. What is inside an element that is no template is left out.
    """
    elements, blocks = template[: page.n], template[page.n :]
    kept = ~within(page, ~elements)
    in_template = np.zeros(len(page.runs) + 1, np.int64)
    in_template[page.block_run_begin[blocks]] += 1
    in_template[page.block_run_end[blocks]] -= 1
    runs = (np.cumsum(in_template)[:-1] > 0) & kept[page.run_node]
    opened_before = np.searchsorted(page.run_begin, np.arange(len(page.runs)), side="right")
    unseen = within(page, _UNSEEN_TEXT[page.tag])

    events = [(index, -1) for index in np.flatnonzero(kept).tolist()]
    events += [(before - 1, run) for run, before in enumerate(opened_before.tolist()) if runs[run]]
    written = ["<!DOCTYPE html>\n"]
    open_elements: list[tuple[int, int, str]] = []  # end in elements and in runs, name
    for index, run in sorted(events):
        while open_elements and (open_elements[-1][1] <= run if run >= 0 else open_elements[-1][0] <= index):
            written.append(f"</{open_elements.pop()[2]}>")
        if run >= 0:
            written.append(escape(page.runs[run], quote=False))
            continue
        name = str(page.elements[index].tag)
        pairs = _in_utf8(page.attributes[index]) if name == "meta" else page.attributes[index]
        attributes = "".join(f' {key}="{escape(value)}"' for key, value in pairs)
        written.append(f"<{name}{attributes}>")
        if unseen[index]:
            text = page.elements[index].text or ""
            written.append(text if name in _RAW else escape(text, quote=False))
        if name not in _VOID:
            open_elements.append((int(page.end[index]), int(page.run_end[index]), name))
    written.extend(f"</{name}>" for _, _, name in reversed(open_elements))
    return "".join(written) + "\n"


def _in_utf8(pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The attributes of a ``meta`` element, the charset that it may name replaced."""
    content_type = any(key == "http-equiv" and value.lower() == "content-type" for key, value in pairs)
    new = {"charset": "utf-8", **({"content": "text/html; charset=utf-8"} if content_type else {})}
    return [(key, new.get(key, value)) for key, value in pairs]
