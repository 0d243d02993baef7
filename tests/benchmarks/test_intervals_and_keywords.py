from __future__ import annotations

import pytest

from benchmarks.applications.keyword_extraction import keywords
from benchmarks.shared.intervals import mean_interval, percent, share_interval


@pytest.mark.parametrize(
    ("hits", "of", "low", "high"),
    [(0, 10, 0.0, 0.2775), (5, 10, 0.2366, 0.7634), (10, 10, 0.7225, 1.0), (0, 0, 0.0, 1.0)],
)
def test_shares_have_wilsons_interval(hits, of, low, high):
    assert share_interval(hits, of) == pytest.approx((low, high), abs=5e-5)


def test_a_mean_is_inside_its_interval_which_narrows_with_more_values():
    few, many = mean_interval([0.0, 1.0] * 10), mean_interval([0.0, 1.0] * 1_000)
    assert few[0] < many[0] < 0.5 < many[1] < few[1]
    assert mean_interval([0.0, 1.0] * 10) == few
    domains = [str(number // 10) for number in range(200)]
    apart, alike = (mean_interval(values, groups=domains) for values in ([0.0, 1.0] * 100, [0.0] * 100 + [1.0] * 100))
    assert apart == (0.5, 0.5)  # each domain has as many of either
    assert alike[0] < many[0]
    assert percent(0.5, (0.25, 0.75)) == "50.0 (25.0-75.0)"


def test_keywords_are_frequent_here_and_rare_elsewhere():
    frequencies = {"": 99, "the": 99, "home": 60, "fox": 1}
    text = "The fox, the fox! Home home home home the the the and an owl owl"
    assert keywords(text, frequencies, 3) == ["owl", "fox", "and"]
    assert keywords("", frequencies, 3) == []
