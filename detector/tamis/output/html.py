"""Writes clean markup as an HTML document of its own, without comments."""

from __future__ import annotations

import sys
from html import escape
from typing import TYPE_CHECKING, Final

from tamis.output.markup import VOID, Box
from tamis.page.text import LINE_SEPARATOR
from tamis.page.tree import BLOCK_LEVEL

if TYPE_CHECKING:
    from tamis.output.formulas import Formula
    from tamis.output.markup import Markup

_BOXES: Final = {"[ ]": "☐", "[x]": "☑"}


def write_html(markup: Markup, *, links: bool = True) -> str:
    """Write clean markup as an HTML document; without ``links`` only their text.

    Formulas are ``<span class="math">`` with their TeX, checkboxes ``<span class="task">``.
    """
    title = f"<title>{escape(markup.title, quote=False)}</title>" if markup.title else ""
    head = f'<head><meta charset="utf-8">{title}</head>'
    language = "".join([f' {name}="{escape(value)}"' for name, value in markup.language])
    return f"<!DOCTYPE html>\n<html{language}>\n{head}\n<body>\n{_write_body(markup, links=links)}</body>\n</html>\n"


def _write_body(markup: Markup, *, links: bool) -> str:
    attributes = {pair for name, pairs in zip(markup.names, markup.values, strict=True) if name for pair in pairs}
    attribute_of = {pair: f' {pair[0]}="{escape(pair[1])}"' for pair in attributes}
    written: list[str] = []
    open_ends: list[tuple[int, str]] = [(sys.maxsize, "")]  # where elements end, and their end tags
    end_of_code = 0  # in which line ends are text
    for item, (name, value, end) in enumerate(zip(markup.names, markup.values, markup.ends, strict=True)):
        while open_ends[-1][0] <= item:
            written.append(open_ends.pop()[1])
        if not name:
            if not isinstance(value, str):
                written.extend(map(_write_piece, value))
            elif "<" in value or "&" in value or ">" in value:
                written.append(escape(value, quote=False))
            else:  # as most texts
                written.append(value)
            continue
        if name == "a" and not links:
            continue
        line_end = "\n" if name in BLOCK_LEVEL and item >= end_of_code else ""
        written.append(f"<{name}{''.join(map(attribute_of.__getitem__, value))}>{line_end if name in VOID else ''}")
        if name not in VOID:
            open_ends.append((end, f"</{name}>{line_end}"))
        if name == "pre":
            end_of_code = max(end, end_of_code)
    return "".join([*written, *(tag for _, tag in reversed(open_ends))]).replace(LINE_SEPARATOR, "<br>\n")


def _write_piece(piece: str | Formula) -> str:
    """Write text, a formula, a checkbox, or the emoji that a picture shows."""
    if isinstance(piece, Box):
        return f'<span class="task">{_BOXES[piece]}</span>'
    if isinstance(piece, str) or piece.is_emoji:
        return escape(str(piece), quote=False)
    return f'<span class="{"math display" if piece.is_display else "math"}">{escape(piece.tex, quote=False)}</span>'
