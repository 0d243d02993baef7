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

from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.counting import WHOLE_PAGE, leaves
from winnow.fingerprints import node_fingerprints
from winnow.hashing import hash_text, mix
from winnow.memo import Memo
from winnow.models import log_odds
from winnow.page.tree import once_per_page, path_sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.models import Model
    from winnow.page.page import Page

    Floats = NDArray[np.float64]
    Hashes = NDArray[np.uint64]

LEVELS: Final = (-1.0, 1.0)
"""Mean log-odds of template that separate the codes of a place."""

CODES: Final = 1 + len(LEVELS)
"""Number of codes of a place on a page."""

MAX_LOGIT: Final = 6.0
"""Log-odds of a block are clipped to plus or minus this."""

_MIN_MAIN_TEXT: Final = 200  # characters; different pages may share a shorter text
_SALTS: Final = mix(np.arange(1, 2 + 2 * len(LEVELS), dtype=np.uint64))
_MIN_LONG_BLOCK: Final = 60  # characters
_LISTING_BLOCKS: Final = 8  # that identify a listing


def _hash_of_classes(value: str) -> int:
    """Hash the class names of an element, without those with digits, which differ from page to page."""
    return hash_text(" ".join(name for name in value.split() if not any(map(str.isdigit, name))))


_hashes_of_classes: Final = Memo[str, int](_hash_of_classes, 16_384)


@once_per_page
def places(page: Page) -> Hashes:
    """uint64[m], the place of each block; the same on every machine."""
    classes = page.attributes.places_by_value("class")
    by_first = np.zeros(len(page.attributes.first), np.uint64)
    by_first[list(classes.values())] = [_hashes_of_classes[value] for value in classes]
    tag, depth = page.tag.astype(np.uint64), page.depth.astype(np.uint64)
    step = mix(page.attributes.sum_per_element(by_first) ^ mix(depth << np.uint64(32) | tag + np.uint64(1)))
    step[WHOLE_PAGE[page.tag]] = 0
    return path_sums(page, step)[page.block_node]


def count_codes(page: Page) -> int:
    """Number of codes of a page's q distinct places, q * CODES."""
    return CODES * len(_distinct_places(page)[0])


@once_per_page
def place_levels(page: Page, model: Model) -> NDArray[np.bool_]:
    """bool[q, len(LEVELS)], whether the mean log-odds of template at each place of a page are above each level."""
    distinct, place_of = _distinct_places(page)
    weight = np.sqrt(np.fromiter(map(len, page.block_texts()), np.float64, page.m))
    logit = clipped_log_odds(model.score(page).templateness[page.n :])
    mean = np.bincount(place_of, logit * weight, len(distinct)) / np.bincount(place_of, weight, len(distinct))
    above: NDArray[np.bool_] = mean[:, None] > np.array(LEVELS)
    return above


def place_codes(page: Page, model: Model) -> Hashes:
    """uint64[q, CODES], the codes of a page's places by a model's scores; they depend on the model's version."""
    above = place_levels(page, model)
    salt = np.zeros((len(above), CODES), np.int64)
    salt[:, 1:] = 1 + 2 * np.arange(len(LEVELS)) + above
    distinct, _ = _distinct_places(page)
    return mix((distinct ^ np.uint64(hash_text(model.version)))[:, None] ^ _SALTS[salt])


def counted_units(page: Page, model: Model | None) -> tuple[NDArray[np.int64], Hashes]:
    """Return the units of a page that are counted: its leaves in document order, then the codes of its places.

    Args:
        page: the page.
        model: page-level model; without one, places are not counted.

    Returns:
        int64[k], index among the n + m units followed by q * CODES codes; uint64[k], fingerprint.
    """
    fingerprints, begin = node_fingerprints(page), np.concatenate([page.run_begin, page.block_run_begin])
    units = np.flatnonzero(leaves(page) & (fingerprints != 0))
    units = units[np.argsort(begin[units], kind="stable")]
    if model is None or not page.m:
        return units, fingerprints[units]
    codes = place_codes(page, model).ravel()
    behind = page.n + page.m + np.arange(len(codes))
    return np.concatenate([units, behind]), np.concatenate([fingerprints[units], codes])


def scores_on_other_pages(page: Page, df: NDArray[np.int64], above: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Sum the scores of a site's other pages at the place of each block.

    Args:
        page: the page.
        df: int64[q, CODES], pages of the site, including this page, that have each of the page's codes.
        above: :func:`place_levels` of the page.

    Returns:
        float64[m], number of other pages that have the place; float64[m], sum of their log-odds there, each rounded to
        -2, 0 or 2 by its codes.
    """
    others = np.maximum(df - 1, 0).astype(np.float64)
    have = others[:, :1]
    pages_above = np.where(above, np.minimum(others[:, 1:], have), np.maximum(have - others[:, 1:], 0))
    total = 2 * (pages_above.sum(axis=1) - have[:, 0])
    _, place_of = _distinct_places(page)
    return have[place_of, 0], total[place_of]


def main_text_id(page: Page, model: Model) -> int:
    """Hash a page's main text, by a model's scores; 0 for less than 200 characters.

    Pages with the same main text are one page at several addresses, such as with a session id or as a print view. The
    main text is that of the long blocks, without counters and dates. A listing has none: it is identified by the 8
    lowest hashes of its kept blocks (min-wise hashing, Broder 1997), which an additional notice seldom changes.
    """
    scores, texts = model.score(page), page.block_texts()
    templateness = scores.templateness[page.n :]
    kept = [texts[block] for block in np.flatnonzero(templateness < 0.5).tolist()]
    text = "\n".join(text for text in kept if len(text) >= _MIN_LONG_BLOCK)
    if len(text) >= _MIN_MAIN_TEXT:
        return hash_text(f"main text {text}")
    listed = {texts[block] for block in np.flatnonzero(templateness < scores.threshold).tolist()}
    if len(listed) < _LISTING_BLOCKS or sum(map(len, listed)) < _MIN_MAIN_TEXT:
        return 0
    return hash_text(f"listing {sorted(map(hash_text, listed))[:_LISTING_BLOCKS]}")


def clipped_log_odds(templateness: Floats) -> Floats:
    """Log-odds of scores, clipped to :data:`MAX_LOGIT` either way."""
    return np.clip(log_odds(templateness, 1e-6), -MAX_LOGIT, MAX_LOGIT)


@once_per_page
def _distinct_places(page: Page) -> tuple[Hashes, NDArray[np.intp]]:
    """uint64[q], the distinct places of a page; int[m], index of each block's place."""
    distinct, place_of = np.unique(places(page), return_inverse=True)
    return distinct, place_of
