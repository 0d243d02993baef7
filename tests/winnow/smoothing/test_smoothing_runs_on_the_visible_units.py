from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from winnow import core
from winnow.models.base import Scores
from winnow.models.threshold import FixedThreshold
from winnow.page.page import Page
from winnow.smoothing.smooth import smooth_scores, unsmoothed

HTML = "<div><ul><li>a<li>b<li>c</ul><p>story</p></div><p>more</p>"


def scores(page: Page, templateness: list[float], visible: list[bool] | None = None, penalty: float = 0.01) -> Scores:
    count = page.n + page.m
    shown = np.ones(count, bool) if visible is None else np.array(visible)
    weight = np.ones(count, np.int64)
    return Scores(np.array(templateness), weight, shown, np.full(count, penalty), FixedThreshold(0.5))


def test_values_never_fall_from_parent_to_child_and_sections_are_connected() -> None:
    page = Page.parse(HTML)

    @settings(deadline=None, max_examples=60)
    @given(
        st.lists(st.sampled_from([0.0, 0.2, 0.5, 0.8, 1.0]), min_size=page.n + page.m, max_size=page.n + page.m),
        st.lists(st.booleans(), min_size=page.n + page.m, max_size=page.n + page.m),
        st.sampled_from([0.0, 0.1, 1.0]),
    )
    def check(templateness: list[float], visible: list[bool], gamma: float) -> None:
        given_scores = scores(page, templateness, visible, gamma)
        smoothed = smooth_scores(page, given_scores)
        parent = page.unit_parent
        child = np.arange(1, page.n + page.m)
        assert (smoothed.value[child] >= smoothed.value[parent[child]]).all()
        joined = smoothed.section[child] == smoothed.section[parent[child]]
        assert (joined | (smoothed.section[child] == child)).all()
        assert (smoothed.value[smoothed.section] == smoothed.value).all()
        hidden = child[~given_scores.in_tree[child]]
        assert (smoothed.section[hidden] == smoothed.section[parent[hidden]]).all()

    check()


@settings(deadline=None)
@given(st.integers(1, 40), st.randoms(use_true_random=False))
def test_both_ways_give_the_same_answer(paragraphs: int, random: Random) -> None:
    page = Page.parse("".join(random.choice(["<p>a", "<div>", "</div>", "<li>b", "c"]) for _ in range(paragraphs)))
    units = page.n + page.m
    steps = random.choice([2, 5, 1 << 30])
    given_scores = Scores(
        np.array([random.randrange(steps) / (steps - 1) for _ in range(units)]),
        np.array([random.choice([0, 1, 3, 10**6]) for _ in range(units)], np.int64),
        np.array([random.random() < 0.7 for _ in range(units)], bool),
        np.array([random.choice([0.0, 0.1, 2.0, np.inf]) for _ in range(units)], float),
        FixedThreshold(0.5),
    )
    fast = smooth_scores(page, given_scores)
    with core.numpy_only():
        slow = smooth_scores(page, given_scores)
    np.testing.assert_array_equal(fast.value, slow.value)
    np.testing.assert_array_equal(fast.section, slow.section)


@pytest.mark.parametrize(
    ("score", "weight", "penalty"), [(1.5, 1, 0.1), (np.nan, 1, 0.1), (0.5, -1, 0.1), (0.5, 1, -1)]
)
def test_numbers_that_cannot_be_smoothed_are_refused(score: float, weight: int, penalty: float) -> None:
    page = Page.parse("<p>a")
    wrong = scores(page, [score] * 4)
    wrong.weight[1], wrong.penalty[1] = weight, penalty
    with pytest.raises(ValueError, match="expected"):
        smooth_scores(page, wrong)


def test_hidden_units_hand_their_descendants_to_the_nearest_visible_ancestor() -> None:
    page = Page.parse("<div><p>a</p></div>")  # html, body, div, p; one block
    smoothed = smooth_scores(page, scores(page, [0.1, 0.1, 0.9, 0.9, 0.8], [True, True, False, False, True], 0.0))
    assert smoothed.value.tolist() == [0.1, 0.1, 0.1, 0.1, 0.8]
    assert smoothed.section.tolist() == [0, 0, 0, 0, 4]


def test_a_hidden_root_has_no_opinion() -> None:
    page = Page.parse("<p>a</p>")
    smoothed = smooth_scores(page, scores(page, [1.0, 0.3, 0.3, 0.3], [False, True, True, True]))
    assert smoothed.value.tolist() == [0.3] * 4
    assert smoothed.section.tolist() == [0] * 4


def test_an_infinite_penalty_gives_one_section() -> None:
    page = Page.parse(HTML)
    rng = np.random.default_rng(1)
    smoothed = smooth_scores(page, scores(page, rng.random(page.n + page.m).tolist(), penalty=np.inf))
    assert set(smoothed.section.tolist()) == {0}


def test_without_smoothing_every_unit_keeps_its_own_score() -> None:
    page = Page.parse("<div><p>a</p></div>")
    given_scores = Scores(
        np.array([0.5, 0.2, 0.9, 0.9, 0.8]),
        np.array([0, 1, 0, 1, 1]),
        np.array([True, True, True, False, True]),
        np.zeros(5),
        FixedThreshold(0.5),
    )
    raw = unsmoothed(page, given_scores)
    assert raw.value.tolist() == [0.0, 0.2, 0.2, 0.2, 0.8]
    assert raw.section.tolist() == [0, 1, 1, 1, 4]
