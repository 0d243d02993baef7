"""The threshold of the logistic model is the one that is best on held-out sites, the lowest of several."""

import numpy as np
import pytest

from winnow.training.logistic import THRESHOLDS, best_threshold

RAMP = np.linspace(0, 1, len(THRESHOLDS))


def test_a_threshold_that_is_better_on_every_site_is_taken():
    threshold, f_measure = best_threshold([(site, 0.5 + 0.4 * RAMP) for site in range(4)])
    assert threshold == THRESHOLDS[-1]
    assert f_measure == pytest.approx(0.9)


def test_among_thresholds_that_do_equally_well_the_lowest_is_taken():
    curve = np.minimum(RAMP, RAMP[5])
    assert best_threshold([(site, curve) for site in range(4)])[0] == THRESHOLDS[5]


def test_every_site_counts_the_same_whatever_the_number_of_its_pages():
    low, high = 1 - RAMP, RAMP
    assert best_threshold([(0, low), *[(1, high)] * 50, (2, low)])[0] == THRESHOLDS[0]


def test_pages_without_content_are_left_out():
    nothing = np.full(len(THRESHOLDS), np.nan)
    assert best_threshold([(0, RAMP), (1, nothing)]) == (THRESHOLDS[-1], 1.0)
    with pytest.raises(ValueError, match="no page of the sites"):
        best_threshold([(0, nothing)])
