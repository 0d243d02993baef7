"""The page-level model: penalties, weights of hidden nodes, four regressions by area, and its file."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tamis.models import Scores, load_model
from tamis.models.decision import FixedThreshold
from tamis.models.files import ModelError, write_model_file
from tamis.page.page import Page
from tamis.smoothing import smooth
from tamis_papers.element_features import NODE_FEATURES
from tamis_papers.page_level import AREA_BOUNDS, BUCKETS, PENALTIES, LogisticModel, bucket_of, section_penalty


def test_the_three_penalties_follow_nodes_areas_and_parents() -> None:
    page = Page.parse("<html><head></head><body><p></p><p></p></body></html>")
    area = np.array([1000.0, 0.0, 800.0, 200.0, 100.0])
    assert section_penalty(page, area, "nodes").tolist() == pytest.approx([0.01, 0.05, 0.05 / 3, 0.05, 0.05])
    assert section_penalty(page, area).tolist() == pytest.approx([0.01, np.inf, 0.0125, 0.05, 0.1])
    assert section_penalty(page, area, "parent", c=0.1).tolist() == pytest.approx([0.1, np.inf, 0.125, 0.4, 0.8])


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
    return LogisticModel(-bounds, bounds, np.zeros((BUCKETS, K)), np.array(intercepts))


def test_the_shipped_model_tells_a_menu_from_a_story():
    page = Page.parse(STORY, "https://otters.test/story")
    scores = load_model("logistic").score(page)
    by_tag = {element.tag: scores.templateness[index] for index, element in enumerate(page.elements)}
    assert by_tag["p"] > by_tag["main"]  # the last paragraph is the footer's
    assert by_tag["nav"] > 0.5 > by_tag["main"]
    assert ((scores.templateness >= 0) & (scores.templateness <= 1)).all()


def test_the_size_of_a_node_picks_its_regression():
    areas = np.array([0.0, AREA_BOUNDS[0], AREA_BOUNDS[1] - 1, AREA_BOUNDS[2], 1e9])
    assert bucket_of(areas).tolist() == [0, 1, 1, 3, 3]
    model = hand_made([-2.0, -1.0, 1.0, 2.0])
    area = np.array([5e3, 5e4, 2e5, 1e7])
    expected = 1 / (1 + np.exp([2.0, 1.0, -1.0, -2.0]))
    assert model.probability(np.zeros((4, K), np.float32), area) == pytest.approx(expected)


def test_hidden_nodes_and_blocks_are_left_out_and_counted_by_those_around_them():
    page = Page.parse("<body><div>" + "<i>x</i>" * 5 + SENTENCE * 9 + "</div></body>")
    scores = hand_made([0.0] * 4).score(page)
    assert not scores.in_tree[page.n :].any()
    tags = [element.tag for element in page.elements]
    assert scores.in_tree[: page.n].tolist() == [tag not in {"head", "i"} for tag in tags]
    assert scores.weight[: page.n].tolist() == [{"html": 2, "body": 1, "div": 6}.get(tag, 0) for tag in tags]


HEADER = {"name": "logistic", "features": list(NODE_FEATURES), "area_bounds": [2e4, 1e5, 4e5]}


@pytest.mark.parametrize(
    "change",
    [
        *({"name": "other"}, {"features": ["depth"]}, {"area_bounds": [1, 2, 3]}),
        *({"weight": np.zeros((BUCKETS, K + 1))}, {"weight": np.full((BUCKETS, K), np.nan)}, {"low": None}),
    ],
)
def test_models_that_do_not_fit_this_version_are_refused(change: dict[str, Any], tmp_path: Path):
    arrays = {name: np.zeros((BUCKETS, K)) for name in ("low", "high", "weight")} | {"intercept": np.zeros(BUCKETS)}
    file = tmp_path / "model.npz"
    write_model_file(file, HEADER, arrays)
    LogisticModel.load(file)
    header = {name: change.get(name, value) for name, value in HEADER.items()}
    kept = {name: change.get(name, value) for name, value in arrays.items()}
    write_model_file(file, header, {name: value for name, value in kept.items() if value is not None})
    with pytest.raises(ModelError):
        LogisticModel.load(file)


@pytest.mark.parametrize("rule", PENALTIES)
def test_no_assignment_is_better_than_smoothing_by_any_penalty(rule: str) -> None:
    for seed in range(500):
        random = np.random.default_rng(seed)
        tags = [("<div>", "</div>") if random.random() < 0.5 else ("<div></div>", "") for _ in range(4)]
        page = Page.parse(f"<body>{''.join(begin for begin, _ in tags)}{''.join(end for _, end in tags)}</body>")
        n, levels = page.n, random.random(3).round(3)
        score, weight = random.choice(levels, n), random.integers(0, 4, n)
        penalty = section_penalty(page, random.integers(0, 5, n) * 100.0, rule, float(random.choice([0.01, 0.1, 0.5])))
        values = np.stack(np.meshgrid(*[levels] * n, indexing="ij")).reshape(n, -1)
        starts = (np.array(page.parent) < 0)[:, None] | (values != values[page.parent])
        capped = np.minimum(penalty, weight.sum() + 1)
        costs = weight @ np.abs(values - score[:, None]) + capped @ starts
        costs[(values[1:] < values[page.parent[1:]]).any(axis=0)] = np.inf
        smoothed = smooth(page.parent, Scores(score, weight, np.ones(n, bool), penalty, FixedThreshold(0.5)))
        sections = smoothed.section == np.arange(n)
        assert weight @ np.abs(smoothed.value - score) + capped @ sections == pytest.approx(costs.min(), abs=1e-6)
