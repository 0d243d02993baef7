"""Which pages of a host are worth a look: the words that each has probably lost, or kept of the template."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from tamis.page.tree import prefix_sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scrapy_tamis.report.records import PageRecord


class Loss(NamedTuple):
    """Words that a page has probably lost or kept wrongly, and the reasons, the largest first."""

    words: float
    reasons: list[str]


# Of every second page of WCXB: a fifth of the words that are cut in an article that the page marks are content, a half
# of those inside tables and lists that are kept otherwise, and a twentieth elsewhere. Tried on the others by
# `benchmarks.accuracy.report_order`.
_CONTENT_IN_ARTICLE: Final = 0.2
_CONTENT_IN_STRUCTURE: Final = 0.5
_CONFIDENT: Final = 0.8
_PRICE: Final = 100.0  # words: what a shop's page is for
_MIN_LOSS: Final = 10.0  # words
_WITHOUT_TEXT: Final = {
    "empty": "it has no text",
    "crashed": "cleaning processes died of it: it has no text",
    "timed_out": "its cleaning process hung: it has no text",
}


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
    elif page.status in _WITHOUT_TEXT:
        losses[_WITHOUT_TEXT[page.status]] = max(page.cut_words, usual_words, _MIN_LOSS)
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
