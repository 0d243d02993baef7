"""The inside of a paragraph as it is read: text, emphasis, links, images and code.

White space at the edges of emphasis and links moves out of them, as Markdown wants it, and emphasis without contents is
none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from winnow.output.markdown.escaping import address, escape_lines, escape_text, title
from winnow.output.markdown.inline import joined
from winnow.output.markdown.pieces import BREAK, Mark, Piece

_SPACES: Final = re.compile(r"[ \t\n\r\f]+")


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
            last = self._pieces[-1] if self._pieces else None
            if last is not None and last.plain:
                last.text += words
            else:
                self._pieces.append(Piece(words, plain=True))
            self._space(text[begin + len(words) :])

    def image(self, source: str, description: str, caption: str) -> None:
        """Add an image."""
        self._begin()
        described = escape_text(" ".join(description.split()), brackets=True)
        self._pieces.append(Piece(f"![{described}]({address(source)}{title(caption)})"))

    def line_break(self) -> None:
        """Add a line break; at the end of a paragraph it is none."""
        self._pending = BREAK if self._pieces else ""

    def formula(self, tex: str) -> None:
        """Add a formula in TeX."""
        self._begin()
        self._pieces.append(Piece(f"${tex}$", formula=True))

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
        written = joined(self._pieces)
        self._pieces.clear()
        return escape_lines(written)

    def _space(self, space: str) -> None:
        if not space or not self._pieces or self._pending == BREAK:
            return
        if self._pending in {"", " "}:
            self._pending = space.lstrip(" ") or " "

    def _code(self, code: str) -> None:
        if not code:
            return
        self._begin()
        if self._pieces and self._pieces[-1].code:
            self._pieces[-1].text += code
        else:
            self._pieces.append(Piece(code, code=True))

    def _begin(self) -> None:
        """Write what was waiting: white space, and the marks that were opened before it or after."""
        if self._pending:
            self._write_pending()
        for mark in self.marks:
            if mark not in self._opened and self._shown(mark):
                self._open(mark)

    def _write_pending(self) -> None:
        if self._pieces[-1].plain:
            self._pieces[-1].text += self._pending if self._pending != BREAK else ""
        if not self._pieces[-1].plain or self._pending == BREAK:
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
