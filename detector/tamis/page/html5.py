"""The tree that browsers make of a document: parsed by lexbor, an HTML5 parser in C, of the package selectolax.

It takes a third of the time of libxml2, and its trees need no mending: heads end where browsers end them. The compiled
core reads its nodes through the address that selectolax exposes.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray
from selectolax.lexbor import LexborHTMLParser, LexborNode, create_tag

from tamis.core import core
from tamis.page.tree import TAG_NAMES

_TAGS: Final = """
    acronym altglyph altglyphdef altglyphitem animatecolor animatemotion animatetransform annotation-xml applet basefont
    bgsound blink clippath desc feblend fecolormatrix fecomponenttransfer fecomposite feconvolvematrix fediffuselighting
    fedisplacementmap fedistantlight fedropshadow feflood fefunca fefuncb fefuncg fefuncr fegaussianblur feimage femerge
    femergenode femorphology feoffset fepointlight fespecularlighting fespotlight fetile feturbulence foreignobject
    glyphref image isindex keygen lineargradient listing malignmark mfenced mglyph mi mn mo ms mtext multicol nextid
    noembed plaintext radialgradient rb rtc selectedcontent spacer textpath xmp
""".split()
"""Names of elements that lexbor knows and :data:`tamis.page.tree.TAG_NAMES` has not."""

TAGS: Final = [*TAG_NAMES[1:], *_TAGS]
"""Names of elements that lexbor or :data:`tamis.page.tree.TAG_NAMES` knows."""

ATTRIBUTES: Final = """
    accept accept-charset active align alink alt axis bgcolor charset checked class clear codetype color compact content
    declare defer dir direction disabled enctype face focus for frame height hover href hreflang html http-equiv id is
    lang language link maxlength media method multiple nohref noresize noshade nowrap placeholder pool public readonly
    rel required rev rules scheme scope scrolling selected shape size slot src style system target text title type
    valign valuetype vlink width xmlns
""".split()
"""Names of attributes that lexbor knows."""


Html5Tree = tuple[LexborNode | None, NDArray[np.int32], NDArray[np.int32]]
"""What the core reads: the root of a tree, and where lexbor's tags and attributes are in ``TAGS`` and ``ATTRIBUTES``.

The arrays are indexed by lexbor's numbers. The first name has 1; 0 stands for numbers without a name.
"""


def parse_html5(html: bytes) -> Html5Tree:
    """Parse a document in UTF-8, without events (``options=1``)."""
    return LexborHTMLParser(html, options=1).root, _TAG_INDEX, _ATTRIBUTE_INDEX


def _index_of(numbers: list[int]) -> NDArray[np.int32]:
    """int32[...], position from 1 of each of lexbor's numbers among ``numbers``; 0 for others."""
    index = np.zeros(max(numbers) + 1, np.int32)
    index[numbers] = np.arange(1, len(numbers) + 1)
    index[0] = 0
    return index


_TAG_INDEX: Final = _index_of([core.lexbor_numbers(create_tag(name))[0] for name in TAGS])
_ATTRIBUTE_INDEX: Final = _index_of(
    core.lexbor_numbers(LexborHTMLParser(f"<p {' '.join(ATTRIBUTES)}>").css_first("p"))[1:]
)
