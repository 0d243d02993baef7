"""Pieces of a page for retrieval: whole blocks under their headings, within a number of words where possible."""

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

    A piece never reaches over a heading. Tables and code stay whole, whatever their length; longer lists are cut
    between items and longer paragraphs between sentences.

    Args:
        html: a document of :func:`winnow.output.html.write_html`.
        max_words: maximum number of words of a piece, above 0.

    Raises:
        ValueError: ``max_words`` is not above 0.
    """
    if max_words < 1:
        raise ValueError(f"max_words must be at least 1, not {max_words}")
    chunks: list[Chunk] = []
    headings: list[tuple[int, str]] = []
    waiting: list[str] = []
    length = _EMPTY
    for block in markdown_blocks(html):
        if block.kind == HEADING:
            _flush(chunks, waiting, headings)
            level, _, title = block.lines[0].partition(" ")
            headings = [*(above for above in headings if above[0] < len(level)), (len(level), title)]
            length = _EMPTY
            continue
        for piece in _split_block(block, max_words):
            longer = length + _measure(piece)
            if waiting and longer.words > max_words:
                _flush(chunks, waiting, headings)
                longer = _measure(piece)
            waiting.append(piece)
            length = longer
    _flush(chunks, waiting, headings)
    return chunks


def _flush(chunks: list[Chunk], waiting: list[str], headings: list[tuple[int, str]]) -> None:
    if waiting:
        text = "\n\n".join(waiting)
        chunks.append(Chunk(text, [title for _, title in headings], len(chunks), _measure(text).words))
        waiting.clear()


def _split_block(block: Block, max_words: int) -> Iterator[str]:
    """Yield the Markdown of a block, cut into parts if it is too long."""
    text = "\n".join(stack_blocks([block]))
    if _measure(text).words <= max_words or block.kind not in {LIST, PARAGRAPH}:
        yield text
        return
    parts = _split_items(block.lines) if block.kind == LIST else _split_sentences(text)
    joint = "\n" if block.kind == LIST else ""
    waiting: list[str] = []
    length = _EMPTY
    for part in parts:
        longer = length + _measure(part)
        if not joint and waiting and not waiting[-1][-1].isspace() and not part[:1].isspace():
            longer = replace(longer, separated=longer.separated - 1)  # both sides are one word without a space
        if waiting and longer.words > max_words:
            yield joint.join(waiting).strip()
            waiting.clear()
            longer = _measure(part)
        waiting.append(part)
        length = longer
    if piece := joint.join(waiting).strip():
        yield piece


def _split_items(lines: Sequence[str]) -> list[str]:
    items: list[list[str]] = []
    for line in lines:
        if items and (not line or line.startswith(" ")):
            items[-1].append(line)
        else:
            items.append([line])
    return ["\n".join(item).rstrip() for item in items]


def _split_sentences(text: str) -> Iterator[str]:
    begin = 0
    for found in _SENTENCE_END.finditer(text, 0, len(text) - 1):
        yield text[begin : found.end()]
        begin = found.end()
    yield text[begin:]


@dataclass(frozen=True, slots=True)
class _Length:
    """Words between white space, and characters of scripts without spaces; sums, so that no text is counted twice."""

    separated: int = 0
    unspaced: int = 0

    def __add__(self, other: _Length) -> _Length:
        return _Length(self.separated + other.separated, self.unspaced + other.unspaced)

    @property
    def words(self) -> int:
        return self.separated + self.unspaced // _CJK_WORD


_EMPTY: Final = _Length()


def _measure(text: str) -> _Length:
    unspaced = sum("\u3040" <= character <= "\u9fff" or "\uac00" <= character <= "\ud7a3" for character in text)
    return _Length(len(text.split()), unspaced)
