"""TODO."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from winnow.counting import HTML_SHARE, site_level_templates
from winnow.evidence.main_content import own_paragraphs, says_more

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.models.base import Scores
    from winnow.page.page import Page

# ---- winnow.evidence.site_counts: Site evidence: what the counts of a host add to the page-level scores, from the second page on.
#
# How often the *other* pages of a host repeat a unit is beta-binomial, with one pair of parameters for template and one
# for content. The ratio of the two likelihoods is the evidence. It is nothing on the first page of a host, little on the
# third and strong on the thirtieth, for what is repeated as for what is not; no threshold on pages is needed.
#
# The numbers were learned, not chosen: ``python -m winnow.training.evidence``.

if TYPE_CHECKING:
    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What was learned of repetition.

    Attributes:
        template: parameters of the beta distribution of the share of a host's pages that have a unit of its template.
        content: the same for a unit of content.
        repeated: how much evidence for template adds to the logit of a score, per unit of log-likelihood ratio.
        unique: the same for evidence for content.
    """

    template: tuple[float, float]
    content: tuple[float, float]
    repeated: float
    unique: float


# Learned on 41 sites without labels and on six with gold text. That a block is unique says nothing there that the
# page-level model does not know: lists of related stories are unique too.
LEARNED: Final = Evidence(template=(0.505, 0.130), content=(0.168, 30.5), repeated=0.233, unique=0.0)

_NEARLY_ALL: Final = 0.9  # by weight of the units
# Of 4,880 pages of 122 sites, template that the model kept for want of anything else was on 28% of the pages and more,
# posts and lists that several addresses show on up to 22%.
_EVERYWHERE: Final = 0.25  # of the site's pages
_MANY: Final = 20  # pages


def log_likelihood_ratios(pages: int, evidence: Evidence = LEARNED) -> Floats:
    """float64[pages + 1], by df: log-likelihood ratio of template to content; 0 for df 0, which says "not counted".

    Args:
        pages: pages of the host that were counted, the page itself among them; at least 1.
        evidence: what was learned.
    """
    others = pages - 1
    ratios = np.zeros(pages + 1)
    ratios[1:] = _log_beta_binomial(others, *evidence.template) - _log_beta_binomial(others, *evidence.content)
    return ratios


def with_site_evidence(
    page: Page, scores: Scores, df: NDArray[np.int64], pages: int, evidence: Evidence = LEARNED
) -> Scores:
    """Move the scores of a page by what its site says of its units.

    Units that other pages repeat become more template-like, blocks that none repeats more content-like. For elements
    being unique says nothing: any element around content is.

    Args:
        page: the page.
        scores: what the page-level model says.
        df: int64[n + m], pages of the host that contain each unit, the page itself among them; 0 for units that are
            not counted.
        pages: pages of the host that were counted.
        evidence: what was learned.

    Raises:
        ValueError: ``df`` does not have one count per unit.
    """
    if len(df) != page.n + page.m:
        raise ValueError(f"df has {len(df)} counts, the page has {page.n + page.m} units")
    if pages < 2:
        return scores
    ratio = _cached_ratios(pages, evidence)[np.clip(df, 0, pages)]
    weight = np.where(ratio > 0, evidence.repeated, evidence.unique)
    weight[: page.n][ratio[: page.n] < 0] = 0
    return scores.moved(weight * ratio)


def contradicted(before: Scores, after: Scores) -> bool:
    """Whether the evidence would cut nearly all that the page-level model keeps.

    Then the page is most likely one of several addresses of the same page, all of them counted, and its counts say
    nothing of template.

    Args:
        before: scores of the page-level model.
        after: the same with the site's evidence.
    """
    mass = np.where(before.in_tree & (before.templateness < before.threshold), before.weight, 0)
    return bool(mass[after.templateness >= before.threshold].sum() > _NEARLY_ALL * mass.sum())


def all_over_the_site(kept: NDArray[np.bool_], lengths: NDArray[np.int64], df: NDArray[np.int64], pages: int) -> bool:
    """Whether most of what a page would keep is on more pages of its site than one page has addresses.

    Args:
        kept: bool[m], blocks that the page-level model takes for content.
        lengths: int64[m], characters of each block.
        df: int64[m], pages of the site that have each block.
        pages: pages of the site that were counted.
    """
    everywhere = df >= max(_EVERYWHERE * pages, _MANY)
    return bool(2 * lengths[kept & everywhere].sum() > lengths[kept].sum())


@lru_cache(maxsize=512)
def _cached_ratios(pages: int, evidence: Evidence) -> Floats:
    return log_likelihood_ratios(pages, evidence)


def _log_beta_binomial(trials: int, a: float, b: float) -> Floats:
    """float64[trials + 1], log-probability of each number of successes, without the binomial coefficient."""
    steps = np.arange(trials)
    successes, failures = (np.append(0.0, np.cumsum(np.log(parameter + steps))) for parameter in (a, b))
    likelihood: Floats = successes + failures[::-1] - np.log(a + b + steps).sum()
    return likelihood


# ---- winnow.evidence.site_counts: What the counts of a site say of one of its pages: moved scores, certain template, and paragraphs of its own.


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
