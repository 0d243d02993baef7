"""The pieces of a paragraph written one after another."""

from __future__ import annotations

import re
from typing import Final

from winnow.output.markdown.emphasis import characters_of, guard_delimiters, merged, without_repetition
from winnow.output.markdown.escaping import address, code_span, escape_text, has_formula, title
from winnow.output.markdown.pieces import DELIMITERS, Piece

_BARE_ADDRESS: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]{1,31}:[^\x00-\x20<>\\`|\x7f]+")


def joined(pieces: list[Piece]) -> str:
    """Write pieces as one paragraph; the starts of its lines are still to be escaped."""
    if len(pieces) == 1 and pieces[0].plain:
        return escape_text(pieces[0].text, dollars=has_formula(pieces[0].text))
    pieces = without_repetition(merged(_without_unwritten(pieces)))
    characters = characters_of(pieces)
    pieces = merged([piece for piece in pieces if piece.mark is None or characters.get(piece.mark, "*")])
    formulas = has_formula("".join(piece.text for piece in pieces if piece.plain or piece.formula))
    written: list[str] = []
    delimiters: list[str] = []  # of each string: "opens", "closes", or "" for none
    links: list[int] = []
    for index, piece in enumerate(pieces):
        mark = piece.mark
        delimiter = ""
        if mark is None:
            text = _text(pieces, index, written, in_link=bool(links), formulas=formulas)
        elif mark.kind != "a":
            text = DELIMITERS[mark.kind].replace("*", characters.get(mark, "*"))
            delimiter = "opens" if piece.opens else "closes"
        elif piece.opens:
            text = "["
            links.append(index)
        else:
            text = f"]({address(mark.href or '')}{title(mark.title)})"
            begin = links.pop()
            if _is_own_address(pieces[begin : index + 1]):
                written[begin], written[begin + 1], text = "<", str(mark.href), ">"
        written.append(text)
        delimiters.append(delimiter)
    while guard_delimiters(written, delimiters):
        pass  # a reference is punctuation to the delimiter on its other side
    return "".join(written)


def _without_unwritten(pieces: list[Piece]) -> list[Piece]:
    """Leave out texts of which nothing is left when they are escaped, as of control characters, and their marks."""
    kept: list[Piece] = []
    left_out = False
    for piece in pieces:
        if piece.plain and not piece.text.isprintable() and not escape_text(piece.text):
            left_out = True
        elif left_out and kept and kept[-1].opens and not piece.opens and kept[-1].mark is piece.mark:
            kept.pop()
        else:
            kept.append(piece)
    return kept


def _text(pieces: list[Piece], index: int, written: list[str], *, in_link: bool, formulas: bool) -> str:
    """Write what is no border of a mark."""
    piece = pieces[index]
    if piece.code and "]:" in piece.text and written == ["["]:  # it would be the name of a reference
        return escape_text(piece.text, brackets=True)
    if piece.code:
        return code_span(piece.text)
    if not piece.plain:
        return piece.text
    text = escape_text(piece.text, brackets=in_link, dollars=formulas)
    if text[0] == "~" and written and written[-1] == DELIMITERS["del"]:
        text = f"\\{text}"
    following = pieces[index + 1].mark if index + 1 < len(pieces) else None
    if text.endswith("!") and following is not None and following.kind == "a":  # it would be an image
        text = f"{text[:-1]}\\!"
    return text


def _is_own_address(pieces: list[Piece]) -> bool:
    """Whether a link, from its beginning to its end, shows nothing but where it leads."""
    if len(pieces) != 3 or not pieces[1].plain or pieces[0].mark is None:
        return False
    href = pieces[0].mark.href or ""
    return pieces[1].text == href and not pieces[0].mark.title and _BARE_ADDRESS.fullmatch(href) is not None
