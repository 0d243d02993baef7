"""The markup that clean HTML may hold: tags, attributes and addresses, everything else goes.

Allow-lists, so that markup nobody thought of is left out: nothing that runs, loads a page or styles one passes.
"""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, Final

from winnow.page.tags import BLOCK_LEVEL, TAG_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterable

_KEPT: Final = frozenset(
    """
    a abbr address article aside audio b bdi bdo blockquote br caption cite code dd del details dfn div dl dt em
    figcaption figure footer h1 h2 h3 h4 h5 h6 header hgroup hr i img ins kbd li main mark menu nav ol p picture pre q
    rp rt ruby s samp section small source span strike strong sub summary sup table tbody td tfoot th thead time tr
    track u ul var video wbr
    """.split()  # noqa: SIM905  (eighty quoted names would be no easier to read)
)
_DISSOLVED: Final = frozenset({"html", "head", "body"})

OUTPUT_NAME: Final[tuple[str, ...]] = tuple(
    name if name in _KEPT else "div" if name in BLOCK_LEVEL - _DISSOLVED else "" for name in TAG_NAMES
)
"""Name to write, by tag id; "" for an element whose contents stand without it, as those of ``font`` do."""

VOID: Final = frozenset({"br", "hr", "img", "source", "track", "wbr"})

_PLAIN_ATTRIBUTES: Final = frozenset(
    """
    abbr alt class colspan controls datetime dir headers height hreflang id itemid itemprop itemscope itemtype kind
    label lang media name open rel reversed role rowspan scope sizes span srclang start title type value width
    """.split()  # noqa: SIM905  (eighty quoted names would be no easier to read)
)
_ADDRESSES: Final = frozenset({"href", "src", "cite", "poster"})
_LAZY_SOURCES: Final = ("data-src", "data-lazy-src", "data-original")
_SCHEMES: Final = frozenset({"http", "https", "mailto", "tel", "ftp"})
_IMAGE_DATA: Final = re.compile(r"data:image/(?:png|gif|jpeg|webp|avif);", re.IGNORECASE)
# What browsers skip when they look for a scheme, and more.
_IGNORED_IN_ADDRESS: Final = re.compile(r"[\x00-\x20\x7f-\xa0\u00ad\u200b-\u200f\u2028-\u202e\u2060\ufeff]+")
_SCHEME: Final = re.compile(r"([^/?#:]*):")


def with_lazy_source(pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Give a picture that a script would load the address it is to be loaded from, instead of none or a placeholder."""
    found = dict(pairs)
    if found.get("src", "data:").startswith("data:"):
        for name in _LAZY_SOURCES:
            if name in found:
                return [*((other, value) for other, value in pairs if other != "src"), ("src", found[name].strip())]
    return pairs


def attributes(pairs: Iterable[tuple[str, str]]) -> str:
    """Write the attributes that may stay, each with a space before it: no handlers, styles or unsafe addresses."""
    return "".join(
        f' {name}="{escape(value)}"'
        for name, value in pairs
        if name in _PLAIN_ATTRIBUTES
        or (name in _ADDRESSES and safe_address(value, image=name in {"src", "poster"}))
        or (name == "srcset" and all(map(safe_address, value.split(","))))
    )


def safe_address(address: str, *, image: bool = False) -> bool:
    """Whether an address is relative or has a harmless scheme; with ``image``, ``data:`` pictures are harmless too."""
    bare = _IGNORED_IN_ADDRESS.sub("", address)
    scheme = _SCHEME.match(bare)
    if scheme is None or scheme[1].lower() in _SCHEMES:
        return True
    return image and _IMAGE_DATA.match(bare) is not None
