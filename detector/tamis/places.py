"""Scores of the page-level model at the same place on a site's other pages.

The place of a block is the path of tags and class names from the body to its element. The text at a place changes from
page to page, as in a list of recent posts, but its scores hardly do, and where they do, most pages are right. So a
crawl also counts the places of its pages and the scores there, as three codes per place that are counted like
fingerprints:

0. the page has the place,
1. its mean log-odds there are above -1, or not,
2. they are above 1, or not.

A page has one code of each pair, so the counts of its codes tell how many other pages agree.
"""

from __future__ import annotations

from itertools import compress
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tamis.core import core
from tamis.counting import leaves
from tamis.declared_texts import declared_text_codes
from tamis.fingerprints import node_fingerprints
from tamis.hashing import hash_text
from tamis.page.tree import block_lengths, cached_on_page

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tamis.arrays import Flags, Hashes, Indices, Integers
    from tamis.models import Model
    from tamis.page.page import Page


_MIN_MAIN_TEXT: Final = 200  # characters; different pages may share a shorter text
_LISTING_BLOCKS: Final = 8  # that identify a listing


class Places(NamedTuple):
    """The q places of a page's blocks, and the scores there.

    Attributes:
        by_block: int32[m], index of each block's place.
        above: bool[q, 2], whether the mean log-odds of template at each place are above -1, and above 1.
        codes: uint64[q, 3], the same on every machine for a model's version.
    """

    by_block: Indices
    above: Flags
    codes: Hashes


@cached_on_page
def find_places(page: Page, model: Model) -> Places:
    """Find the places of a page, and what a model's scores say there."""
    scores = model.score(page).templateness[page.n :]
    by_block, above = np.empty(page.m, np.int32), np.empty((page.m, 2), bool)
    codes = np.empty((page.m, 3), np.uint64)
    number = core.find_places(
        page.arrays, page.attributes.names.get("class", -1), scores, block_lengths(page), hash_text(model.version),
        by_block, above, codes,
    )  # fmt: skip
    return Places(by_block, above[:number], codes[:number])


def counted_units(page: Page, model: Model | None) -> tuple[Integers, Hashes, NDArray[np.uint8]]:
    """Return what is counted of a page: its leaves, the codes of its places, and those of its declared texts.

    Without a model, only leaves are counted.

    Returns:
        int64[k], index among the n + m units followed by 3 * q codes of places and
        :func:`tamis.declared_texts.declared_text_codes`; uint64[k], fingerprint; uint8[k], characters of text of a
        block, 255 for more, 0 for other units.
    """
    codes = np.zeros(0, np.uint64)
    if model is not None and page.m:
        codes = np.concatenate((find_places(page, model).codes.ravel(), declared_text_codes(page)))
    size = page.n + page.m + len(codes)
    found = np.empty(size, np.int64), np.empty(size, np.uint64), np.empty(size, np.uint8)
    number = core.counted_units(page.arrays, leaves(page), node_fingerprints(page), block_lengths(page), codes, *found)
    units, fingerprints, masses = found
    return units[:number], fingerprints[:number], masses[:number]


def main_text_id(page: Page, model: Model) -> int:
    """Hash a page's main text, by a model's scores; 0 for less than 200 characters.

    Pages with the same main text are one page at several addresses, such as with a session id or as a print view. The
    main text is that of the long blocks, without counters and dates. A listing has none: it is identified by the 8
    lowest hashes of its kept blocks (min-wise hashing, Broder 1997), which an additional notice seldom changes.
    """
    scores, texts = model.score(page), page.block_texts()
    templateness = scores.templateness[page.n :]
    kept = compress(texts, (templateness < 0.5).tolist())
    text = "\n".join([text for text in kept if len(text) >= 60])
    if len(text) >= _MIN_MAIN_TEXT:
        return hash_text(f"main text {text}")
    listed = set(compress(texts, (templateness < scores.threshold).tolist()))
    if len(listed) < _LISTING_BLOCKS or sum(map(len, listed)) < _MIN_MAIN_TEXT:
        return 0
    return hash_text(f"listing {sorted(map(hash_text, listed))[:_LISTING_BLOCKS]}")
