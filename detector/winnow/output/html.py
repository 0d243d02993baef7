"""Writes clean markup as an HTML document of its own, without comments."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.output.markup import VOID, Box
from winnow.page.tree import BLOCK_LEVEL

if TYPE_CHECKING:
    from winnow.output.formulas import Formula
    from winnow.output.markup import Markup

_BREAKS: Final = VOID & BLOCK_LEVEL
_BOXES: Final = {"[ ]": "☐", "[x]": "☑"}


def write_html(markup: Markup) -> str:
    """Write clean markup as an HTML document.

    Formulas are ``<span class="math">`` with their TeX, checkboxes ``<span class="task">``.
    """
    title = f"<title>{escape(markup.title, quote=False)}</title>" if markup.title else ""
    head = f'<head><meta charset="utf-8">{title}</head>'
    language = "".join([f' {name}="{escape(value)}"' for name, value in markup.language])
    return f"<!DOCTYPE html>\n<html{language}>\n{head}\n<body>\n{_write_body(markup)}</body>\n</html>\n"


def _write_body(markup: Markup) -> str:
    names, in_code = markup.names, _is_in_code(markup)
    # Escaped at once; no text or value of a page has a NUL.
    escaped = escape("\0".join([value for value in markup.values if isinstance(value, str)]), quote=False)
    texts = iter(escaped.split("\0"))
    attributes = {pair for name, pairs in zip(names, markup.values, strict=True) if name for pair in pairs}
    values = escape("\0".join([value for _, value in attributes])).split("\0")
    attribute_of = {pair: f' {pair[0]}="{value}"' for pair, value in zip(attributes, values, strict=False)}
    begins: list[str] = []
    for item, (name, value) in enumerate(zip(names, markup.values, strict=True)):
        if name:
            line_end = "\n" if name in _BREAKS and not in_code[item] else ""
            begins.append(f"<{name}{''.join(map(attribute_of.__getitem__, value))}>{line_end}")
        else:
            begins.append(next(texts) if isinstance(value, str) else "".join(map(_write_piece, value)))
    # An end tag comes behind the items before the end, and before the end tags of the elements around it.
    closed = np.array([item for item, name in enumerate(names) if name and name not in VOID], np.intp)
    ends = np.array(markup.ends, np.intp)[closed]
    order = np.lexsort((-closed, ends))
    closed, ends = closed[order], ends[order]
    written = np.empty(len(names) + len(closed), object)
    written[np.arange(len(names)) + ends.searchsorted(np.arange(len(names)), "right")] = begins
    written[ends + np.arange(len(closed))] = [
        f"</{names[item]}>\n" if names[item] in BLOCK_LEVEL and not in_code[item] else f"</{names[item]}>"
        for item in closed.tolist()
    ]
    return "".join(written.tolist())


def _is_in_code(markup: Markup) -> bytearray:
    """Whether each item is inside a ``pre``, where line ends are text."""
    found = bytearray(len(markup.names))
    if "pre" in markup.names:
        for item, name in enumerate(markup.names):
            if name == "pre" and not found[item]:
                found[item + 1 : markup.ends[item]] = b"\1" * (markup.ends[item] - item - 1)
    return found


def _write_piece(piece: str | Formula) -> str:
    """Write text, a formula, a checkbox, or the emoji that a picture shows."""
    if isinstance(piece, Box):
        return f'<span class="task">{_BOXES[piece]}</span>'
    if isinstance(piece, str) or piece.is_emoji:
        return escape(str(piece), quote=False)
    return f'<span class="{"math display" if piece.is_display else "math"}">{escape(piece.tex, quote=False)}</span>'
