"""Numbers cut into intervals by minimum description length."""

import numpy as np

from tamis_papers.discretisation import binary_features, mdl_cuts


def test_a_feature_is_cut_where_the_label_changes_and_nowhere_else():
    values = np.arange(60.0)
    assert mdl_cuts(values, (values >= 20) & (values < 40)).tolist() == [19.5, 39.5]
    assert mdl_cuts(values, values % 2 == 0).tolist() == []
    assert mdl_cuts(np.ones(8), np.arange(8) > 3).tolist() == []
    assert mdl_cuts(np.zeros(0), np.zeros(0, bool)).tolist() == []


def test_each_interval_is_a_binary_feature_and_uncut_features_are_left_out():
    matrix = np.array([[1.0, 5.0], [2.0, 6.0], [3.0, 7.0]])
    binary = binary_features(matrix, [np.array([1.5, 2.5]), np.array([])])
    assert binary.toarray().tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert binary_features(matrix, [np.array([]), np.array([])]).shape == (3, 0)
