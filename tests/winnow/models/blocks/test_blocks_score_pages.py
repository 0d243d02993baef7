"""The perceptron scores the text blocks of a page; elements have a say only through the blocks inside them."""

import numpy as np
import pytest

from winnow.cleaning import clean
from winnow.features.blocks import FEATURE_NAMES
from winnow.features.tokens import TABLE_SIZE, TokenTables
from winnow.models.networks import BlockPerceptron, Network
from winnow.page.page import Page
from winnow.smoothing import smooth_scores

K = len(FEATURE_NAMES)
STORY = f"""
<html><head><title>The otters</title></head><body>
<nav><ul>{"".join(f"<li><a href=/{k}>Section {k}</a></li>" for k in range(6))}</ul></nav>
<main><h1>The otters</h1>{"<p>Ordinary words of a story, told at some length.</p>" * 4}
<div style="display:none"><p>Out of sight</p></div></main></body></html>
"""


@pytest.fixture
def model() -> BlockPerceptron:
    random = np.random.default_rng(5)
    arrays = [random.normal(size=shape).astype(np.float32) / 4 for shape in Network.shapes(K, 8, 4)]
    tables = TokenTables(*random.normal(size=(2, TABLE_SIZE)).astype(np.float16).astype(np.float32))
    return BlockPerceptron.of(tables, np.zeros(K, np.float32), np.ones(K, np.float32), [Network(*arrays)])


def test_blocks_are_scored_and_elements_have_no_opinion(model: BlockPerceptron):
    page = Page.parse(STORY)
    scores = model.score(page)
    for values in (scores.templateness, scores.weight, scores.in_tree, scores.penalty):
        assert values.shape == (page.n + page.m,)
    assert ((scores.templateness >= 0) & (scores.templateness <= 1)).all()
    assert len(set(scores.templateness[page.n :])) > 3
    assert not scores.weight[: page.n].any()
    assert (scores.weight[page.n :] >= 1).all()
    assert (scores.penalty > 0).all()
    assert 0 < scores.threshold < 2


def test_longer_blocks_weigh_more(model: BlockPerceptron):
    page = Page.parse(f"<p>one</p><p>{'word ' * 16}</p><p>{'word ' * 400}</p>")
    assert model.score(page).weight[page.n :].tolist() == [1, 4, 20]


def test_only_elements_where_the_text_branches_are_in_the_tree(model: BlockPerceptron):
    page = Page.parse("<body><div><div><section><p>one</p><p>two</p></section></div></div><p>three</p></body>")
    in_tree = model.score(page).in_tree
    tags = [element.tag for element, is_in in zip(page.elements, in_tree[: page.n], strict=True) if is_in]
    assert tags == ["html", "div"]
    assert in_tree[page.n :].all()
    smoothed = smooth_scores(page, model.score(page))
    assert np.isfinite(smoothed.value).all()


def test_the_same_page_always_has_the_same_scores(model: BlockPerceptron):
    first, second = (model.score(Page.parse(STORY)) for _ in range(2))
    assert np.array_equal(first.templateness, second.templateness)
    assert first.threshold == second.threshold


@pytest.mark.parametrize("html", ["", "<html>", "<!-- -->", "<p> </p>", "<p>x</p>", "<svg><title>x</title></svg>"])
def test_pages_with_next_to_nothing_are_scored(html: str, model: BlockPerceptron):
    page = Page.parse(html)
    scores = model.score(page)
    assert len(scores.templateness) == len(scores.weight) == len(scores.in_tree) == page.n + page.m
    assert np.isfinite(scores.templateness).all()
    assert clean(html, model=model).text.strip() in {"", "x"}
    if not page.m:
        assert scores.threshold == 0.5
