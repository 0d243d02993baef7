"""Below a story in which nothing is dated, nothing can be a thread by its look, so that it need not be looked for."""

from functools import reduce

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.winnow.comments.pages import BLOG_POST, SAID
from winnow import Page
from winnow.evidence.comment_model import Judgement, date_signs
from winnow.evidence.comments import dated_below, find_comments, threads

BLOCKS = st.lists(
    st.tuples(
        st.sampled_from(["in March 2019", "3 days ago", "10:15", "$4.99", "Thank you!", "© 2019"]),
        st.sampled_from([1, 15, 40, 90]),  # words
        st.sampled_from([0.1, 0.9]),  # templateness
        st.sampled_from([-4.0, 0.5, 4.0]),  # logit
    ),
    min_size=1,
    max_size=9,
)


@settings(deadline=None)  # the first page of a process takes longer
@given(BLOCKS, st.sampled_from([-9.0, -1.5, 9.0]))
def test_what_is_not_looked_at_would_not_have_been_found(
    blocks: list[tuple[str, int, float, float]], forum: float
) -> None:
    texts = [text for text, *_ in blocks]
    words, templateness, logit = np.array([numbers for _, *numbers in blocks], float).T
    signs = date_signs(texts)
    judgement, named = Judgement(logit, lambda: forum), np.zeros(len(texts), bool)
    found = threads(judgement, named, texts, words, words, templateness)
    assert dated_below(texts, signs, np.cumsum(words * (templateness < 0.5))) or not found.any()


def test_without_their_dates_the_comments_of_a_blog_are_not_told_by_their_look() -> None:
    page = Page.parse(BLOG_POST)
    undated = Page.parse(
        reduce(lambda html, date: html.replace(date, "lately"), [date for _, date, _ in SAID], BLOG_POST)
    )
    story = np.arange(page.m) > page.m // 2
    assert find_comments(page, story * 0.9).any()
    assert not find_comments(undated, story * 0.9).any()
