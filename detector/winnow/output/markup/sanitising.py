"""The markup that clean HTML may hold: tags, attributes and addresses, everything else goes.

Allow-lists, so that markup nobody thought of is left out: nothing that runs, loads a page or styles one passes.
"""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, Final
from urllib.parse import urljoin

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
    abbr align alt class colspan controls datetime dir headers height hreflang id itemid itemprop itemscope itemtype
    kind label lang media name open rel reversed role rowspan scope sizes span srclang start title type value width
    """.split()  # noqa: SIM905  (eighty quoted names would be no easier to read)
)
_ADDRESSES: Final = frozenset({"href", "src", "cite", "poster"})
_LAZY_SOURCES: Final = (
    *("data-src", "data-lazy-src", "data-original", "data-lazy", "data-actualsrc", "data-hi-res-src"),
    *("data-full-url", "data-echo", "data-image", "data-url"),
)
_LAZY_SETS: Final = ("data-srcset", "data-lazy-srcset")
_CANDIDATES: Final = re.compile(r",\s+|(?<=[0-9][wx]),")  # an address may hold commas itself
_PICTURE: Final = re.compile(r"\.(?:jpe?g|png|gif|webp|avif|svg|bmp)(?:$|[?#!@])|/", re.IGNORECASE)
_SCHEMES: Final = frozenset({"http", "https", "mailto", "tel", "ftp"})
_IMAGE_DATA: Final = re.compile(r"data:image/(?:png|gif|jpeg|webp|avif);", re.IGNORECASE)
# What browsers skip when they look for a scheme, and more.
_IGNORED_IN_ADDRESS: Final = re.compile(r"[\x00-\x20\x7f-\xa0\u00ad\u200b-\u200f\u2028-\u202e\u2060\ufeff]+")
_SCHEME: Final = re.compile(r"([^/?#:]*):")


def with_lazy_source(pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Give a picture that a script would load the address it is to be loaded from, instead of none or a placeholder."""
    found = dict(pairs)
    if found.get("srcset", "").startswith("data:") or "srcset" not in found:
        for name in _LAZY_SETS:
            if name in found:
                pairs = [*((other, value) for other, value in pairs if other != "srcset"), ("srcset", found[name])]
                break
    lazy = next((found[name].strip() for name in _LAZY_SOURCES if _PICTURE.search(found.get(name, "").strip())), None)
    if lazy is None and is_placeholder(found.get("src", "")):
        lazy = largest_source(dict(pairs).get("srcset", "")) or None
    if lazy is None:
        return pairs
    return [*((other, value) for other, value in pairs if other != "src"), ("src", lazy)]


def is_placeholder(source: str) -> bool:
    """Whether the source of a picture is none, or one within the page that holds its place."""
    return not source.strip() or source.strip().startswith("data:")


def largest_source(srcset: str) -> str:
    """Return the address of the largest picture of a ``srcset``; "" for none."""
    best, best_size = "", -1.0
    for candidate in _CANDIDATES.split(srcset.strip()):
        address, _, size = candidate.strip().partition(" ")
        try:
            number = float(size.strip()[:-1] or 1)
        except ValueError:
            number = 1.0
        if address and not address.startswith("data:") and number > best_size:
            best, best_size = address, number
    return best


def attributes(pairs: Iterable[tuple[str, str]], base: str = "") -> str:
    """Write the attributes that may stay, each with a space before it: no handlers, styles or unsafe addresses.

    Args:
        pairs: names and values.
        base: what relative addresses are relative to; where it is known, they are written in full, but for those of a
            place in the same document.
    """
    written = ((name, _harmless(name, value, base)) for name, value in pairs)
    return "".join(f' {name}="{escape(value)}"' for name, value in written if value is not None)


def _harmless(name: str, value: str, base: str) -> str | None:
    """Value of an attribute as it may be written; ``None`` for one that may not."""
    if name in _PLAIN_ATTRIBUTES:
        return value
    if name in _ADDRESSES:
        return in_full(value, base) if safe_address(value, image=name in {"src", "poster"}) else None
    if name == "srcset":
        return _set_in_full(value, base) if all(map(safe_address, value.split(","))) else None
    return None


def in_full(address: str, base: str) -> str:
    """Write a relative address in full, where it is known what it is relative to."""
    bare = address.strip()
    if not base or bare.startswith("#") or _SCHEME.match(bare):
        return address
    try:
        return urljoin(base, bare)
    except ValueError:
        return address


def _set_in_full(srcset: str, base: str) -> str:
    if not base:
        return srcset
    candidates = (candidate.strip().partition(" ") for candidate in _CANDIDATES.split(srcset.strip()))
    return ", ".join(f"{in_full(address, base)} {size}".strip() for address, _, size in candidates if address)


def safe_address(address: str, *, image: bool = False) -> bool:
    """Whether an address is relative or has a harmless scheme; with ``image``, ``data:`` pictures are harmless too."""
    bare = _IGNORED_IN_ADDRESS.sub("", address)
    scheme = _SCHEME.match(bare)
    if scheme is None or scheme[1].lower() in _SCHEMES:
        return True
    return image and _IMAGE_DATA.match(bare) is not None
