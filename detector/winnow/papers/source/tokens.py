"""Where the tags, comments and texts of an HTML source begin and end, cut the way an HTML parser cuts it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

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
