"""The inside of a paragraph in Markdown: text, emphasis, links, images and code.

White space at the edges of emphasis and links moves out of them, as Markdown wants it, and emphasis without contents is
none. Markdown tells by the characters around ``*`` whether it opens or closes something (CommonMark 0.31.2, section
6.2). Where they would say otherwise, as in ``**“word”**s``, the letter outside is written as a character reference.
"""

from __future__ import annotations

import re
import string
import unicodedata
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Final

from winnow.output.markdown.escaping import (
    escape_lines,
    escape_text,
    has_formula,
    write_address,
    write_code_span,
    write_title,
)

BREAK: Final = "\\\n"
"""A line break within a paragraph."""

BOXES: Final = frozenset({"[ ]", "[x]"})
"""Boxes to tick, which stand at the start of an item."""

DELIMITERS: Final = {"em": "*", "strong": "**", "del": "~~"}
"""What stands on both sides of emphasis, by its kind."""

_SPACES: Final = re.compile(r"[ \t\n\r\f]+")
_BARE_ADDRESS: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]{1,31}:[^\x00-\x20<>\\`|\x7f]+")
_ASCII_APART: Final = frozenset(string.punctuation + " \t\n\f\r")


@dataclass(eq=False, slots=True)
class Mark:
    """Emphasis of a kind of :data:`DELIMITERS`, or a link; the same one in every block that its element reaches over.

    Attributes:
        kind: ``em``, ``strong``, ``del`` or ``a``.
        href: target of a link; ``None`` for a name that others link to.
        title: title of a link.
        used: whether something stood in it.
    """

    kind: str
    href: str | None = None
    title: str = ""
    used: bool = False


@dataclass(eq=False, slots=True)
class Piece:
    """A piece of the line: text as it will be written, or the border of a mark."""

    text: str
    mark: Mark | None = None
    opens: bool = False
    plain: bool = False
    code: bool = False
    formula: bool = False


@dataclass(eq=False)
class Line:
    """Collects the contents of one paragraph.

    Attributes:
        marks: those that are open, outermost first; they may have been opened in an earlier paragraph.
        in_code: whether text is code.
    """

    marks: list[Mark] = field(default_factory=list)
    in_code: bool = False

    def __post_init__(self) -> None:
        self._pieces: list[Piece] = []
        self._opened: list[Mark] = []
        self._pending = ""  # white space, or a line break, that is written once something follows

    @property
    def empty(self) -> bool:
        """Whether nothing has been written yet."""
        return not self._pieces

    @property
    def in_link(self) -> bool:
        """Whether a link is open."""
        return any(mark.kind == "a" for mark in self.marks)

    @property
    def broken(self) -> bool:
        """Whether the last thing was a line break."""
        return self._pending == BREAK and bool(self._pieces)

    def text(self, text: str) -> None:
        """Add text; white space counts as in HTML."""
        if self.in_code:
            self._code(_SPACES.sub(" ", text))
            return
        text = _SPACES.sub(" ", text)
        words = text.strip()
        begin = text.find(words) if words else len(text)
        self._space(text[:begin])
        if words:
            self._begin()
            self._pieces.append(Piece(words, plain=True))
            self._space(text[begin + len(words) :])

    def image(self, source: str, description: str, caption: str) -> None:
        """Add an image."""
        self._begin()
        described = escape_text(" ".join(description.split()), brackets=True)
        self._pieces.append(Piece(f"![{described}]({write_address(source)}{write_title(caption)})"))

    def line_break(self) -> None:
        """Add a line break; at the end of a paragraph it is none."""
        self._pending = BREAK if self._pieces else ""

    def formula(self, formula: str) -> None:
        """Add a formula with its dollar signs, or a box to tick."""
        if self._pieces and self._pieces[-1].formula:
            self._space(" ")
        self._begin()
        self._pieces.append(Piece(formula, formula=True))

    def open(self, mark: Mark) -> None:
        """Begin emphasis or a link; within a link another one is nothing."""
        self.marks.append(mark)

    def close(self, mark: Mark) -> None:
        """End what was opened with the mark."""
        if mark.kind == "a" and not mark.used and self._shown(mark):
            self._begin()
        if mark in self._opened:
            self._close_to(mark)
        self.marks.remove(mark)

    def finish(self) -> str:
        """Return what was collected, and begin anew within the same marks."""
        if self._opened:
            self._close_to(self._opened[0])
        self._pending = ""
        if not self._pieces:
            return ""
        box = self._pieces[0].text if self._pieces[0].formula and self._pieces[0].text in BOXES else ""
        written = _write_pieces(_join_texts(self._pieces))
        self._pieces.clear()
        return box + escape_lines(written.removeprefix(box))

    def _space(self, space: str) -> None:
        if not space or not self._pieces or self._pending == BREAK:
            return
        if self._pending in {"", " "}:
            self._pending = space.lstrip(" ") or " "

    def _code(self, code: str) -> None:
        if not code:
            return
        self._begin()
        self._pieces.append(Piece(code, code=True))

    def _begin(self) -> None:
        """Write what was waiting: white space, and the marks that were opened before it or after."""
        if self._pending:
            self._write_pending()
        for mark in self.marks:
            if mark not in self._opened and self._shown(mark):
                self._open(mark)

    def _write_pending(self) -> None:
        self._pieces.append(Piece(self._pending, plain=self._pending != BREAK))
        self._pending = ""

    def _shown(self, mark: Mark) -> bool:
        """Whether it is written: not so a link without a target or in another link, or what is deleted twice."""
        around = self.marks[: self.marks.index(mark)]
        if mark.kind == "a":
            return mark.href is not None and all(other.kind != "a" or other.href is None for other in around)
        return mark.kind != "del" or all(other.kind != "del" for other in around)

    def _open(self, mark: Mark) -> None:
        mark.used = True
        self._opened.append(mark)
        self._pieces.append(Piece("", mark, opens=True))

    def _close_to(self, mark: Mark) -> None:
        while self._opened:
            last = self._opened.pop()
            self._pieces.append(Piece("", last))
            if last is mark:
                return


def _join_texts(pieces: list[Piece], *, of_code_only: bool = False) -> list[Piece]:
    """Make one piece of successive pieces of code, and of plain text too."""
    joined: list[Piece] = []
    for (code, plain), alike in groupby(pieces, lambda piece: (piece.code, piece.plain and not of_code_only)):
        group = list(alike)
        if len(group) > 1 and (code or plain):
            joined.append(replace(group[0], text="".join(piece.text for piece in group)))
        else:
            joined += group
    return joined


def _write_pieces(pieces: list[Piece]) -> str:
    """Write pieces as one paragraph; the starts of its lines are still to be escaped."""
    if len(pieces) == 1 and pieces[0].plain:
        return escape_text(pieces[0].text, dollars=has_formula(pieces[0].text))
    pieces = _without_repetition(_merge_marks(_without_unwritten(pieces)))
    characters = _choose_delimiters(pieces)
    pieces = _merge_marks([piece for piece in pieces if piece.mark is None or characters.get(piece.mark, "*")])
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
            text = f"]({write_address(mark.href or '')}{write_title(mark.title)})"
            begin = links.pop()
            if _is_own_address(pieces[begin : index + 1]):
                written[begin], written[begin + 1], text = "<", str(mark.href), ">"
        written.append(text)
        delimiters.append(delimiter)
    while _guard_delimiters(written, delimiters):
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
        return write_code_span(piece.text)
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


def _without_repetition(pieces: list[Piece]) -> list[Piece]:
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


def _choose_delimiters(pieces: list[Piece]) -> dict[Mark, str]:
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


def _merge_marks(pieces: list[Piece]) -> list[Piece]:
    """Let emphasis go on where it has just ended."""
    kept: list[Piece] = []
    names: dict[Mark, Mark] = {}
    for piece in pieces:
        last = kept[-1].mark if kept and not kept[-1].opens else None
        if last is not None and piece.opens and piece.mark is not None and last.kind == piece.mark.kind != "a":
            kept.pop()
            names[piece.mark] = last
        else:
            mark = names.get(piece.mark, piece.mark) if piece.mark is not None else None
            kept.append(piece if mark is piece.mark else replace(piece, mark=mark))
    return _join_texts(kept, of_code_only=True)


def _apart(pieces: list[Piece], place: int, *, before: bool) -> bool:
    """Whether what stands before a delimiter, or behind it, is no letter."""
    if not 0 <= place < len(pieces) or not pieces[place].plain:
        return True
    return _surely_apart(pieces[place].text[-1 if before else 0])


def _guard_delimiters(written: list[str], delimiters: list[str]) -> bool:
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
