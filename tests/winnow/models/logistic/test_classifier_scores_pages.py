"""The logistic model scores the visible elements of a page, each by the regression for its size."""

import numpy as np
import pytest

from winnow.models import load_model
from winnow.page.page import Page
from winnow.papers.element_features import NODE_FEATURES
from winnow.papers.page_level import AREA_BOUNDS, BUCKETS, LogisticModel, bucket_of

SENTENCE = "Ordinary words of a story, told at some length and with commas. "
STORY = f"""
<html><head><title>The story of the otters</title></head><body>
<header><a href=/><img src=logo.png width=100 height=60></a></header>
<nav><ul>{"".join(f"<li><a href=/{k}>Section {k}</a></li>" for k in range(12))}</ul></nav>
<main><h1>The story of the otters</h1>{f"<p>{SENTENCE * 8}</p>" * 6}</main>
<footer><p>Copyright 2024 <a href=/terms>Terms of use</a> <a href=/privacy>Privacy</a></p></footer></body></html>
"""
K = len(NODE_FEATURES)


def hand_made(intercepts: list[float]) -> LogisticModel:
    bounds = np.full((BUCKETS, K), 1e6)
    return LogisticModel.from_arrays(0.5, -bounds, bounds, np.zeros((BUCKETS, K)), np.array(intercepts))


def test_the_shipped_model_tells_a_menu_from_a_story():
    page = Page.parse(STORY, "https://otters.test/story")
    scores = load_model("logistic").score(page)
    by_tag = {element.tag: scores.templateness[index] for index, element in enumerate(page.elements)}
    assert by_tag["p"] > by_tag["main"]  # the last paragraph is the footer's
    assert by_tag["nav"] > 0.5 > by_tag["main"]
    assert ((scores.templateness >= 0) & (scores.templateness <= 1)).all()


def test_the_size_of_a_node_picks_its_regression():
    assert bucket_of(np.array([0.0, AREA_BOUNDS[0], AREA_BOUNDS[1] - 1, AREA_BOUNDS[2], 1e9])).tolist() == [
        0,
        1,
        1,
        3,
        3,
    ]
    model = hand_made([-2.0, -1.0, 1.0, 2.0])
    area = np.array([5e3, 5e4, 2e5, 1e7])
    expected = 1 / (1 + np.exp([2.0, 1.0, -1.0, -2.0]))
    assert model.probability(np.zeros((4, K), np.float32), area) == pytest.approx(expected)


def test_extreme_values_are_clipped():
    model = LogisticModel.from_arrays(
        0.5, -np.ones((BUCKETS, K)), np.ones((BUCKETS, K)), np.full((BUCKETS, K), 1000.0), np.zeros(BUCKETS)
    )
    values = np.array([np.full(K, 1e30), np.full(K, -1e30)], np.float32)
    assert model.probability(values, np.array([1e4, 1e4])) == pytest.approx([1, 0])


def test_hidden_nodes_and_blocks_are_left_out_and_counted_by_those_around_them():
    page = Page.parse("<body><div>" + "<i>x</i>" * 5 + SENTENCE * 9 + "</div></body>")
    scores = hand_made([0.0] * 4).score(page)
    assert not scores.in_tree[page.n :].any()
    tags = [element.tag for element in page.elements]
    assert scores.in_tree[: page.n].tolist() == [tag != "i" for tag in tags]
    assert scores.weight[: page.n].tolist() == [6 if tag == "div" else int(tag != "i") for tag in tags]


def test_penalties_are_the_papers_by_area():
    page = Page.parse(STORY)
    model = load_model("logistic")
    penalty = model.score(page).penalty
    assert penalty[0] == pytest.approx(0.01)
    assert (penalty[1 : page.n] >= penalty[0]).all()


@pytest.mark.parametrize("html", ["", "<html>", "<!-- -->", "<p>x</p>", "<svg><title>x</title></svg>"])
def test_pages_with_next_to_nothing_are_scored(html: str):
    page = Page.parse(html)
    scores = load_model("logistic").score(page)
    assert len(scores.templateness) == len(scores.weight) == len(scores.in_tree) == page.n + page.m
    assert scores.in_tree[0]
