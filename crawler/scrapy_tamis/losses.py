"""What a cleaned page may have lost, in words: what only the page can say of it, for the report of the crawl."""

from __future__ import annotations

from itertools import compress
from typing import TYPE_CHECKING, Final

import numpy as np

from tamis.evidence.draft import Reason
from tamis.evidence.marked_articles import article_mark
from tamis.metadata.facts import declared_offers
from tamis.metadata.offers import amounts_in
from tamis.page.text import count_words
from tamis.page.tree import prefix_sums, tag_set

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tamis.arrays import Flags
    from tamis.cleaning import Cleaned
    from tamis.evidence.draft import Draft

_STRUCTURES: Final = tag_set("table", "ul", "ol", "dl")
_ON_PURPOSE: Final = np.array(
    [reason in {Reason.COPY, Reason.UNWANTED, Reason.RULE, Reason.HIDDEN} for reason in Reason]
)


def measure_losses(cleaned: Cleaned) -> dict[str, object]:
    """Return what only the page itself can say of its losses; the fields of an item do not.

    ``cut_words`` are all words that were cut, ``article_words`` those of them in the article that the page marks, and
    ``structure_words`` those in tables and lists that are kept otherwise. ``lost_price`` is the price of a product
    whose text has none of the prices that its page states and shows, "" if there is no such loss.
    """
    draft = cleaned.decided
    if draft is None:
        return {}
    cut, mark = ~draft.content, article_mark(draft.page)
    lost = cut & ~_ON_PURPOSE[draft.overruled[draft.page.n :]]
    return {
        "cut_words": _words_in(compress(draft.texts, cut)),
        "article_words": 0 if mark is None else _words_in(compress(draft.texts, lost & (mark[0] == 1))),
        "structure_words": _words_in(compress(draft.texts, lost & in_kept_structures(draft, draft.content, 0.9))),
        "lost_price": _lost_price(cleaned, draft),
    }


def _words_in(texts: Iterable[str]) -> int:
    return count_words("\n".join(texts))


def in_kept_structures(draft: Draft, kept: Flags, fraction: float) -> Flags:
    """bool[m], the blocks inside tables and lists of whose text at least a fraction is in blocks that are kept."""
    page = draft.page
    roots = np.flatnonzero(_STRUCTURES[page.tag])
    begin, end = page.block_begin[roots], page.block_end[roots]
    all_text, kept_text = prefix_sums(draft.lengths), prefix_sums(draft.lengths * kept)
    mostly = (kept_text[end] - kept_text[begin] >= fraction * (all_text[end] - all_text[begin])) & (end > begin)
    edges = np.bincount(begin[mostly], minlength=page.m + 1) - np.bincount(end[mostly], minlength=page.m + 1)
    inside: Flags = np.cumsum(edges)[:-1] > 0
    return inside


def _lost_price(cleaned: Cleaned, draft: Draft) -> str:
    """Return the stated price of a product that the page shows and its text does not have; "" if none was lost."""
    if cleaned.kind != "product":
        return ""
    stated = [offer["price"] for offer in declared_offers(draft.page) if offer["price"] > 0]
    if not stated or not amounts_in(cleaned.text).isdisjoint(stated):
        return ""
    shown = amounts_in("\n".join(compress(draft.texts, ~draft.content)))
    return next((f"{amount:,.2f}" for amount in stated if amount in shown), "")
