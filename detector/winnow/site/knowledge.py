"""What the counts of a site say of one of its pages: moved scores, certain template, and paragraphs of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from winnow.site.counting.site_level import HTML_SHARE, site_level_templates
from winnow.site.evidence import all_over_the_site, contradicted, with_site_evidence
from winnow.site.own_text import own_paragraphs, says_more

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.models.base import Scores
    from winnow.page.page import Page


@dataclass(frozen=True, eq=False, slots=True)
class SiteKnowledge:
    """What a page's site says of it.

    Attributes:
        scores: of the page's units, with the site's evidence.
        template: bool[n + m], units that are template without a doubt.
        own: bool[m], paragraphs that no other page of the site has.
        moves: whether any of it differs from what the page says by itself.
    """

    scores: Scores
    template: NDArray[np.bool_]
    own: NDArray[np.bool_]
    moves: bool

    @classmethod
    def of(
        cls, page: Page, scores: Scores, lengths: NDArray[np.int64], df: NDArray[np.int64] | None, pages: int
    ) -> Self:
        """Ask the counts of a site about a page.

        Args:
            page: the page.
            scores: of its units, without the site.
            lengths: int64[m], characters of each block.
            df: int64[n + m], pages of the site that contain each unit; ``None`` where nothing was counted.
            pages: pages of the site that were counted.

        Raises:
            ValueError: ``df`` does not have one count per unit.
        """
        nothing = np.zeros(page.n + page.m, bool)
        if df is None:
            return cls(scores, nothing, nothing[page.n :], moves=False)
        moved = with_site_evidence(page, scores, df, pages)
        own = own_paragraphs(page, lengths, df, pages)
        # What only section 5.1's share of HTML makes template are elements: not every model has an opinion of them.
        judges_elements = bool(scores.weight[: page.n].any())
        template = site_level_templates(page, df, pages, html_share=HTML_SHARE if judges_elements else None)
        moved = moved.with_templateness(np.where(template, 1.0, moved.templateness))
        content = scores.templateness[page.n :] < scores.threshold
        if (
            contradicted(scores, moved)
            and not says_more(own, content, lengths)
            and (template[page.n :].all() or not all_over_the_site(content, lengths, df[page.n :], pages))
        ):
            return cls(scores, nothing, own, moves=False)
        moves = bool(template.any()) or not np.array_equal(moved.templateness, scores.templateness)
        return cls(moved, template, own, moves)
