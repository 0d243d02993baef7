"""Pieces of a page for retrieval: whole blocks under their headings, none longer than asked for where that can be."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from winnow.output.markdown.blocks import HEADING, LIST, PARAGRAPH, stack_blocks
from winnow.output.markdown.writer import markdown_blocks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from winnow.output.markdown.blocks import Block

_SENTENCE_END: Final = re.compile("[.!?] |[。！？]")
_CJK_WORD: Final = 2
"""Characters of scripts without spaces that count as a word."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a page.

    Attributes:
        text: Markdown of the piece, without the headings above it.
        headings: headings above it, from the top one down; the first words for a reader of the piece alone.
        index: place among the pieces of the page, from 0.
        words: number of words.
    """

    text: str
    headings: list[str]
    index: int
    words: int

    @property
    def text_with_headings(self) -> str:
        """The piece with its headings before it, as it is best embedded."""
        return "\n\n".join(filter(None, [" > ".join(self.headings), self.text]))

    def to_dict(self) -> dict[str, Any]:
        """Return the piece as a dictionary that JSON can hold."""
        return asdict(self)


def make_chunks(html: str, max_words: int = 300) -> list[Chunk]:
    """Cut clean HTML into pieces.

    A piece never reaches over a heading. Tables and code stay whole, whatever their length; a list is cut between its
    items and a paragraph between its sentences where it alone is longer than asked for.

    Args:
        html: a document of :func:`winnow.output.html.write_html`.
        max_words: most words of a piece.

    Raises:
        ValueError: ``max_words`` is not above 0.
    """
    if max_words < 1:
        raise ValueError(f"max_words must be at least 1, not {max_words}")
    chunks: list[Chunk] = []
    headings: list[tuple[int, str]] = []
    waiting: list[str] = []
    length = _NOTHING
    for block in markdown_blocks(html):
        if block.kind == HEADING:
            _flush(chunks, waiting, headings)
            level, _, title = block.lines[0].partition(" ")
            headings = [*(above for above in headings if above[0] < len(level)), (len(level), title)]
            length = _NOTHING
            continue
        for piece in _pieces(block, max_words):
            longer = length + _length(piece)
            if waiting and longer.words > max_words:
                _flush(chunks, waiting, headings)
                longer = _length(piece)
            waiting.append(piece)
            length = longer
    _flush(chunks, waiting, headings)
    return chunks


def _flush(chunks: list[Chunk], waiting: list[str], headings: list[tuple[int, str]]) -> None:
    if waiting:
        text = "\n\n".join(waiting)
        chunks.append(Chunk(text, [title for _, title in headings], len(chunks), _length(text).words))
        waiting.clear()


def _pieces(block: Block, max_words: int) -> Iterator[str]:
    """The Markdown of a block, in parts where it is too long and can be cut."""
    text = "\n".join(stack_blocks([block]))
    if _length(text).words <= max_words or block.kind not in {LIST, PARAGRAPH}:
        yield text
        return
    parts = _items(block.lines) if block.kind == LIST else _sentences(text)
    joint = "\n" if block.kind == LIST else ""
    waiting: list[str] = []
    length = _NOTHING
    for part in parts:
        longer = length + _length(part)
        if not joint and waiting and not waiting[-1][-1].isspace() and not part[:1].isspace():
            longer = replace(longer, separated=longer.separated - 1)  # both sides are one word without a space
        if waiting and longer.words > max_words:
            yield joint.join(waiting).strip()
            waiting.clear()
            longer = _length(part)
        waiting.append(part)
        length = longer
    if piece := joint.join(waiting).strip():
        yield piece


def _items(lines: Sequence[str]) -> list[str]:
    items: list[list[str]] = []
    for line in lines:
        if items and (not line or line.startswith(" ")):
            items[-1].append(line)
        else:
            items.append([line])
    return ["\n".join(item).rstrip() for item in items]


def _sentences(text: str) -> Iterator[str]:
    begin = 0
    for found in _SENTENCE_END.finditer(text, 0, len(text) - 1):
        yield text[begin : found.end()]
        begin = found.end()
    yield text[begin:]


@dataclass(frozen=True, slots=True)
class _Length:
    """Length of a text: words between white space, and characters of scripts without spaces, which are added to them.

    Lengths add up, so that no text is counted again with each piece that is joined to it.
    """

    separated: int = 0
    unspaced: int = 0

    def __add__(self, other: _Length) -> _Length:
        return _Length(self.separated + other.separated, self.unspaced + other.unspaced)

    @property
    def words(self) -> int:
        return self.separated + self.unspaced // _CJK_WORD


_NOTHING: Final = _Length()


def _length(text: str) -> _Length:
    unspaced = sum("\u3040" <= character <= "\u9fff" or "\uac00" <= character <= "\ud7a3" for character in text)
    return _Length(len(text.split()), unspaced)
