"""Cuts a page into chunks for retrieval: whole blocks with their headings, limited in words where possible."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any, Final

from tamis.output.markdown.blocks import HEADING, LIST, PARAGRAPH, QUOTE, RULE, TABLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tamis.output.markdown.blocks import Block

_UNSPACED: Final = re.compile("[\u3040-\u9fff\uac00-\ud7a3]")
_SENTENCE_END: Final = re.compile("[.!?] |[。！？]")


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a page.

    Attributes:
        text: Markdown of the piece, without the headings above it.
        headings: headings above it, from the top one down, as plain text; the first may be the title of the page.
        index: position among the pieces of the page, from 0.
        words: number of words.
        link: where the last heading with a link leads, such as to the page of an item of a listing; "" for nowhere.
    """

    text: str
    headings: list[str]
    index: int
    words: int
    link: str = ""

    @property
    def text_with_headings(self) -> str:
        """The piece with its headings before it, which is best for embeddings."""
        return "\n\n".join(filter(None, [" > ".join(self.headings), self.text]))

    def to_dict(self) -> dict[str, Any]:
        """Return the piece as a dictionary that JSON can hold."""
        return asdict(self)


def make_chunks(blocks: list[Block], max_words: int = 300, title: str = "") -> list[Chunk]:
    """Cut a page into pieces.

    A piece never continues after a heading with text below. Headings without are text of the heading above them, and
    written as in the Markdown. If all items of a list with bullets have headings, each is a section, and written
    without its bullet. Code stays whole, whatever its length; longer lists are cut between items, tables between rows,
    with the head above each piece, quotations between paragraphs and paragraphs between sentences. Rules are left out.

    Args:
        blocks: its Markdown, see :func:`tamis.output.markdown.writer.write_blocks`.
        max_words: maximum number of words of a piece, above 0.
        title: what all pieces are below, unless it is one of the headings; "" for nothing.

    Raises:
        ValueError: ``max_words`` is not above 0.
    """
    if max_words < 1:
        raise ValueError(f"max_words must be at least 1, not {max_words}")
    outline = list(_outline(blocks))
    top = "" if title in {block.title for _, block in outline} else title
    chunks: list[Chunk] = []
    for above, section in _sections(outline):
        titles = list(filter(None, [top, *(heading.title for heading in above)]))
        link = next((heading.link for heading in reversed(above) if heading.link), "")
        pieces = (piece for block in section for piece in _split_block(block, max_words))
        for text in _pack(pieces, "\n\n", max_words):
            chunks.append(Chunk(text, list(titles), len(chunks), _count_half_words(text) // 2, link))
    return chunks


def _outline(blocks: Iterable[Block]) -> Iterator[tuple[tuple[Block, ...], Block]]:
    """Yield all blocks but rules, each with the headings that it is below, and a heading with itself as the last."""
    above: tuple[Block, ...] = ()
    for block in blocks:
        for section in block.sections or [[block]]:
            inner = above
            for part in section:
                if part.kind == HEADING:
                    inner = (*(heading for heading in inner if heading.level < part.level), part)
                if part.kind != RULE:
                    yield inner, part
        if not block.sections:  # else the headings of an item end with it
            above = inner


def _sections(outline: Sequence[tuple[tuple[Block, ...], Block]]) -> list[tuple[tuple[Block, ...], list[Block]]]:
    """Gather the blocks below the same headings; headings without text below are blocks as others."""
    with_text = {heading for above, block in outline if block.kind != HEADING for heading in above}
    shown = [pair for pair in outline if pair[1] not in with_text and (pair[1].kind != HEADING or pair[1].title)]
    sections: list[tuple[tuple[Block, ...], list[Block]]] = []
    for above, group in groupby(shown, lambda pair: tuple(heading for heading in pair[0] if heading in with_text)):
        section = [block for _, block in group]
        if sections and [block.kind for block in section] == [HEADING]:
            sections[-1][1].extend(section)  # alone, such as the name below a testimonial
        else:
            sections.append((above, section))
    return sections


def _split_block(block: Block, max_words: int) -> Iterator[str]:
    """Yield the Markdown of a block, cut into parts if it is too long."""
    text = "\n".join(block.lines)
    if _count_half_words(text) // 2 <= max_words:
        yield text
        return
    joint, parts, head = "\n", [text], ""
    if block.kind == LIST:
        parts = _split_items(block.lines)
    elif block.kind == PARAGRAPH:
        joint, parts = "", _split_sentences(text)
    elif block.kind == QUOTE and "```" not in text:  # code may have empty lines
        joint, parts = "\n>\n", text.split("\n>\n")
    elif block.kind == TABLE:
        top = "\n".join([*block.lines[:2], ""])
        room = max_words - _count_half_words(top) // 2
        if 2 * room >= max_words:  # else the head would be most of each part
            parts, head, max_words = [*block.lines[2:]], top, room
    yield from (head + part for part in map(str.strip, _pack(parts, joint, max_words)) if part)


def _pack(parts: Iterable[str], joint: str, max_words: int) -> Iterator[str]:
    """Join successive parts up to a number of words; a part with more words stays whole."""
    waiting: list[str] = []
    half_words, between = 0, _count_half_words(joint)
    for part in parts:
        added = _count_half_words(part)
        half_words += added
        if not joint and waiting and not waiting[-1][-1].isspace() and not part[:1].isspace():
            half_words -= 2  # the words on both sides are one without a space
        if waiting and half_words // 2 > max_words:
            yield joint.join(waiting)
            waiting.clear()
            half_words = added
        waiting.append(part)
        half_words += between
    if waiting:
        yield joint.join(waiting)


def _split_items(lines: Sequence[str]) -> list[str]:
    begins = [at for at, line in enumerate(lines) if not at or line[:1] not in {"", " "}]
    return ["\n".join(lines[begin:end]).rstrip() for begin, end in pairwise([*begins, len(lines)])]


def _split_sentences(text: str) -> list[str]:
    ends = [found.end() for found in _SENTENCE_END.finditer(text, 0, len(text) - 1)]
    return [text[begin:end] for begin, end in pairwise([0, *ends, len(text)])]


def _count_half_words(text: str) -> int:
    """Count 2 for each word and 1 for each character of scripts without spaces, where two make about a word."""
    return 2 * len(text.split()) + len(_UNSPACED.findall(text))
