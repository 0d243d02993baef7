"""The fixed vocabulary of HTML tag names, and groups of tags."""

# ruff: noqa: SIM905 - lists of names are easier to read as text

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

UNKNOWN: Final = 0

_NAMES: Final = """
    html head body title meta link base style script noscript template
    div p span a img picture source figure figcaption
    h1 h2 h3 h4 h5 h6 hgroup header footer nav main article section aside address search
    ul ol li dl dt dd menu dir
    table caption colgroup col thead tbody tfoot tr td th
    form fieldset legend label input button select option optgroup textarea datalist output progress meter
    br hr wbr pre code kbd samp var blockquote q cite abbr dfn time data mark small sub sup
    b strong i em u s del ins strike big tt font center
    details summary dialog iframe frame frameset noframes object embed param video audio track canvas map area
    svg path g use symbol defs math ruby rt rp bdi bdo slot nobr marquee
""".split()

TAG_NAMES: Final[tuple[str, ...]] = ("", *_NAMES)
"""Tag name by tag id; id 0 stands for every name outside the vocabulary."""

TAG_ID: Final[dict[str, int]] = {name: number for number, name in enumerate(TAG_NAMES) if name}
"""Tag id by tag name."""

ALIASES: Final = {"xmp": "pre", "listing": "pre", "plaintext": "pre", "amp-img": "img"}
"""Tag names that are treated as another tag."""


@cache
def tag_set(*names: str) -> NDArray[np.bool_]:
    """Return a look-up table over tag ids that is true for the given names: ``tag_set("p", "div")[page.tag]``."""
    table = np.zeros(len(TAG_NAMES), dtype=bool)
    table[[TAG_ID[name] for name in names]] = True
    table.flags.writeable = False
    return table


BLOCK_LEVEL: Final = frozenset(
    """
    html body head title div p figure figcaption h1 h2 h3 h4 h5 h6 hgroup header footer nav main article section aside
    address search ul ol li dl dt dd menu dir table caption colgroup thead tbody tfoot tr td th form fieldset legend
    select option optgroup textarea hr br pre blockquote center details summary dialog iframe frame frameset noframes
    noscript template
    """.split()
)
"""Elements that end a text block where they begin and end; ``br`` too, since old pages separate paragraphs by it."""

IS_BLOCK_LEVEL: Final = tag_set(*BLOCK_LEVEL)
"""Look-up table over tag ids: the elements of :data:`BLOCK_LEVEL`."""

UNSEEN_TEXT: Final = frozenset(
    "script style head template iframe object svg math datalist select textarea canvas noframes".split()
)
"""Elements whose text is never shown as text of the page."""

IS_UNSEEN_TEXT: Final = tag_set(*UNSEEN_TEXT)
"""Look-up table over tag ids: the elements of :data:`UNSEEN_TEXT`."""
