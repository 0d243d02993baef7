from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import betabinom

from winnow.evidence.site_counts import Evidence, contradicted, log_likelihood_ratios, with_site_evidence
from winnow.models.scores import FixedThreshold, Scores
from winnow.page.page import Page

BOTH_WAYS = Evidence(template=(2.0, 1.0), content=(0.2, 8.0), repeated=0.8, unique=0.3)
PAGE = Page.parse("<main><p>A story that one page tells.</p></main><footer>All rights reserved</footer>")


def scores(templateness: float = 0.4) -> Scores:
    units = PAGE.n + PAGE.m
    weight, in_tree = np.ones(units, np.int64), np.ones(units, bool)
    return Scores(np.full(units, templateness), weight, in_tree, np.full(units, 0.01), FixedThreshold(0.5))


def moved(df: int, pages: int, evidence: Evidence = BOTH_WAYS) -> Scores:
    return with_site_evidence(PAGE, scores(), np.full(PAGE.n + PAGE.m, df), pages, evidence)


@given(st.integers(1, 60), st.floats(0.05, 5), st.floats(0.05, 5), st.floats(0.05, 5), st.floats(1, 40))
def test_the_evidence_is_the_ratio_of_two_beta_binomial_likelihoods(pages, a, b, c, d) -> None:
    ratios = log_likelihood_ratios(pages, Evidence((a, b), (c, d), 1, 1))
    seen = np.arange(pages)
    expected = betabinom.logpmf(seen, pages - 1, a, b) - betabinom.logpmf(seen, pages - 1, c, d)
    assert ratios[0] == 0
    assert ratios[1:] == pytest.approx(expected, abs=1e-6)


def test_the_first_page_of_a_host_is_evidence_of_nothing() -> None:
    assert np.array_equal(moved(1, 1).templateness, scores().templateness)


def test_units_that_are_not_counted_keep_their_scores() -> None:
    assert np.array_equal(moved(0, 50).templateness, scores().templateness)


def test_the_more_pages_repeat_a_block_the_more_it_is_template() -> None:
    for pages in (5, 30, 200):
        block = [moved(df, pages).templateness[-1] for df in range(1, pages + 1)]
        assert all(low <= high for low, high in pairwise(block))
        assert block[0] < 0.4 < block[-1]


def test_evidence_grows_with_the_pages_that_were_seen() -> None:
    everywhere = [moved(pages, pages).templateness[-1] for pages in (2, 3, 5, 10, 30, 100)]
    nowhere_else = [moved(1, pages).templateness[-1] for pages in (2, 3, 5, 10, 30, 100)]
    assert all(low < high for low, high in pairwise(everywhere))
    assert all(high > low for high, low in pairwise(nowhere_else))


def test_an_element_that_no_other_page_has_is_no_more_content_for_it() -> None:
    alone = moved(1, 100).templateness
    assert (alone[: PAGE.n] == 0.4).all()
    assert (alone[PAGE.n :] < 0.4).all()


def test_what_is_shipped_pulls_apart_what_thirty_pages_share_and_what_one_has() -> None:
    shared = with_site_evidence(PAGE, scores(), np.full(PAGE.n + PAGE.m, 30), 30)
    alone = with_site_evidence(PAGE, scores(), np.full(PAGE.n + PAGE.m, 1), 30)
    assert shared.templateness[-1] > 0.95
    assert alone.templateness[-1] <= 0.4


def test_evidence_that_would_cut_all_a_page_has_is_known_for_what_it_is() -> None:
    assert contradicted(scores(), moved(30, 30)), "every address of a page that has many was counted"
    only_the_footer = np.ones(PAGE.n + PAGE.m, np.int64)
    only_the_footer[-1] = 30
    assert not contradicted(scores(), with_site_evidence(PAGE, scores(), only_the_footer, 30, BOTH_WAYS))


def test_counts_above_the_number_of_pages_do_not_break_anything() -> None:
    assert np.isfinite(moved(500, 30).templateness).all()


def test_counts_for_another_number_of_units_are_refused() -> None:
    with pytest.raises(ValueError, match="df has 2 counts"):
        with_site_evidence(PAGE, scores(), np.ones(2, np.int64), 5)
