import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from winnow.models.penalties import (
    by_area,
    by_nodes,
    constant,
    subtree_nodes,
    weights_with_hidden,
)
from winnow.smoothing.isotonic.regression import smooth
from winnow.smoothing.visible import visible_tree

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


def test_visible_nodes_below_hidden_ones_move_up() -> None:
    nodes, parent, place = visible_tree(TREE, np.array([False, True, True, False, True]))
    assert nodes.tolist() == [0, 3]
    assert parent.tolist() == [-1, 0]
    assert place.tolist() == [0, 0, 0, 1, 0]


def test_a_root_is_always_visible() -> None:
    nodes, parent, place = visible_tree(TREE, np.ones(5, dtype=bool))
    assert (nodes.tolist(), parent.tolist(), place.tolist()) == ([0], [-1], [0] * 5)


def test_an_empty_tree_has_nothing_visible() -> None:
    nothing = np.empty(0, dtype=np.int32)
    nodes, parent, place = visible_tree(nothing, nothing.astype(bool))
    assert nodes.shape == parent.shape == place.shape == (0,)
    assert by_nodes(nothing).shape == (0,)


@given(st.integers(1, 60), st.integers(0, 2**32))
def test_trees_of_visible_nodes_agree_with_walking_up(n: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    parent = np.array([random.integers(-1, i) if i else -1 for i in range(n)], dtype=np.int32)
    hidden = random.random(n) < random.random()
    holder = list(range(n))
    sizes = [1] * n
    for i in range(n):
        while hidden[holder[i]] and parent[holder[i]] >= 0:
            holder[i] = int(parent[holder[i]])
    for i in range(n - 1, -1, -1):
        if parent[i] >= 0:
            sizes[parent[i]] += sizes[i]
    assert subtree_nodes(parent).tolist() == sizes

    nodes, above, place = visible_tree(parent, hidden)
    assert nodes.tolist() == [i for i in range(n) if holder[i] == i]
    assert [int(nodes[a]) if a >= 0 else -1 for a in above] == [
        holder[parent[i]] if parent[i] >= 0 else -1 for i in nodes
    ]
    assert nodes[place].tolist() == holder
    assert np.bincount(place).tolist() == weights_with_hidden(parent, hidden)[nodes].tolist()
