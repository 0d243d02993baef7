"""What the counts of a site say of a page: what its other pages repeat is likelier template, what none repeats is not.

The evidence is linear in the share of the site's other pages that have a unit. Its numbers were learned on 201 pages of
21 whole sites that were marked by hand and on 291 gold pages of 41 other hosts, with 2 to 100 pages counted, beside the
page's own score, whose weight came out as 1 (``python -m winnow.training.site_evidence``). Longer formulas, with the
length of a block, its links and sentences, its neighbours' shares or beta-binomial likelihoods, were no better on sites
left out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.evidence.draft import Reason

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.evidence.draft import Draft
    from winnow.models.scores import Choice, Scores
    from winnow.page.page import Page


@dataclass(frozen=True, slots=True)
class Evidence:
    """Log-odds of template that the counts add: ``share * s + everywhere * (s >= 0.9) + pages * log(p) + constant``.

    Attributes:
        share: weight of the share ``s`` of the site's other pages that have the unit.
        everywhere: added for units on nine tenths of ten and more pages: of such blocks that their page takes for
            content (log-odds below -1), 99% of the characters are template on the marked pages.
        pages: weight of the logarithm of ``p``, the pages that were counted.
        constant: added to all.
    """

    share: float
    everywhere: float
    pages: float
    constant: float


LEARNED: Final = Evidence(share=1.564, everywhere=3.0, pages=-0.079, constant=-0.079)

_EVEN_PAGES: Final = 10  # pages counted at which the threshold is half-way between the page's own and even odds
_MIN_PAGES: Final = 2
_EVERYWHERE: Final = 0.9  # of the other pages
_MIN_PAGES_EVERYWHERE: Final = 10


def move_by_site_counts(draft: Draft) -> None:
    """Move the scores by how many of the site's other pages have each unit; nothing on the first page of a site."""
    if draft.df is not None and draft.pages >= _MIN_PAGES:
        draft.move(with_site_counts(draft.page, draft.scores, draft.df, draft.pages), Reason.SITE)


def with_site_counts(
    page: Page, scores: Scores, df: NDArray[np.int64], pages: int, evidence: Evidence = LEARNED
) -> Scores:
    """Add to the scores of a page what the counts of its site say.

    Elements are moved only where they are repeated: being unique says nothing of them, any element around content is.

    Args:
        page: the page.
        scores: what the page itself says.
        df: int64[n + m], pages of the site that contain each unit, the page itself among them; 0 for units that are
            not counted, which stay as they are.
        pages: pages of the site that were counted, at least 2.
        evidence: what was learned.
    """
    share = np.clip(df - 1, 0, pages - 1) / (pages - 1)
    offset = evidence.pages * np.log(pages) + evidence.constant
    everywhere = evidence.everywhere * ((share >= _EVERYWHERE) & (pages >= _MIN_PAGES_EVERYWHERE))
    moved = evidence.share * share + everywhere + offset
    is_element = np.arange(len(df)) < page.n
    return scores.adjusted(np.where((df == 0) | (is_element & (moved <= 0)), 0.0, moved))


def threshold_with_counts(choice: Choice, without: Choice, pages: int) -> Choice:
    """Choose the threshold for scores that counts have moved.

    The threshold that the model chooses for a page makes up for what it cannot know of single blocks. The more pages
    are counted, the less is left to make up for: the threshold goes to even odds.

    Args:
        choice: by the moved scores.
        without: by the page's own.
        pages: pages of the site that were counted.
    """
    strictest = min(choice.threshold, without.threshold)
    odds = np.clip(strictest, 1e-4, 1 - 1e-4)
    logit = np.log(odds / (1 - odds)) * _EVEN_PAGES / (_EVEN_PAGES + pages)
    return replace(choice, threshold=float(1 / (1 + np.exp(-logit))))
