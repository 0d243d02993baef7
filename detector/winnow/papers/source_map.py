"""Where the elements and text runs of a page are in its original source, however unclean it is.

The tree is libxml2's, which gives line numbers at most. So the source is cut into tokens, every token leaves a mark
that does not change how the rest is parsed (an attribute in a start tag, a comment behind anything else), and the
marked source is parsed once more: the marks say which token each node came from.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from lxml import etree
from w3lib.encoding import read_bom

from winnow.metadata.values import unescape_text
from winnow.page.parsing import decoded, parse_html
from winnow.page.tags import UNSEEN_TEXT
from winnow.page.tree import prefix_sums

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from winnow.page.page import Page

    Offsets = NDArray[np.int64]


# Where the tags, comments and texts of an HTML source begin and end, cut the way an HTML parser cuts it.

START: Final = "start"
END: Final = "end"
OTHER: Final = "other"
"""Comments, declarations and processing instructions, and what a parser takes for comments."""
CUT_OFF: Final = "cut off"
"""A tag that the end of the source cuts off: nothing, to a parser."""

_ATTRIBUTES: Final = r"""
    (?: [\s/]*+ [^\s/>] [^\s/>=]*+
        (?: \s*+ = \s*+ (?: "[^"]*+(?:"|\Z) | '[^']*+(?:'|\Z) | [^\s>"'][^\s>]*+ )? )?
    )*+ [\s/]*+
"""
_MARKUP: Final = re.compile(
    rf"""
      <!-- (?: -?> | .*?(?: --!?> | \Z ) )
    | < (?P<slash> /? ) (?P<name> [a-z][^\s/>]*+ ) {_ATTRIBUTES} (?P<close> > | \Z )
    | < (?: [!?] | / (?! [a-z] | \Z ) ) [^>]*+ (?: > | \Z )
    """,
    re.VERBOSE | re.DOTALL | re.IGNORECASE | re.ASCII,
)
_RAW_TEXT: Final = {
    name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE | re.ASCII)
    for name in ("script", "style", "title", "textarea", "xmp", "iframe", "noembed", "noframes")
}


class Token(NamedTuple):
    """A piece of markup.

    Attributes:
        kind: `START`, `END`, `OTHER` or `CUT_OFF`.
        begin, end: where it is, in characters of the source.
        name: tag name in lower case; empty for `OTHER`.
    """

    kind: str
    begin: int
    end: int
    name: str


def source_tokens(source: str) -> Iterator[Token]:
    """Cut a source into its pieces of markup, in order; what lies between them is text.

    Attribute values may hold ``>`` and the contents of scripts, styles, titles and text areas anything but their own
    end tag. CDATA is a comment, as it is for parsers of HTML.
    """
    position = 0
    while found := _MARKUP.search(source, position):
        position = found.end()
        name = (found["name"] or "").lower()
        if not name:
            yield Token(OTHER, found.start(), position, "")
            continue
        if not found["close"]:
            yield Token(CUT_OFF, found.start(), position, name)
            return
        yield Token(END if found["slash"] else START, found.start(), position, name)
        if found["slash"]:
            continue
        if name == "plaintext":
            return
        if name in _RAW_TEXT:
            end = _RAW_TEXT[name].search(source, position)
            if end is None:
                return
            position = end.start()


NOWHERE: Final = -1
_MARK: Final = "winnow-token"
_ONCE: Final = frozenset({"html", "head", "body"})
"""Elements of which there is one; the start tags of others only add to its attributes."""


@dataclass(frozen=True, eq=False, slots=True)
class SourceMap:
    """Offsets into the original bytes.

    Attributes:
        element: int64[n, 2], begin of each element's start tag and end of its end tag or, where it has none, of what
            it holds; an element without any tag of its own (an implied ``body``) spans what it holds. -1 where there
            is nothing to span, and everywhere if the source could not be followed.
        run: int64[r, 2], begin and end of each run of text; a run around stray end tags spans them, too.
    """

    element: Offsets
    run: Offsets

    @property
    def found(self) -> bool:
        """Whether the source could be followed."""
        return bool((self.element != NOWHERE).any())


def source_map(html: bytes, page: Page) -> SourceMap:
    """Find the elements and runs of a page in the bytes it was parsed from.

    Args:
        html: the bytes that `Page.parse` was given, without an HTTP charset.
        page: the page that came out.

    Returns:
        Offsets in bytes. Cost: about two more parses.
    """
    encoding, source = decoded(html)
    tokens = list(source_tokens(source))
    walk = _Walk(parse_html(_with_marks(source, tokens)), tokens, len(source))
    offset = byte_offsets(html, source, encoding)
    if offset is None or walk.tags != [element.tag for element in page.elements] or "".join(walk.texts) != page.text:
        return SourceMap(np.full((page.n, 2), NOWHERE, np.int64), np.full((len(page.runs), 2), NOWHERE, np.int64))
    offset = np.append(offset, NOWHERE)  # -1 stays -1
    pieces = np.array(walk.text, np.int64).reshape(-1, 2)
    piece_offset = np.cumsum([0, *map(len, walk.texts)])
    first = np.searchsorted(piece_offset, page.run_offset[:-1], side="right") - 1
    last = np.searchsorted(piece_offset, page.run_offset[1:], side="left") - 1
    runs = np.stack([pieces[first, 0], pieces[last, 1]], axis=1)
    return SourceMap(offset[np.array(walk.element, np.int64).reshape(-1, 2)], offset[runs])


def byte_offsets(html: bytes, source: str, encoding: str) -> Offsets | None:
    """int64[characters + 1], where each character of a decoded source begins in its bytes.

    Args:
        html: the bytes.
        source: the text, without a byte order mark.
        encoding: name of the codec.

    Returns:
        The offsets, or ``None`` where decoding again gives another text.
    """
    begin = len(read_bom(html)[1] or b"")
    codes, which = np.unique(np.frombuffer(source.encode("utf-32-le", "surrogatepass"), "<u4"), return_inverse=True)
    lengths = np.array([len(chr(code).encode(encoding, "ignore")) for code in codes.tolist()], np.int64)
    offset: Offsets = begin + prefix_sums(lengths[which])
    if offset[-1] == len(html) and html[begin:].decode(encoding, "ignore") == source:
        return offset
    return _offsets_byte_by_byte(html, source, encoding, begin)


def _offsets_byte_by_byte(html: bytes, source: str, encoding: str, begin: int) -> Offsets | None:
    """Decode bytes that are not all valid, or depend on those before them, as `w3lib.encoding.to_unicode` does."""
    decoder = codecs.getincrementaldecoder(encoding)("w3lib_gb18030_replace" if "18030" in encoding else "replace")
    offset, parts, decoded_to = [], [], begin
    for end in range(begin + 1, len(html) + 1):
        if part := decoder.decode(html[end - 1 : end], end == len(html)):
            own_byte = ord(part[-1]) == html[end - 1]  # behind an escape sequence, or behind bytes that are not valid
            offset += [decoded_to] * (len(part) - own_byte) + [end - 1] * own_byte
            parts.append(part)
            decoded_to = end
    return np.array([*offset, len(html)], np.int64) if "".join(parts) == source else None


def _with_marks(source: str, tokens: Sequence[Token]) -> str:
    """Put a mark with the token's number into every start tag, and behind all that may leave no element."""
    parts, position = [], 0
    for number, token in enumerate(tokens):
        if token.kind == START:
            name_end = token.begin + 1 + len(token.name)
            parts += [source[position:name_end], f' {_MARK}="{number}"']
            position = name_end
        if token.kind in {END, OTHER} or (token.kind == START and token.name in _ONCE):
            parts += [source[position : token.end], f"<!--{_MARK}{number}-->"]
            position = token.end
    return "".join([*parts, source[position:]])


class _Walk:
    """One walk over the marked tree, which goes along the source; offsets are in characters.

    Attributes:
        tags: name of each element.
        element: begin and end of each element.
        texts: the pieces of text that runs consist of.
        text: begin and end of each piece.
    """

    def __init__(self, root: etree._Element, tokens: Sequence[Token], length: int) -> None:
        self.tags: list[str] = []
        self.element: list[list[int]] = []
        self.texts: list[str] = []
        self.text: list[tuple[int, int]] = []
        self._tokens = tokens
        self._text_end = [*(token.begin for token in tokens), length]  # of the text before each token
        self._last = _token_before(root)  # number of the token that was met last
        self._reached = 0  # end of what was met last
        self._unseen = 0  # elements around the current place whose text is not the page's
        self._implied: set[int] = set()  # open elements without a tag of their own and nothing in them so far
        self._walk(root)

    def _walk(self, root: etree._Element) -> None:
        open_elements: list[int] = []
        just_closed = None
        for event, node in etree.iterwalk(root, events=("start", "end", "comment", "pi")):
            closed_before, just_closed = just_closed, None
            if event == "start":
                open_elements.append(self._open(node))
                self._see_text(node.text)
                continue
            if event == "end":
                number = open_elements.pop()
                self._close(number)
                just_closed = None if node.tail else number
            else:
                self._pass_mark(node.text or "", closed_before)
            if open_elements:
                self._see_text(node.tail)
        for node in root.itersiblings():  # what stands behind the end tag of the root
            self._pass_mark(node.text or "", just_closed=0)

    def _open(self, node: etree._Element) -> int:
        number = len(self.tags)
        self.tags.append(node.tag)
        mark = node.get(_MARK)
        if mark is None:
            self._implied.add(number)
            self.element.append([NOWHERE, NOWHERE])
        else:
            self._last = int(mark)
            token = self._tokens[self._last]
            self._see(token.begin, token.end)
            self.element.append([token.begin, token.end])
        self._unseen += node.tag in UNSEEN_TEXT
        return number

    def _close(self, number: int) -> None:
        self._unseen -= self.tags[number] in UNSEEN_TEXT
        span = self.element[number]
        if span[0] == NOWHERE:
            self._implied.discard(number)
        else:
            span[1] = self._reached

    def _pass_mark(self, comment: str, just_closed: int | None) -> None:
        if not comment.startswith(_MARK):
            return
        self._last = int(comment.removeprefix(_MARK))
        token = self._tokens[self._last]
        if token.kind != END:
            self._see(token.begin, token.end)
        elif just_closed is not None and self.tags[just_closed] == token.name:
            span = self.element[just_closed]
            span[:] = [token.begin if span[0] == NOWHERE else span[0], token.end]
            self._reached = token.end

    def _see_text(self, text: str | None) -> None:
        if not text:
            return
        begin = self._tokens[self._last].end if self._last >= 0 else 0
        end = self._text_end[self._last + 1]
        self._see(begin, end)
        if not self._unseen:
            self.texts.append(text)
            self.text.append((begin, end))

    def _see(self, begin: int, end: int) -> None:
        for number in self._implied:
            self.element[number][0] = begin
        self._implied.clear()
        self._reached = end


def _token_before(root: etree._Element) -> int:
    """Number of the last token before the root, -1 if there is none."""
    marks = (node.text or "" for node in root.itersiblings(preceding=True))
    return next((int(mark.removeprefix(_MARK)) for mark in marks if mark.startswith(_MARK)), -1)


# Where each character of a run of text is in the source: entities are several bytes for one character.

_UNIT: Final = re.compile(r"&\#?\w+;?|\r\n?|[^&\r]+|&", re.ASCII)


def character_offsets(source: bytes, run: str, encoding: str) -> list[int] | None:
    """Return the byte at which each character of a run begins, and where the last one ends.

    Args:
        source: the bytes of the run in the source.
        run: the run, as the parser returned it.
        encoding: name of the codec.

    Returns:
        As many offsets as the run has characters, and one more; ``None`` where the bytes do not spell the run, as
        around stray end tags.
    """
    offsets = [0]
    parts: list[str] = []
    for text, size in _units(source.decode(encoding, "replace"), encoding):
        if len(text) == len(size):
            for bytes_of_character in size:
                offsets.append(offsets[-1] + bytes_of_character)
        else:
            offsets += [offsets[-1]] * (len(text) - 1) + [offsets[-1] + sum(size)]
        parts.append(text)
    return offsets if "".join(parts) == run and offsets[-1] == len(source) else None


def _units(source: str, encoding: str) -> Iterator[tuple[str, list[int]]]:
    """Cut a source into entities, line ends and plain text: what each spells, and the sizes of its own characters."""
    for found in _UNIT.finditer(source):
        unit = found[0]
        size = [len(character.encode(encoding, "replace")) for character in unit]
        if unit[0] == "&" and (spelt := unescape_text(unit)) != unit:
            end = 0
            while end < min(len(spelt), len(unit)) and spelt[-1 - end] == unit[-1 - end] and unit[-1 - end] != ";":
                end += 1
            entity = len(unit) - end
            yield spelt[: len(spelt) - end], [sum(size[:entity])]
            if end:
                yield unit[entity:], size[entity:]
        elif unit[0] == "\r":
            yield "\n", [sum(size)]
        else:
            yield unit, size
