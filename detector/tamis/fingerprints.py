"""Fingerprints of the units of a page: 64-bit hashes, the same on every machine for equal markup with equal content."""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING, Final

import numpy as np

from tamis.core import core
from tamis.hashing import BASE, INVERSE, hash_text
from tamis.page.addresses import base_address, safe_urlsplit
from tamis.page.tree import TAG_ID, TAG_NAMES, cached_on_page

if TYPE_CHECKING:
    from tamis.arrays import Hashes
    from tamis.page.page import Page

_KINDS: Final = (  # NAME, TEXT, LINK, TYPE and VALUE of attribute_tokens.c
    dict.fromkeys("class id name for role rel".split(), 1)
    | dict.fromkeys("alt title placeholder label summary aria-label".split(), 2)
    | dict.fromkeys("href src action poster data background longdesc cite data-src data-href data-url".split(), 3)
    | {"type": 4, "value": 5}
)

_STATES: Final = """
    active current selected open opened closed expanded collapsed on off here first last odd even hover visited self
    selflink is-open is-expanded
"""
_VOLATILE: Final = """
    v ver version rev t ts _ cb cache cachebuster timestamp rand random nocache nonce wpnonce _wpnonce token csrf
    s sid sess phpsessid jsessionid aspsessionid cfid cftoken fbclid gclid
    destination returnto return_to redirect redirect_to return next continue ref refer referer referrer
"""
"""Parameters whose value is of one visit, one release or one referring page."""

_WORD_LISTS: Final = tuple(
    b"".join(bytes([len(word)]) + word.encode() for word in words)
    for words in (
        sorted(_STATES.split()),
        ("current", "active", "is-active", "is-current", "is-selected", "in-active", "leaf-active"),  # states begin so
        ("-active", "_active", "-current", "_current", "-selected", "_selected"),  # states end so
        ("button", "reset", "submit"),  # controls with a label; what is typed into others is not counted
        sorted(_VOLATILE.split()),
        ("csrf", "sess", "aspsessionid", "utm_"),  # longer names of volatile parameters begin so
        ("jsessionid", "sid", "phpsessid"),  # sessions in paths
    )
)


def attribute_tokens(page: Page) -> Hashes:
    """uint64[a], tokens of the attributes by their first occurrence; 0 for those that are not counted.

    The token of a link is the hash of its target: a path on the page's own host, so that ``../index.html`` and
    ``/index.html`` are the same, or the link as it is for other hosts and pages at unknown addresses; volatile
    parameters are cut, and ``this-page#content`` is ``#content``. That of a name is the hash of ``class=menu-item-#``:
    numbers and long hexadecimals are replaced, words for a state dropped. Of texts only the white space is normalised.
    """
    return _tokens_and_fingerprints(page)[0]


def _base_of(page: Page) -> tuple[bool, bytes, bytes, bytes]:
    """Whether the address of a page is known; host and folder that links are relative to; its address."""
    base = safe_urlsplit(base_address(page))
    parts = base.netloc, "".join([part + "/" for part in base.path.split("/")[:-1] if part]), page.url or ""
    host, folder, address = (part.encode("utf-8", "surrogatepass") for part in parts)
    return page.url is not None and any(base), host, folder, address


FINGERPRINT_VERSION: Final = 1
"""Version of the definition below, a part of every stored key, since counts of different versions must never meet."""

TAG_TOKENS: Final = np.array([hash_text(f"<{name}>") for name in TAG_NAMES], np.uint64)
core.set_table("tag_tokens", TAG_TOKENS)


def node_fingerprints(page: Page) -> Hashes:
    """uint64[n + m], hash of the markup and content of every unit, elements first: tags, attributes, text and children.

    Attributes are as in :func:`attribute_tokens`, but for what users type into a control. Case is folded, digits are
    kept, white space collapses, and the border of a text block counts as some. Comments, white space and the subtrees
    of :data:`~tamis.page.tag_sets.IGNORED` change nothing in the elements around them; units of these subtrees have 0.
    A block is the inline markup between two borders of block-level elements, under the name of its element.
    """
    return _tokens_and_fingerprints(page)[1]


@cached_on_page
def _tokens_and_fingerprints(page: Page) -> tuple[Hashes, Hashes]:
    table = page.attributes
    kinds = bytes(map(_KINDS.get, table.names, repeat(0)))
    tokens = np.zeros(len(table.first), np.uint64)
    hashes = np.zeros(page.n + page.m, np.uint64)
    for element, name in page.unknown_names.items():
        hashes[element] = hash_text(name)
    close, block = hash_text("</>"), hash_text("block")
    core.node_fingerprints(
        page.arrays, ("\n".join(table.names), kinds, _WORD_LISTS, _base_of(page)),
        (BASE, INVERSE, close, block, TAG_ID["input"]), tokens, hashes,
    )  # fmt: skip
    return tokens, hashes
