"""What a page has probably lost, or kept of the template, in words: the report shows the pages that lost most."""

from __future__ import annotations

import re
from itertools import compress
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from tamis.evidence.draft import Reason
from tamis.evidence.marked_articles import article_mark
from tamis.page.text import WORD
from tamis.page.tree import prefix_sums, tag_set

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from scrapy_tamis.report.records import PageRecord
    from tamis.arrays import Flags
    from tamis.cleaning import Cleaned
    from tamis.evidence.draft import Draft

_STRUCTURES: Final = tag_set("table", "ul", "ol", "dl")
_NEARLY_ALL: Final = 0.9  # fraction of a structure's text that is kept
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
        "structure_words": _words_in(compress(draft.texts, lost & _in_kept_structure(draft))),
        "lost_price": _lost_price(cleaned, draft),
    }


def _words_in(texts: Iterable[str]) -> int:
    return sum(len(WORD.findall(text)) for text in texts)


def _in_kept_structure(draft: Draft) -> Flags:
    """bool[m], the blocks inside tables and lists of which nearly all is kept."""
    page = draft.page
    roots = np.flatnonzero(_STRUCTURES[page.tag])
    begin, end = page.block_begin[roots], page.block_end[roots]
    whole, kept = prefix_sums(draft.lengths), prefix_sums(draft.lengths * draft.content)
    whole_ones = (kept[end] - kept[begin] >= _NEARLY_ALL * (whole[end] - whole[begin])) & (end > begin)
    edges = np.bincount(begin[whole_ones], minlength=page.m + 1) - np.bincount(end[whole_ones], minlength=page.m + 1)
    inside: Flags = np.cumsum(edges)[:-1] > 0
    return inside


_NUMBER: Final = re.compile(r"\d(?:[\d.,'’ \u00a0\u202f]{0,20}\d)?")
_DECIMALS: Final = re.compile(r"[.,](\d\d?)$")


def _amount(written: str) -> float:
    """Return a price as it may be written: ``1,299.00``, ``1.299,00``, ``1 299`` or ``1299.0``."""
    decimals = _DECIMALS.search(written)
    whole = written[: decimals.start()] if decimals else written
    return float("".join(filter(str.isdecimal, whole)) + "." + (decimals[1] if decimals else "0"))


def _lost_price(cleaned: Cleaned, draft: Draft) -> str:
    """Return the stated price of a product that the page shows and its text does not have; "" if none was lost."""
    if cleaned.kind != "product":
        return ""
    stated = {float(offer["price"]): offer for offer in cleaned.metadata.offers if offer["price"]}
    amounts = {_amount(found) for found in _NUMBER.findall(cleaned.text)}
    if not stated or not amounts.isdisjoint(stated):
        return ""
    shown = {_amount(found) for text in compress(draft.texts, ~draft.content) for found in _NUMBER.findall(text)}
    return next((f"{amount:,.2f}" for amount in stated if amount in shown), "")


class Loss(NamedTuple):
    """Words that a page has probably lost or kept wrongly, and the reasons, the largest first."""

    words: float
    reasons: list[str]


# Of 749 pages of WCXB, every second one: of the words that are cut in an article that the page marks a fifth are
# content, inside tables and lists that are kept otherwise a half, elsewhere a twentieth. Pages with a confidence of .8
# and more have an F1 of .96.
_CONTENT_IN_ARTICLE: Final = 0.2
_CONTENT_IN_STRUCTURE: Final = 0.5
_CONFIDENT: Final = 0.8
_PRICE: Final = 100.0  # words: what a shop's page is for
_MIN_LOSS: Final = 10.0  # words


def expected_loss(page: PageRecord, shared: int, usual_words: float, usual_cut: float) -> Loss:
    """Return the loss to be expected of a page, nothing for one that is not worth a look.

    Args:
        page: the page.
        shared: words of its text in lines that most pages of its host have.
        usual_words: words that the pages of its host usually keep.
        usual_cut: fraction of their text that is usually cut.
    """
    losses = {
        f"{shared:,} words are kept that most pages of the host have": float(shared),
        f"{page.article_words:,} words are cut of the article that the page marks": _CONTENT_IN_ARTICLE
        * page.article_words,
        f"{page.structure_words:,} words are cut of a table or list": _CONTENT_IN_STRUCTURE * page.structure_words,
        f"its price is cut: {page.lost_price}": _PRICE if page.lost_price else 0.0,
    }
    if page.status == "fallback":
        losses["all of it looked like template; its least template-like section was kept"] = page.words + page.cut_words
    elif page.status == "empty":
        losses["it has no text"] = max(page.cut_words, usual_words, _MIN_LOSS)
    elif page.status == "too_large":
        losses["too large: passed through uncut"] = usual_cut * page.words
    elif page.confidence is not None and page.confidence < _CONFIDENT:
        expected = f"an F1 of {page.confidence:.2f} is expected of its {page.words:,} words"
        losses[expected] = (1 - page.confidence) * page.words
    reasons = sorted(((lost, why) for why, lost in losses.items() if lost >= _MIN_LOSS), reverse=True)
    return Loss(sum(lost for lost, _ in reasons), [why for _, why in reasons])


_MOST_PAGES: Final = 0.5
_MIN_SHARING: Final = 4  # pages that have to agree on a line


def shared_words(pages: list[PageRecord]) -> list[int]:
    """Return the words of each page of a host in lines that most of its pages have."""
    if len(pages) < _MIN_SHARING:
        return [0] * len(pages)
    hashes: NDArray[Any] = np.concatenate([page.lines["hash"] for page in pages])
    _, place, times = np.unique(hashes, return_inverse=True, return_counts=True)
    is_shared = (times >= max(_MIN_SHARING, _MOST_PAGES * len(pages)))[place]
    counted = np.concatenate([page.lines["words"] for page in pages]) * is_shared
    ends = np.cumsum([len(page.lines) for page in pages])
    sums = prefix_sums(counted)[np.append(0, ends)]
    words: list[int] = np.diff(sums).tolist()
    return words
