import numpy as np
import pytest

from winnow.papers.page_level import by_area, by_nodes, constant, weights_with_hidden
from winnow.smoothing import smooth

#      0
#     / \
#    1   4
#   / \
#  2   3
TREE = np.array([-1, 0, 1, 1, 0], dtype=np.int32)
AREA = np.array([1000.0, 800.0, 200.0, 0.0, 100.0])


def test_the_penalty_by_area_is_the_share_of_the_page_turned_over() -> None:
    assert by_area(AREA, 2000.0).tolist() == pytest.approx([0.02, 0.025, 0.1, np.inf, 0.2])
    assert by_area(AREA, AREA[0], scale=1.0).tolist() == pytest.approx([1, 1.25, 5, np.inf, 10])


def test_the_penalty_by_area_takes_a_page_area_for_every_node() -> None:
    assert by_area(np.array([10.0, 5.0]), np.array([10.0, 20.0]), 1.0).tolist() == [1, 4]


def test_the_penalty_by_nodes_is_the_share_of_the_tree_turned_over() -> None:
    assert by_nodes(TREE, scale=1.0).tolist() == pytest.approx([1, 5 / 3, 5, 5, 5])
    assert by_nodes(TREE).tolist() == pytest.approx([0.01, 0.05 / 3, 0.05, 0.05, 0.05])


def test_the_penalty_by_nodes_counts_every_tree_of_a_forest_for_itself() -> None:
    assert by_nodes(np.array([-1, -1, 0, 1, 3], dtype=np.int32), 1.0).tolist() == pytest.approx([1, 1, 2, 1.5, 3])


def test_the_constant_penalty_is_the_same_everywhere() -> None:
    assert constant(3, 0.5).tolist() == [0.5] * 3
    assert constant(0).shape == (0,)


@pytest.mark.parametrize("area", [0.0, 5e-324])
def test_a_page_without_area_has_infinite_penalties_and_one_section(area: float) -> None:
    penalty = by_area(np.full(5, area), 1000.0)
    assert np.isinf(penalty).all()
    assert np.isinf(by_area(np.zeros(2), 0.0, scale=0.0)).all()
    assert smooth(TREE, [0.1, 0.9, 0.9, 0.9, 0.9], penalty=penalty).section.tolist() == [0] * 5


@pytest.mark.parametrize("bad", [-1.0, float("nan")])
def test_areas_that_make_no_sense_are_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="area"):
        by_area(np.array([1.0, bad]), 10.0)
    with pytest.raises(ValueError, match="area"):
        by_area(np.array([1.0]), bad)


def test_a_node_with_k_hidden_children_weighs_k_plus_one() -> None:
    hidden = np.array([False, False, True, True, False])
    assert weights_with_hidden(TREE, hidden).tolist() == [1, 3, 0, 0, 1]


def test_a_hidden_node_counts_for_its_nearest_visible_ancestor() -> None:
    hidden = np.array([False, True, True, False, True])
    assert weights_with_hidden(TREE, hidden).tolist() == [4, 0, 0, 1, 0]
