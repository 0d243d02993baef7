"""Cuts a page into chunks for retrieval: whole blocks with their headings, limited in words where possible."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from itertools import chain, groupby, pairwise
from typing import TYPE_CHECKING, Any, Final

from winnow.output.markdown.blocks import HEADING, LIST, PARAGRAPH, RULE, stack_blocks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from winnow.output.markdown.blocks import Block

_UNSPACED: Final = re.compile("[\u3040-\u9fff\uac00-\ud7a3]")
_SENTENCE_END: Final = re.compile("[.!?] |[。！？]")


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a page.

    Attributes:
        text: Markdown of the piece, without the headings above it.
        headings: headings above it, from the top one down, as plain text.
        index: position among the pieces of the page, from 0.
        words: number of words.
    """

    text: str
    headings: list[str]
    index: int
    words: int

    @property
    def text_with_headings(self) -> str:
        """The piece with its headings before it, which is best for embeddings."""
        return "\n\n".join(filter(None, [" > ".join(self.headings), self.text]))

    def to_dict(self) -> dict[str, Any]:
        """Return the piece as a dictionary that JSON can hold."""
        return asdict(self)


def make_chunks(blocks: list[Block], max_words: int = 300) -> list[Chunk]:
    """Cut a page into pieces.

    A piece never continues after a heading. If all items of a list with bullets have headings, each is a section, and
    written without its bullet. Tables and code stay whole, whatever their length; longer lists are cut between items
    and longer paragraphs between sentences. Rules are left out.

    Args:
        blocks: its Markdown, see :func:`winnow.output.markdown.writer.write_blocks`.
        max_words: maximum number of words of a piece, above 0.

    Raises:
        ValueError: ``max_words`` is not above 0.
    """
    if max_words < 1:
        raise ValueError(f"max_words must be at least 1, not {max_words}")
    chunks: list[Chunk] = []
    headings: list[tuple[int, str]] = []
    for has_sections, group in groupby(blocks, lambda block: bool(block.sections)):
        if has_sections:  # the headings of an item end with it
            for section in chain.from_iterable(block.sections for block in group):
                _add_chunks(chunks, section, headings, max_words)
        else:
            headings = _add_chunks(chunks, group, headings, max_words)
    return chunks


def _add_chunks(
    chunks: list[Chunk], blocks: Iterable[Block], headings: list[tuple[int, str]], max_words: int
) -> list[tuple[int, str]]:
    """Add the pieces of some blocks below some headings, each with its level; return the headings at their end."""
    shown = (block for block in blocks if block.kind != RULE)
    for is_heading, group in groupby(shown, lambda block: block.kind == HEADING):
        if is_heading:
            for block in group:
                level = block.lines[0].index(" ")
                headings = [*(above for above in headings if above[0] < level), (level, block.title)]
            continue
        pieces = (piece for block in group for piece in _split_block(block, max_words))
        for text in _pack(pieces, "\n\n", max_words):
            titles = [title for _, title in headings if title]
            chunks.append(Chunk(text, titles, len(chunks), _count_half_words(text) // 2))
    return headings


def _split_block(block: Block, max_words: int) -> Iterator[str]:
    """Yield the Markdown of a block, cut into parts if it is too long."""
    text = "\n".join(stack_blocks([block]))
    if _count_half_words(text) // 2 <= max_words or block.kind not in {LIST, PARAGRAPH}:
        yield text
        return
    joint, parts = ("\n", _split_items(block.lines)) if block.kind == LIST else ("", _split_sentences(text))
    yield from filter(None, map(str.strip, _pack(parts, joint, max_words)))


def _pack(parts: Iterable[str], joint: str, max_words: int) -> Iterator[str]:
    """Join successive parts up to a number of words; a part with more words stays whole."""
    waiting: list[str] = []
    half_words = 0
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
