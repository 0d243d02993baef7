"""Emphasis that a renderer takes for the emphasis it is.

Markdown tells by the characters around ``*`` whether it opens or closes something (CommonMark 0.31.2, section 6.2).
Where they would say otherwise, as in ``**“word”**s``, the letter outside is written as a character reference.
"""

from __future__ import annotations

import string
import unicodedata
from dataclasses import replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from winnow.output.markdown.pieces import Mark, Piece

_ASCII_APART: Final = frozenset(string.punctuation + " \t\n\f\r")


def without_repetition(pieces: list[Piece]) -> list[Piece]:
    """Leave out emphasis that begins and ends with emphasis of its own kind around it."""
    kept: list[Piece] = []
    begins: dict[int, int] = {}  # where the marks that are open begin, by their identity
    for piece in pieces:
        if piece.opens:
            begins[id(piece.mark)] = len(kept)
        kept.append(piece)
        while len(kept) > 1 and not piece.opens and piece.mark is not None:
            begin = begins[id(piece.mark)]
            inner = kept[begin + 1].mark
            if inner is None or inner is not kept[-2].mark or inner.kind != piece.mark.kind or inner.kind == "a":
                break
            del kept[-2], kept[begin + 1]
    return kept


def characters_of(pieces: list[Piece]) -> dict[Mark, str]:
    """Star or underscore for each mark of emphasis; "" for one that Markdown cannot tell from those around it.

    Stars may stand within words, so they are first choice. Emphasis within emphasis is told from it by underscores,
    where no letter touches them.
    """
    characters: dict[Mark, str] = {}
    around: list[Mark] = []
    for index, piece in enumerate(pieces):
        mark = piece.mark
        if mark is None or mark.kind not in {"em", "strong"}:
            continue
        if not piece.opens:
            around.remove(mark)
            continue
        characters[mark] = "*"
        shown = [other for other in around if characters[other]]
        end = next(place for place in range(index + 1, len(pieces)) if pieces[place].mark is mark)
        free = _apart(pieces, index - 1, before=True) and _apart(pieces, end + 1, before=False)
        taken = {characters[other] for other in shown} | _ended(pieces, index, characters)
        like = any(other.kind == mark.kind for other in shown)
        signs_alone = not any(character.isalnum() for inner in pieces[index:end] for character in inner.text)
        if signs_alone and not free:
            characters[mark] = ""  # that of a ™ would take a reference for the letter before it
        elif like and any(other.opens and other.mark and other.mark.kind != "a" for other in pieces[index + 1 : end]):
            characters[mark] = ""
        elif "*" not in taken:
            characters[mark] = "*"
        elif "_" not in taken and free:
            characters[mark] = "_"
        elif like or not _between_letters(pieces, index, end):
            characters[mark] = "_" if "_" not in taken else ""
        around.append(mark)
    return characters


def _ended(pieces: list[Piece], place: int, characters: dict[Mark, str]) -> set[str]:
    """Character of the emphasis that ends where a piece begins."""
    last = pieces[place - 1] if place else None
    return set() if last is None or last.mark is None or last.opens else {characters.get(last.mark, "")} - {""}


def _between_letters(pieces: list[Piece], begin: int, end: int) -> bool:
    """Whether the delimiters of emphasis stand between letters, where stars of several kinds do not get mixed up."""
    outside = pieces[max(begin - 2, 0)], pieces[begin + 1], pieces[end - 1]
    return all(piece.plain for piece in outside) and not any(
        _perhaps_apart(character) for character in (outside[0].text[-1], outside[1].text[0], outside[2].text[-1])
    )


def merged(pieces: list[Piece]) -> list[Piece]:
    """Let emphasis go on where it has just ended."""
    kept: list[Piece] = []
    names: dict[Mark, Mark] = {}
    for piece in pieces:
        last = kept[-1].mark if kept and not kept[-1].opens else None
        if last is not None and piece.opens and piece.mark is not None and last.kind == piece.mark.kind != "a":
            kept.pop()
            names[piece.mark] = last
        elif piece.code and kept and kept[-1].code:
            kept[-1] = replace(kept[-1], text=kept[-1].text + piece.text)
        else:
            mark = names.get(piece.mark, piece.mark) if piece.mark is not None else None
            kept.append(piece if mark is piece.mark else replace(piece, mark=mark))
    return kept


def _apart(pieces: list[Piece], place: int, *, before: bool) -> bool:
    """Whether what stands before a delimiter, or behind it, is no letter."""
    if not 0 <= place < len(pieces) or not pieces[place].plain:
        return True
    return _surely_apart(pieces[place].text[-1 if before else 0])


def guard_delimiters(written: list[str], delimiters: list[str]) -> bool:
    """See to it that each run of delimiters can open and close what it is to; whether that changed anything.

    Args:
        written: the strings of a paragraph; a letter next to a run may become a reference.
        delimiters: ``"opens"``, ``"closes"`` or ``""`` for each of them.
    """
    changed = False
    index = 0
    while index < len(written):
        if not delimiters[index]:
            index += 1
            continue
        end = index
        while end < len(written) and delimiters[end] and written[end][0] == written[index][0]:
            end += 1
        before = written[index - 1][-1] if index else " "
        after = written[end][0] if end < len(written) else " "
        alone = written[index][0] == "_"  # letters on one side are enough for it to be none
        roles = delimiters[index:end]
        if "opens" in roles and not _surely_apart(before) and (alone or _perhaps_apart(after)):
            written[index - 1] = _with_reference(written[index - 1])
            before = ";"
            changed = True
        if "closes" in roles and not _surely_apart(after) and (alone or _perhaps_apart(before)):
            written[end] = _reference(after) + written[end][1:]
            changed = True
        index = end
    return changed


def _surely_apart(character: str) -> bool:
    """Whether a character is white space or punctuation by every version of CommonMark."""
    return character in _ASCII_APART or unicodedata.category(character).startswith(("P", "Zs"))


def _perhaps_apart(character: str) -> bool:
    """Whether it is by one of them: since 0.31 symbols are punctuation, too."""
    return _surely_apart(character) or unicodedata.category(character).startswith("S")


def _with_reference(text: str) -> str:
    """Write the last letter of a text as a reference; a backslash before it would hide the reference."""
    rest = text[:-1]
    backslashes = len(rest) - len(rest.rstrip("\\"))
    return rest + "\\" * (backslashes % 2) + _reference(text[-1])


def _reference(character: str) -> str:
    return f"&#{ord(character)};"
