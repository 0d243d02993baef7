"""What an author's mark of the article adds to the page-level scores: what lies outside it is likelier template.

Nothing becomes surer content for being marked. Marked elements hold share bars and lists of other stories, too, so
evidence for what is inside them costs more than it gives; and a mark that lies can have nothing kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.comments.threads import like_a_forum
from winnow.metadata.marks.articles import JSON_LD, article_mark
from winnow.page.runs import linked_runs
from winnow.page.subtrees import innermost_holding, within
from winnow.page.tags import tag_set
from winnow.page.text.statistics import TextStatistics
from winnow.site.evidence import contradicted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.metadata.marks.articles import ArticleMark
    from winnow.models.base import Scores
    from winnow.page.page import Page

# Log-odds for template: by scores of networks that had seen none of the pages, the best whole numbers for the mean of
# the collections; elsewhere, 4 to 8 do as well. See docs/figures/accuracy.md.
_ELSEWHERE: Final = 6.0
_BESIDE: Final = 1.0  # in the innermost element that holds most of the article

_MOST: Final = 0.9
_NO_TEXT: Final = tag_set("h2", "h3", "h4", "h5", "h6", "ul", "ol", "dl", "table", "blockquote", "pre")
"""What is in the text of JSON-LD or not, as it happens; beside the article it is left to the model, if not linked."""


def with_authors_mark(page: Page, scores: Scores) -> Scores:
    """Move the scores of a page by what its author has marked as the article.

    Blocks outside the mark become more template-like. Nothing is moved without a mark, on a forum, where it is that of
    the first post, and where a marked element holds next to nothing of what the model keeps: it is that of a teaser.

    Args:
        page: the page.
        scores: what the page-level model says.
    """
    mark = article_mark(page)
    if mark is None or like_a_forum(page):
        return scores
    moved = scores.moved(_log_odds(page, mark))
    return scores if mark.kind != JSON_LD and contradicted(scores, moved) else moved


def _log_odds(page: Page, mark: ArticleMark) -> NDArray[np.float64]:
    """float64[n + m]; elements that are wholly elsewhere are moved, too, for models that judge them."""
    length = np.fromiter(map(len, page.block_texts()), np.int64, page.m)
    around = innermost_holding(page.block_begin, page.block_end, length * (mark.content == 1), _MOST)
    begin, end = page.block_begin[around], page.block_end[around]
    elsewhere = (page.block_end <= begin) | (page.block_begin >= end)
    of_block = np.full(page.m, _ELSEWHERE)
    of_block[begin:end] = np.where(_left_out(page)[begin:end], 0.0, _BESIDE)
    of_block[mark.content != 0] = 0.0
    return np.concatenate([np.where(elsewhere, _ELSEWHERE, 0.0), of_block])


def _left_out(page: Page) -> NDArray[np.bool_]:
    """bool[m], blocks of what a text for machines may leave out, most of whose text is no link."""
    linked, length = TextStatistics.only(page.run_offset, linked_runs(page)), page.run_offset
    begin, end = page.block_run_begin, page.block_run_end
    own: NDArray[np.bool_] = (linked[end] - linked[begin]) * 2 <= length[end] - length[begin]
    return own & within(page, _NO_TEXT[page.tag])[page.block_node]
