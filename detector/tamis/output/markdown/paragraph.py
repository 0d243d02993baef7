"""Writes the contents of a paragraph in Markdown: text, emphasis, links, images and code.

White space at the edges of emphasis and links moves out of them, as Markdown requires, and empty emphasis is dropped.
The characters around ``*`` decide whether it opens or closes emphasis (CommonMark 0.31.2, section 6.2). Where they are
wrong for it, as in ``**word:**s``, punctuation at the edge moves out as well: ``**word**:s``. Where that is no help, as
next to a link, the letter outside is written as a character reference.
"""

from __future__ import annotations

import re
import string
import unicodedata
from dataclasses import dataclass
from itertools import pairwise, takewhile
from typing import Final

from tamis.output.markdown.blocks import HEADING, PARAGRAPH
from tamis.output.markdown.escaping import (
    escape_lines,
    escape_text,
    has_formula,
    write_address,
    write_code_span,
    write_title,
)

PLAIN, CODE, FORMULA = "plain", "code", "formula"  # kinds of pieces
_BREAK: Final = "\\\n"  # within a paragraph
_LABEL: Final = re.compile(r"\[[ x]\]|-?[a-zA-Z0-9]{1,20}\.")  # at the start of an item: a checkbox, or a. or iv.
_DELIMITERS: Final = {"em": "*", "strong": "**", "del": "~~"}  # of emphasis, by its kind
_MAX_LEAD: Final = 4  # words before what the title of a link repeats
_BARE_ADDRESS: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]{1,31}:[^\x00-\x20<>\\`|\x7f]+")
_ASCII_BOUNDARIES: Final = frozenset(string.punctuation + " \t\n\f\r")


@dataclass(eq=False, slots=True)
class Mark:
    """Emphasis or a link; one object for all blocks that its element spans."""

    kind: str  # em, strong, del or a
    href: str | None = None  # target of a link; None for an anchor
    title: str = ""
    waits_for: str = ""  # of a link around several blocks: a heading, or a text; "" for anything
    is_used: bool = False


@dataclass(eq=False, slots=True)
class Piece:
    """A piece of the line: text, or the start or end of a mark."""

    text: str
    kind: str = ""  # PLAIN, CODE, FORMULA, or "" for an image or a mark
    mark: Mark | None = None
    opens: bool = False


_NOTHING: Final = Piece("")  # after the last piece


class Line:
    """Collects the contents of one paragraph."""

    def __init__(self) -> None:
        self.marks: list[Mark] = []  # open marks, outermost first, also of earlier paragraphs
        self.open_codes: list[int] = []  # open elements of code
        self._last_code = -1  # the outermost element that code was written of
        self.pieces: list[Piece] = []  # written so far
        self._opened: list[Mark] = []
        self._pending = ""  # white space or a line break, written once something follows

    @property
    def begins_link(self) -> bool:
        """Whether a link is open that has no text yet."""
        return any(mark.kind == "a" and not mark.is_used for mark in self.marks)

    @property
    def is_label(self) -> bool:
        """Whether the line, which is not empty, has only the label and checkbox of an item yet."""
        are_labels = (
            piece.text == " " or (piece.kind == FORMULA and _LABEL.fullmatch(piece.text)) for piece in self.pieces
        )
        return self.pieces[0].kind == FORMULA and all(are_labels)

    @property
    def ends_with_break(self) -> bool:
        """Whether the last piece is a line break."""
        return self._pending == _BREAK

    @property
    def plain_text(self) -> str:
        """The text of the paragraph, without markup and pictures."""
        return "".join([piece.text for piece in self.pieces if piece.kind]).strip()

    @property
    def link(self) -> str:
        """Where the first link that is no picture leads; "" for none."""
        begun = (one.mark for one, two in pairwise(self.pieces) if one.opens and (two.kind or two.mark))
        return next((mark.href for mark in begun if mark and mark.href), "")

    def add_text(self, text: str) -> None:
        """Add text; white space of any kind is one space."""
        if "  " in text or not text.isprintable():  # line ends are not printable
            text = f"{text[0].isspace() * ' '}{' '.join(text.split())}{text[-1].isspace() * ' '}".replace("  ", " ")
        if self.open_codes:
            self._add_code(text)
            return
        if text.startswith(" "):
            self._add_space()
        if not (words := text.strip(" ")):
            return
        if self._pending or self.marks:
            self._write_pending()
        self.pieces.append(Piece(words, PLAIN))
        if text.endswith(" "):
            self._add_space()

    def _add_code(self, text: str) -> None:
        if text:
            self._write_pending()
            last = self.pieces[-1] if self._last_code != self.open_codes[0] and self.pieces else _NOTHING
            if last.kind == CODE and text[0].isalnum() and (last.text[-1].isalnum() or last.text[-1] in ",;)]}>#$%"):
                self.pieces.append(Piece(" ", PLAIN))  # between keys, or prompt and command; not in module.name
            self.pieces.append(Piece(text, CODE))
            self._last_code = self.open_codes[0]

    def add_image(self, source: str, description: str, caption: str) -> None:
        """Add an image; a caption that repeats its description is left out."""
        self._write_pending(is_text=False)
        words = " ".join(description.split())
        title = "" if not caption or _repeats(caption, words) else write_title(caption)
        self.pieces.append(Piece(f"![{escape_text(words, brackets=True)}]({write_address(source)}{title})"))

    def add_line_break(self) -> None:
        """Add a line break, unless at the end of a paragraph."""
        self._pending = _BREAK if self.pieces else ""

    def add_formula(self, formula: str) -> None:
        """Add a formula with its dollar signs, or a checkbox."""
        if self.pieces and self.pieces[-1].kind == FORMULA:
            self._add_space()
        self._write_pending()
        self.pieces.append(Piece(formula, FORMULA))

    def free_links(self) -> None:
        """Let the open links begin, at a heading."""
        for mark in self.marks:
            mark.waits_for = ""

    def close_mark(self, mark: Mark) -> None:
        """End an open mark."""
        if mark in self._opened:
            self._close_to(mark)
        self.marks.remove(mark)

    def finish(self, *, begins_line: bool = True) -> str:
        """Return the paragraph, which is not empty, and begin another one within the same marks.

        Without ``begins_line``, as in a heading or a cell, nothing at its start is markup of blocks.
        """
        if self._opened:
            self._close_to(self._opened[0])
        pieces, self.pieces, self._pending = self.pieces, [], ""
        if len(pieces) > 1:
            pieces = _joined(pieces)
        if not begins_line:
            return _write_pieces(pieces)
        box = pieces[0].text if pieces[0].kind == FORMULA and _LABEL.fullmatch(pieces[0].text) else ""
        return box + escape_lines(_write_pieces(pieces).removeprefix(box))

    def _add_space(self) -> None:
        if self.pieces and not self._pending:
            self._pending = " "

    def _write_pending(self, *, is_text: bool = True) -> None:
        """Write pending white space and marks before a text or an image."""
        if self._pending:
            self.pieces.append(Piece(self._pending, PLAIN if self._pending != _BREAK else ""))
            self._pending = ""
        for mark in self._shown_marks(is_text=is_text) if len(self._opened) < len(self.marks) else ():
            if mark not in self._opened:
                mark.is_used = True
                self._opened.append(mark)
                self.pieces.append(Piece("", "", mark, opens=True))

    def _shown_marks(self, *, is_text: bool) -> list[Mark]:
        """Return the open marks that are written: none within another of its kind, and of links those with a target.

        A link around several blocks is written in one of them only.
        """
        shown: dict[str, Mark] = {}
        for mark in self.marks:
            if mark.kind == "a" and mark not in self._opened:
                is_waiting = mark.waits_for == HEADING or (mark.waits_for == PARAGRAPH and not is_text)
                if mark.href is None or mark.is_used or is_waiting:
                    continue
            shown.setdefault(mark.kind, mark)
        return list(shown.values())

    def _close_to(self, mark: Mark) -> None:
        while mark in self._opened:
            self.pieces.append(Piece("", "", self._opened.pop()))


def _joined(pieces: list[Piece]) -> list[Piece]:
    """Make text that follows text, and code that follows code, one piece."""
    joined: list[Piece] = []
    texts: list[str] = []  # of the last piece
    for piece, following in pairwise([*pieces, _NOTHING]):
        texts.append(piece.text)
        if not piece.kind or piece.kind == FORMULA or piece.kind != following.kind:
            joined.append(piece if len(texts) == 1 else Piece("".join(texts), piece.kind))
            texts = []
    return joined


def _write_pieces(pieces: list[Piece]) -> str:
    """Write pieces as one paragraph, without escaping the starts of its lines."""
    if len(pieces) == 1 and pieces[0].kind == PLAIN:
        return escape_text(pieces[0].text, dollars=has_formula(pieces[0].text))
    characters: dict[Mark, str] = {}
    has_emphasis = not {piece.mark.kind for piece in pieces if piece.mark is not None} <= {"a"}
    if has_emphasis:
        pieces = _merge_marks(pieces)
        _move_signs_out(pieces)
        characters = _choose_delimiters(pieces)
        pieces = _merge_marks([piece for piece in pieces if piece.mark is None or characters.get(piece.mark, "*")])
    formulas = has_formula("".join([piece.text for piece in pieces if piece.kind in {PLAIN, FORMULA}]))
    written: list[str] = []
    delimiters: list[str] = []  # of each string: "opens", "closes", or "" for none
    links: list[int] = []
    for index, piece in enumerate(pieces):
        mark = piece.mark
        delimiter = ""
        if mark is None:
            text = _write_piece(pieces, index, written, in_link=bool(links), formulas=formulas)
        elif mark.kind != "a":
            text = _DELIMITERS[mark.kind].replace("*", characters.get(mark, "*"))
            delimiter = "opens" if piece.opens else "closes"
        elif piece.opens:
            text = "["
            links.append(index)
        else:
            begin, title = links.pop(), ""
            if mark.title:  # as few links have
                words = "".join([inner.text for inner in pieces[begin:index] if inner.kind])
                title = "" if _repeats(mark.title, words, _MAX_LEAD) else write_title(mark.title)
            text = f"]({write_address(mark.href or '')}{title})"
            if _is_autolink(pieces[begin : index + 1]):
                written[begin], written[begin + 1], text = "<", str(mark.href), ">"
        written.append(text)
        delimiters.append(delimiter)
    while has_emphasis and _guard_delimiters(written, delimiters):
        pass  # a new reference is punctuation for the delimiter on its other side
    return "".join(written)


def _write_piece(pieces: list[Piece], index: int, written: list[str], *, in_link: bool, formulas: bool) -> str:
    """Write a piece that is not a mark."""
    piece = pieces[index]
    if piece.kind == CODE and "]:" in piece.text and written == ["["]:  # would be the name of a reference
        return escape_text(piece.text, brackets=True)
    if piece.kind == CODE:
        return write_code_span(piece.text)
    if piece.kind != PLAIN:
        return piece.text
    text = escape_text(piece.text, brackets=in_link, dollars=formulas)
    if text[0] == "~" and written and written[-1] == _DELIMITERS["del"]:
        text = f"\\{text}"
    following = pieces[index + 1] if index + 1 < len(pieces) else piece
    if text.endswith("!") and following.mark is not None and following.mark.kind == "a" and following.opens:  # an image
        text = f"{text[:-1]}\\!"
    return text


def _repeats(title: str, text: str, max_lead: int = 0) -> bool:
    """Whether a title only repeats a text, after a few words such as "Permanent Link to"."""
    said, words = text.lower().split(), title.lower().split()
    lead = len(words) - len(said)
    is_led = bool(said) and "".join(words[: max(lead, 0)]).isalpha()
    return 0 <= lead <= max_lead and words[lead:] == said and (not lead or is_led)


def _is_autolink(pieces: list[Piece]) -> bool:
    """Whether the pieces are a link whose text is its target."""
    if len(pieces) != 3 or pieces[1].kind != PLAIN or pieces[0].mark is None:
        return False
    href = pieces[0].mark.href or ""
    return pieces[1].text == href and not pieces[0].mark.title and _BARE_ADDRESS.fullmatch(href) is not None


def _move_signs_out(pieces: list[Piece]) -> None:
    """Move signs at the edges of emphasis out of it where a letter touches it, unless no other text is there."""
    begin, roles = 0, set[bool]()  # the last piece that is no mark of emphasis, and whether the marks since then open
    for index, piece in enumerate(pieces):
        if piece.mark is not None and piece.mark.kind != "a":
            roles.add(piece.opens)
            continue
        if piece.kind == pieces[begin].kind == PLAIN and len(roles) == 1:
            before, after = pieces[begin].text, piece.text
            text, edge = before + after, len(before)
            if True in roles and not _is_boundary(before[-1]):
                edge += sum(1 for _ in takewhile(_may_be_boundary, after))
            elif False in roles and not _is_boundary(after[0]):
                edge -= sum(1 for _ in takewhile(_may_be_boundary, reversed(before)))
            if 0 < edge < len(text):
                pieces[begin].text, piece.text = text[:edge], text[edge:]
        begin, roles = index, set()


def _choose_delimiters(pieces: list[Piece]) -> dict[Mark, str]:
    """Choose star or underscore for each mark of emphasis; "" if Markdown cannot distinguish it from outer marks.

    Stars are preferred, since they work within words. Underscores distinguish nested emphasis where no letter touches
    them.
    """
    characters: dict[Mark, str] = {}
    outer: list[Mark] = []
    for index, piece in enumerate(pieces):
        mark = piece.mark
        if mark is None or mark.kind not in {"em", "strong"}:
            continue
        if not piece.opens:
            outer.remove(mark)
            continue
        characters[mark] = "*"
        end = next(place for place in range(index + 1, len(pieces)) if pieces[place].mark is mark)
        outside = [other.text[-1] for other in pieces[max(index - 1, 0) : index] if other.kind == PLAIN]
        outside += [other.text[0] for other in pieces[end + 1 : end + 2] if other.kind == PLAIN]
        is_free = all(map(_is_boundary, outside))
        last = pieces[index - 1] if index else piece
        taken = {characters[other] for other in outer}
        if last.mark is not None and not last.opens:  # emphasis ends where this one begins
            taken.add(characters.get(last.mark, ""))
        inside = [inner for inner in pieces[index:end] if inner.kind]
        has_only_signs = not any(character.isalnum() for inner in inside for character in inner.text)
        if not inside or (has_only_signs and not is_free):
            characters[mark] = ""  # around pictures, or around a ™: the letter before it would become a reference
        elif "*" in taken and ((is_free and "_" not in taken) or not _between_letters(pieces, index, end)):
            characters[mark] = "_" if "_" not in taken else ""
        outer.append(mark)
    return characters


def _between_letters(pieces: list[Piece], begin: int, end: int) -> bool:
    """Whether the delimiters of emphasis are between letters, where nested stars are unambiguous."""
    outside = pieces[max(begin - 2, 0)], pieces[begin + 1], pieces[end - 1]
    return all(piece.kind == PLAIN for piece in outside) and not any(
        _may_be_boundary(character) for character in (outside[0].text[-1], outside[1].text[0], outside[2].text[-1])
    )


def _merge_marks(pieces: list[Piece]) -> list[Piece]:
    """Continue emphasis that has just ended, instead of beginning another of its kind."""
    kept: list[Piece] = []
    merged: dict[Mark, Mark] = {}
    for piece in pieces:
        last = kept[-1].mark if kept and not kept[-1].opens else None
        if piece.mark is None:
            kept.append(piece)
        elif last is not None and piece.opens and last.kind == piece.mark.kind != "a":
            kept.pop()
            merged[piece.mark] = last
        else:
            kept.append(Piece("", "", merged.get(piece.mark, piece.mark), piece.opens))
    return _joined(kept)  # texts that meet now are markup together, such as a < and a name


def _guard_delimiters(written: list[str], delimiters: list[str]) -> bool:
    """Replace letters by references if they keep delimiters from opening or closing; return whether any was replaced.

    ``delimiters`` has ``"opens"``, ``"closes"`` or ``""`` for each string of the paragraph.
    """
    is_changed = False
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
        is_underscore = written[index][0] == "_"  # a letter on one side is enough to disable it
        roles = delimiters[index:end]
        if "opens" in roles and not _is_boundary(before) and (is_underscore or _may_be_boundary(after)):
            written[index - 1] = _with_reference(written[index - 1])
            before = ";"
            is_changed = True
        if "closes" in roles and not _is_boundary(after) and (is_underscore or _may_be_boundary(before)):
            written[end] = f"&#{ord(after)};{written[end][1:]}"
            is_changed = True
        index = end
    return is_changed


def _is_boundary(character: str) -> bool:
    """Whether a character is white space or punctuation in every version of CommonMark."""
    return character in _ASCII_BOUNDARIES or unicodedata.category(character).startswith(("P", "Zs"))


def _may_be_boundary(character: str) -> bool:
    """Whether a character is a boundary in some version: since 0.31 symbols are punctuation, too."""
    return _is_boundary(character) or unicodedata.category(character).startswith("S")


def _with_reference(text: str) -> str:
    """Write the last letter of a text as a reference; a single backslash before it is escaped."""
    rest = text[:-1]
    backslashes = len(rest) - len(rest.rstrip("\\"))
    return rest + "\\" * (backslashes % 2) + f"&#{ord(text[-1])};"
