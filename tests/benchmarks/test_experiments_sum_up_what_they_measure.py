"""Plots show the figures."""

import re

from benchmarks.shared.plots import Panel, draw


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
