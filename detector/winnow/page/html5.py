"""The tree that browsers make of a document: parsed by lexbor, an HTML5 parser in C, of the package selectolax.

It takes a third of the time of libxml2, and its trees need no mending: heads end where browsers end them. The compiled
core reads its nodes where selectolax says that they lie in memory.
"""

# ruff: noqa: SIM905 - lists of names are easier to read as text

from __future__ import annotations

from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode, create_tag

from winnow.core import core
from winnow.page.tree import TAG_NAMES

_TAGS: Final = """
    acronym altglyph altglyphdef altglyphitem animatecolor animatemotion animatetransform annotation-xml applet basefont
    bgsound blink clippath desc feblend fecolormatrix fecomponenttransfer fecomposite feconvolvematrix fediffuselighting
    fedisplacementmap fedistantlight fedropshadow feflood fefunca fefuncb fefuncg fefuncr fegaussianblur feimage femerge
    femergenode femorphology feoffset fepointlight fespecularlighting fespotlight fetile feturbulence foreignobject
    glyphref image isindex keygen lineargradient listing malignmark mfenced mglyph mi mn mo ms mtext multicol nextid
    noembed plaintext radialgradient rb rtc selectedcontent spacer textpath xmp
""".split()
"""Names of elements that lexbor knows and :data:`winnow.page.tree.TAG_NAMES` has not."""

_ATTRIBUTES: Final = """
    accept accept-charset active align alink alt axis bgcolor charset checked class clear codetype color compact content
    declare defer dir direction disabled enctype face focus for frame height hover href hreflang html http-equiv id is
    lang language link maxlength media method multiple nohref noresize noshade nowrap placeholder pool public readonly
    rel required rev rules scheme scope scrolling selected shape size slot src style system target text title type
    valign valuetype vlink width xmlns
""".split()
"""Names of attributes that lexbor knows."""

_WITHOUT_EVENTS: Final = 1

Html5Tree = tuple[LexborNode | None, list[bytes], list[bytes]]
"""What the core reads: the root of a tree, and the names that lexbor knows, by its numbers."""


def parse_html5(html: bytes) -> Html5Tree:
    """Parse a document in UTF-8."""
    return LexborHTMLParser(html, options=_WITHOUT_EVENTS).root, _TAG_NAMES, _ATTRIBUTE_NAMES


def _names_by_number(names: list[str], numbers: list[int]) -> list[bytes]:
    known = {number: name for name, number in zip(names, numbers, strict=True) if number}
    return [known.get(number, "").encode() for number in range(max(known) + 1)]


def _known_names() -> tuple[list[bytes], list[bytes]]:
    tags = [*TAG_NAMES[1:], *_TAGS]
    elements = [create_tag(name) for name in tags]
    parser = LexborHTMLParser(f"<p {' '.join(_ATTRIBUTES)}>")
    return (
        _names_by_number(tags, [core.lexbor_numbers(element)[0] for element in elements]),
        _names_by_number(_ATTRIBUTES, core.lexbor_numbers(parser.css_first("p"))[1:]),
    )


_TAG_NAMES, _ATTRIBUTE_NAMES = _known_names()
