"""The cuts of a page are nested, keep something, and the last keeps everything; their features are finite."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from winnow.models.decision import CUT_NAMES, PROPERTIES, Cuts, cut_features
from winnow.page.page import Page

COLUMN = {name: number for number, name in enumerate(CUT_NAMES)}
PAGE = Page.parse(
    "<body><ul><li>a<li>b</ul><main><h1>c</h1><div><p>d</p><p>e</p><p>f</p></div></main><div><p>g</p></div></body>"
)
WORDS = np.array([1, 1, 5, 50, 40, 60, 3], np.float64)
LOGITS = np.array([3, 3, -1, -5.5, -4.5, -5.5, 1], np.float64)


def cuts_of(logits: np.ndarray, words: np.ndarray = WORDS) -> tuple[Cuts, np.ndarray]:
    cuts = Cuts.of(PAGE, logits, words)
    return cuts, cut_features(PAGE, cuts, logits, words, np.zeros((PAGE.m, len(PROPERTIES)), np.float32))


@given(
    st.lists(st.floats(-20, 20), min_size=PAGE.m, max_size=PAGE.m),
    st.lists(st.integers(0, 900), min_size=PAGE.m, max_size=PAGE.m),
)
def test_every_cut_keeps_more_than_the_one_before_and_the_last_keeps_all(logits: list[float], counts: list[int]):
    cuts, features = cuts_of(np.array(logits), np.maximum(np.array(counts, np.float64), 0.5))
    number = cuts.kept.sum(axis=1)
    assert number[0] > 0
    assert (np.diff(number) > 0).all()
    assert number[-1] == PAGE.m
    assert not (cuts.kept[:-1] & ~cuts.kept[1:]).any()
    assert features.shape == (len(number), len(CUT_NAMES))
    assert np.isfinite(features).all()


def test_blocks_of_one_score_are_kept_or_cut_together():
    cuts, _ = cuts_of(LOGITS)
    assert cuts.kept.astype(int).tolist() == [
        [0, 0, 0, 1, 0, 1, 0],
        [0, 0, 0, 1, 1, 1, 0],
        [0, 0, 1, 1, 1, 1, 0],
        [0, 0, 1, 1, 1, 1, 1],
        [1, 1, 1, 1, 1, 1, 1],
    ]


def test_the_container_is_the_innermost_element_around_most_of_what_is_kept():
    cuts, _ = cuts_of(LOGITS)
    assert [PAGE.elements[element].tag for element in cuts.container] == ["div", "div", "div", "div", "div"]
    spread = cuts_of(np.array([-5, 0, 0, -5, 0, 0, -5.0]), np.full(7, 10.0))[0]
    assert PAGE.elements[spread.container[0]].tag == "html"


def test_features_say_how_much_is_kept_and_what_the_next_cut_would_add():
    _, features = cuts_of(LOGITS)
    total = WORDS.sum()
    assert features[:, COLUMN["share of words"]] * total == pytest.approx([110, 150, 155, 158, 160])
    assert features[:, COLUMN["next: share of page"]] * total == pytest.approx([40, 5, 3, 2, 0])
    assert features[0, COLUMN["runs per block"]] == 1
    assert features[:, COLUMN["expected F1 to the best"]].max() == 1


def test_a_page_of_one_block_has_one_cut():
    page = Page.parse("<p>alone</p>")
    cuts = Cuts.of(page, np.array([9.0]), np.array([1.0]))
    assert cuts.kept.tolist() == [[True]]
    features = cut_features(page, cuts, np.array([9.0]), np.array([1.0]), np.zeros((1, len(PROPERTIES)), np.float32))
    assert np.isfinite(features).all()
