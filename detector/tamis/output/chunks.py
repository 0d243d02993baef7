"""Cuts a page into chunks for retrieval: whole sections with their headings, as far as they are short enough."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field
from itertools import groupby, pairwise, takewhile
from math import ceil
from typing import TYPE_CHECKING, Any, Final

from tamis.output.markdown.blocks import CODE, HEADING, LIST, PARAGRAPH, QUOTE, RULE, TABLE
from tamis.page.text import count_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from tamis.output.markdown.blocks import Block

    Measure = Callable[[str], float]

_SENTENCE_END: Final = re.compile("[.!?] |[。！？]")
_TOKEN: Final = re.compile(r"\S{1,20}\s*")  # of a sentence that is too long


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a page.

    Attributes:
        text: Markdown of the piece, without the headings above it.
        headings: headings above it, from the top one down, as plain text; the first may be the title of the page.
        index: position among the pieces of the page, from 0.
        words: number of words; in scripts without spaces two characters count as one.
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


@dataclass(slots=True)
class _Piece:
    """Successive sections, or a part of one that is too long."""

    sections: list[tuple[tuple[Block, ...], str]]  # the headings above each, and its text
    size: float  # of the maximum
    is_small: bool
    is_whole: bool = True
    above: tuple[Block, ...] = field(init=False)  # common to all

    def __post_init__(self) -> None:
        self.above = self.sections[0][0]

    def may_take(self, other: _Piece) -> bool:
        """Whether another piece may follow in this one: no heading between them is above the first of this one."""
        if self.size + other.size > 1 or not ((self.is_small or other.is_small) and self.is_whole and other.is_whole):
            return False
        headings = other.above[len(_common(self.above, other.above)) :]
        first = self.sections[0][0]
        return not (headings and first and headings[0].level < first[-1].level)

    def take(self, other: _Piece, *, is_small: bool) -> None:
        """Let another piece follow."""
        self.sections += other.sections
        self.size, self.is_small = self.size + other.size, is_small
        self.above = _common(self.above, other.above)

    @property
    def text(self) -> str:
        """The text with the headings that are not above all of it."""
        written: list[str] = []
        shown = self.above
        for above, text in self.sections:
            between = above[len(_common(shown, above)) :]
            written += ["\n".join(heading.lines) for heading in between if heading.title]
            written.append(text)
            shown = above
        return "\n\n".join(written)


def make_chunks(
    blocks: list[Block],
    max_words: int = 300,
    title: str = "",
    *,
    min_words: int = 100,
    max_chars: int | None = None,
    length: Callable[[str], int] = count_words,
    overlap: int = 0,
) -> list[Chunk]:
    """Cut a page into pieces.

    A section, which is a heading with the text up to the next one, is a piece. Small ones are joined with their
    neighbours under the heading that is above both, but never across a heading that is above the first of them; the
    headings between them are part of the text. Sections that are too long are cut into pieces of about the same length,
    between blocks, longer lists between items, tables between rows and code between lines, with the head above each
    piece, quotations between paragraphs, paragraphs between sentences, and longer sentences between words. Headings
    without text below are text of the heading above them. If all items of a list with bullets have headings, each is a
    section, and written without its bullet. Rules are left out.

    Args:
        blocks: its Markdown, see :func:`tamis.output.markdown.writer.write_blocks`.
        max_words: maximum length of a piece, above 0.
        title: what all pieces are below, unless it is one of the headings; "" for nothing.
        min_words: length from which on a section is a piece of its own.
        max_chars: maximum number of characters of a piece as well; ``None`` for any.
        length: what counts the words, or the tokens that ``max_words``, ``min_words`` and ``overlap`` are numbers of.
        overlap: number of words at the end of a piece, in whole sentences, that the next piece of its section repeats.

    Raises:
        ValueError: ``max_words`` or ``max_chars`` is not above 0, or ``overlap`` is not below ``max_words``.
    """
    if max_words < 1 or (max_chars is not None and max_chars < 1):
        raise ValueError(f"max_words and max_chars must be at least 1, not {max_words} and {max_chars}")
    if not 0 <= overlap < max_words:
        raise ValueError(f"overlap must be at least 0 and below max_words, not {overlap}")
    most = max_words - overlap

    def measure(text: str) -> float:
        return max(length(text) / most, len(text) / max_chars if max_chars else 0)

    outline = list(_outline(blocks))
    top = "" if title in {block.title for _, block in outline} else title
    pieces: list[_Piece] = []
    for above, section in _sections(outline):
        parts = [part for block in section for part in _split_block(block, measure)]
        texts = _pack_evenly(parts, "\n\n", measure)
        for number, text in enumerate(texts):
            again = _last_sentences(texts[number - 1], overlap, length) if number and overlap else ""
            whole = f"{again}\n\n{text}" if again else text
            heads = "\n\n".join("\n".join(heading.lines) for heading in above[-1:])
            size = measure(text) + measure(heads)
            piece = _Piece([(above, whole)], size, length(text) < min_words, is_whole=len(texts) == 1)
            if pieces and pieces[-1].may_take(piece):
                pieces[-1].take(piece, is_small=pieces[-1].size + size < min_words / max_words)
            else:
                pieces.append(piece)
    return [_make_chunk(piece, top, number) for number, piece in enumerate(pieces)]


def _make_chunk(piece: _Piece, top: str, index: int) -> Chunk:
    titles = list(filter(None, [top, *(heading.title for heading in piece.above)]))
    link = next((heading.link for heading in reversed(piece.above) if heading.link), "")
    return Chunk(text := piece.text, titles, index, count_words(text), link)


def _common(one: tuple[Block, ...], other: tuple[Block, ...]) -> tuple[Block, ...]:
    pairs = takewhile(lambda pair: pair[0] is pair[1], zip(one, other, strict=False))
    return tuple(heading for heading, _ in pairs)


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


def _split_block(block: Block, measure: Measure) -> Iterator[str]:
    """Yield the Markdown of a block, cut into parts if it is too long."""
    text = "\n".join(block.lines)
    if measure(text) <= 1:
        yield text
        return
    joint, parts, head, tail = "\n", [text], "", ""
    if block.kind == LIST:
        parts = _split_items(block.lines)
    elif block.kind == PARAGRAPH:
        joint, parts = "", _split_sentences(text)
    elif block.kind == QUOTE and "```" not in text:  # code may have empty lines
        joint, parts = "\n>\n", text.split("\n>\n")
    elif block.kind in {CODE, TABLE}:
        above = block.lines[: 1 if block.kind == CODE else 2]
        head, tail = "\n".join([*above, ""]), f"\n{block.lines[-1]}" if block.kind == CODE else ""
        if measure(head) > 1 / 2:  # else it would be most of each part
            yield text
            return
        parts = [*block.lines[len(above) : -1 if tail else None]]
    room = 1 - measure(head) - measure(tail)
    inner = [short for part in parts for short in _cut_hard(part, measure, room, is_code=bool(tail))]
    for part in _pack(inner, joint, measure, room):
        if part.strip():
            yield head + (part if tail else part.strip()) + tail


def _cut_hard(part: str, measure: Measure, room: float, *, is_code: bool) -> list[str]:
    """Cut a part between lines, and those between words, if it is too long; code and rows stay whole."""
    if is_code or "```" in part or measure(part) <= room or part[:1] == "|":
        return [part]
    cut: list[str] = []
    for line in part.split("\n"):
        mark = "> " if line[:2] == "> " else ""
        tokens = [line] if measure(line) <= room else _TOKEN.findall(line.removeprefix(mark))
        pieces = list(_pack(tokens, "", measure, room - measure(mark)))
        cut += pieces if len(tokens) == 1 else [mark + piece for piece in pieces]
    return list(_pack(cut, "\n", measure, room))


def _pack_evenly(parts: list[str], joint: str, measure: Measure) -> list[str]:
    """Join successive parts to the least number of pieces, none of which is much longer than the others."""
    fewest = list(_pack(parts, joint, measure))
    if len(fewest) > 1:
        even = sum(map(measure, parts)) / len(fewest)
        for limit in (1.05 * even, (1 + even) / 2):
            if ceil(limit) == 1 and len(pieces := list(_pack(parts, joint, measure, limit))) <= len(fewest):
                return pieces
    return fewest


def _pack(parts: Iterable[str], joint: str, measure: Measure, limit: float = 1) -> Iterator[str]:
    """Join successive parts up to a length; a longer part stays whole."""
    waiting: list[str] = []
    size, between = 0.0, measure(joint)
    for part in parts:
        added = measure(part)
        if waiting and size + between + added > limit:
            yield joint.join(waiting)
            waiting.clear()
            size = 0.0
        size += added + (between if waiting else 0)
        waiting.append(part)
    if waiting:
        yield joint.join(waiting)


def _split_items(lines: Sequence[str]) -> list[str]:
    begins = [at for at, line in enumerate(lines) if not at or line[:1] not in {"", " "}]
    return ["\n".join(lines[begin:end]).rstrip() for begin, end in pairwise([*begins, len(lines)])]


def _split_sentences(text: str) -> list[str]:
    ends = [found.end() for found in _SENTENCE_END.finditer(text, 0, len(text) - 1)]
    return [text[begin:end] for begin, end in pairwise([0, *ends, len(text)])]


def _last_sentences(text: str, most: int, length: Callable[[str], int]) -> str:
    """The last sentences of a paragraph that ends a text, up to a length; "" where something else ends it."""
    paragraph = text.rpartition("\n\n")[2]
    if paragraph[:1] in {"|", ">", "-", "*", "`", "#"} or "\n" in paragraph or paragraph.endswith("```"):
        return ""
    sentences, size = list[str](), 0
    for sentence in reversed(_split_sentences(paragraph)):
        size += length(sentence)
        if size > most:
            break
        sentences.insert(0, sentence)
    return "".join(sentences).strip()
