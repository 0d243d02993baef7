"""Experiments weigh what they count as they say, and their plots show the figures."""

import re

import numpy as np
import pytest

from benchmarks.accuracy.cross_site import _figures as cross_site_figures
from benchmarks.accuracy.smoothing import _panels as smoothing_panels
from benchmarks.layout.real_geometry import completed, real_geometry
from benchmarks.shared.plots import Panel, draw
from winnow.features.blocks import features_of
from winnow.page.page import Page
from winnow.papers.geometry import layout
from winnow.training.examples import BlockPage


def block_page(source, words, content):
    tokens = features_of(Page.parse("<p>x")).tokens
    return BlockPage(
        source, np.zeros((len(words), 1), np.float32), tokens, np.array(words, float), np.array(content, np.float32)
    )


def test_template_across_sites_is_counted_by_blocks_by_sites_and_by_mass():
    pages = [
        block_page("a", [100, 1, 1, 1], [1, 0, 0, 0]),
        block_page("a", [100, 1, 1, 1], [1, 0, 0, 0]),
        block_page("b", [10, 10, 7], [1, 0, np.nan]),
    ]
    # the model takes the one template block of site b for content, and is right everywhere else
    scores = np.array([0.1, 0.9, 0.9, 0.9] * 2 + [0.2, 0.15])
    figures = cross_site_figures({"model": scores}, pages)
    assert (figures["sites"], figures["pages"], figures["blocks"]) == (2, 3, 10)
    assert figures["share_of_template"]["blocks"] == pytest.approx(7 / 10)
    assert figures["share_of_template"]["sites"] == pytest.approx((3 / 4 + 1 / 2) / 2)
    parts = [
        (np.array(words) / sum(words) + np.sqrt(words) / np.sqrt(words).sum()) / 2
        for words in ([100, 1, 1, 1], [10, 10, 7])
    ]
    template_mass = [parts[0][1:].sum(), parts[1][1]]
    assert figures["share_of_template"]["mass"] == pytest.approx(sum(template_mass) / (1 + parts[1][:2].sum()))
    model = figures["classifiers"]["model"]
    assert model["blocks"]["recall"]["0.95"] == pytest.approx(6 / 7)
    assert model["sites"]["recall"]["0.95"] == pytest.approx((3 / 4) / (3 / 4 + 1 / 2))
    assert model["mass"]["recall"]["0.95"] == pytest.approx(template_mass[0] / sum(template_mass))


def test_the_penalty_is_drawn_as_f_measure_and_as_rand_index():
    figures = {
        "text_f1": {"all": {"basic": 0.7, "smooth 0.1": 0.71, "smooth 1": 0.72}},
        "template_f": {"basic": 0.6, "smooth 0.1": 0.61, "smooth 1": 0.62},
        "adjusted_rand_index": {"all": {"basic": 0.0, "merge 0.3": 0.4, "smooth 0.1": 0.5, "smooth 1": 0.6}},
        "best_merge": "merge 0.3",
    }
    f_measure, rand = smoothing_panels(figures, [0.1, 1.0])
    assert f_measure.lines == {
        "text, Smooth": [(0.1, 0.71), (1.0, 0.72)],
        "template, Smooth": [(0.1, 0.61), (1.0, 0.62)],
    }
    assert f_measure.levels == {"text, Basic": 0.7, "template, Basic": 0.6}
    assert rand.lines == {"Smooth": [(0.1, 0.5), (1.0, 0.6)]}
    assert rand.levels == {"Basic+Merge (0.3)": 0.4, "Basic": 0.0}
    assert f_measure.log_x
    assert rand.log_x


def test_the_same_figures_give_the_same_plot_byte_for_byte(tmp_path):
    panel = Panel("sites", "F1", {"all": [(10, 0.5), (20, 0.6)]}, {"best": 0.7}, log_x=True, at=(10, 20))
    files = [tmp_path / name for name in ("a.svg", "b.svg")]
    for file in files:
        draw(file, [panel, panel])
    assert files[0].read_bytes() == files[1].read_bytes()
    text = files[0].read_text()
    for word in ("sites", "F1", "all", "best", "20"):
        assert re.search(rf">{word}</text>", text), word


def test_every_line_of_a_plot_is_drawn(tmp_path):
    lines = {f"kind {number}": [(1, number), (2, number)] for number in range(9)}
    draw(tmp_path / "many.svg", [Panel("x", "y", lines, {})])
    text = (tmp_path / "many.svg").read_text()
    assert all(f"{name}</text>" in text for name in lines)


def test_a_browsers_boxes_become_a_geometry():
    page = Page.parse("<body><p>text</p><div>more text</div></body>")
    at = {element.tag: index for index, element in enumerate(page.elements)}
    boxes = np.zeros((page.n, 4))
    boxes[at["html"]] = boxes[at["body"]] = [0, 0, 1024, 500]
    boxes[at["p"]] = [-5, 10, 100, 40]
    boxes[at["div"]] = np.nan  # the browser does not have it
    geometry = real_geometry(page, boxes)
    assert layout(page).area[at["div"]] > 0
    assert geometry.page_height == 500
    assert geometry.area[[at["p"], at["div"], page.n]].tolist() == [4000, 0, 4000]
    assert geometry.x[at["p"]] == 0
    filled = completed(geometry, layout(page))
    assert filled.area[at["p"]] == 4000
    assert filled.area[at["div"]] == layout(page).area[at["div"]]
    assert geometry.hidden.tolist() == [area < 2000 for area in geometry.area]
