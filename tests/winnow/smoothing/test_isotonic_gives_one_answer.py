import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from winnow.smoothing.isotonic.regression import smooth


def test_a_tie_joins_the_parent() -> None:
    smoothed = smooth([-1, 0], [0.25, 0.75], penalty=[0.0, 0.5])
    assert smoothed.value.tolist() == [0.25, 0.25]
    assert smoothed.starts_section.tolist() == [True, False]


def test_a_penalty_just_below_the_tie_starts_a_section() -> None:
    smoothed = smooth([-1, 0], [0.25, 0.75], penalty=[0.0, 0.5 - 2.0**-26])
    assert smoothed.value.tolist() == [0.25, 0.75]
    assert smoothed.section.tolist() == [0, 1]


def test_tied_values_of_a_root_go_to_the_lowest_score() -> None:
    assert smooth([-1, 0, 0], [0.5, 0.25, 0.5], [0, 1, 1], np.inf).value.tolist() == [0.25] * 3


def test_tied_values_of_a_section_go_to_the_lowest_score() -> None:
    smoothed = smooth([-1, 0, 1, 1], [0.0, 0.75, 0.5, 1.0], [9, 0, 1, 1], [0.0, 0.125, np.inf, np.inf])
    assert smoothed.value.tolist() == [0.0, 0.5, 0.5, 0.5]


def test_nodes_without_weight_follow_the_others() -> None:
    assert smooth([-1, 0, 1], [0.5, 1.0, 0.75], [1, 0, 1], 0.0).value.tolist() == [0.5, 0.5, 0.75]
    assert smooth([-1, 0, 1], [0.5, 1.0, 0.75], [0, 0, 0], 0.0).value.tolist() == [0.5, 0.5, 0.5]


def test_weights_count_like_repeated_nodes() -> None:
    random = np.random.default_rng(4)
    n = 40
    parent = np.maximum(-1, np.arange(n) - 1 - random.integers(0, 5, n))
    score = random.integers(0, 65, n) / 64
    weight = random.integers(1, 5, n)
    penalty = random.random(n) / 2
    copies = np.repeat(np.arange(n), weight - 1)  # below the node itself, and never a section
    repeated = smooth(
        np.concatenate((parent, copies)),
        np.concatenate((score, score[copies])),
        penalty=np.concatenate((penalty, np.full(copies.size, np.inf))),
    )
    smoothed = smooth(parent, score, weight, penalty)
    assert repeated.value[:n].tolist() == smoothed.value.tolist()
    assert repeated.section[:n].tolist() == smoothed.section.tolist()


def test_an_infinite_penalty_leaves_one_section_at_the_weighted_median() -> None:
    smoothed = smooth([-1, 0, 0, 1], [0.1, 0.2, 0.3, 0.9], [1, 1, 1, 4], np.inf)
    assert smoothed.value.tolist() == [0.9] * 4
    assert smoothed.section.tolist() == [0] * 4


def test_a_value_is_bit_for_bit_a_given_score() -> None:
    score = np.array([0.1, 0.1 + 1e-12, 0.3, 1 / 3])
    assert set(smooth([-1, 0, 0, 2], score).value.tolist()) <= set(score.tolist())


def test_minus_zero_counts_as_zero() -> None:
    assert smooth([-1], [-0.0]).value.tobytes() == smooth([-1], [0.0]).value.tobytes()


@settings(deadline=None, max_examples=150)
@given(st.integers(1, 120), st.integers(0, 2**32), st.sampled_from([4, 64, 10**9]))
def test_the_order_of_the_nodes_does_not_matter(n: int, seed: int, steps: int) -> None:
    random = np.random.default_rng(seed)
    parent = np.maximum(-1, np.arange(n) - 1 - random.integers(0, 8, n))
    score, weight, penalty = random.integers(0, steps + 1, n) / steps, random.integers(0, 4, n), random.random(n) / 4
    depth = np.zeros(n, dtype=np.int64)
    for i in range(n):
        depth[i] = depth[parent[i]] + 1 if parent[i] >= 0 else 0
    order = np.lexsort((random.random(n), depth))  # parents stay before their children, siblings are shuffled
    place = np.argsort(order)
    moved_parent = np.where(parent[order] < 0, -1, place[parent[order]])
    one = smooth(parent, score, weight, penalty)
    other = smooth(moved_parent, score[order], weight[order], penalty[order])
    assert other.value.tobytes() == one.value[order].tobytes()
    assert other.section.tolist() == place[one.section[order]].tolist()
    assert other.cost == one.cost


@settings(deadline=None, max_examples=100)
@given(st.lists(st.integers(1, 30), min_size=1, max_size=6), st.integers(0, 2**32), st.sampled_from([2, 16, 10**9]))
def test_a_forest_gets_what_its_trees_get_alone(sizes: list[int], seed: int, steps: int) -> None:
    random = np.random.default_rng(seed)
    trees = []
    for n in sizes:
        parent = (random.random(n) * np.arange(n)).astype(np.int64)
        parent[0] = -1
        trees.append((parent, random.integers(0, steps + 1, n) / steps, random.integers(0, 3, n), random.random(n) / 2))
    begin = np.cumsum([0, *sizes[:-1]])
    together = smooth(
        np.concatenate([np.where(tree[0] < 0, -1, tree[0] + b) for tree, b in zip(trees, begin, strict=True)]),
        *[np.concatenate([tree[column] for tree in trees]) for column in (1, 2, 3)],
    )
    alone = [smooth(*tree) for tree in trees]
    assert together.value.tobytes() == b"".join(tree.value.tobytes() for tree in alone)
    assert together.section.tolist() == [s + b for t, b in zip(alone, begin, strict=True) for s in t.section.tolist()]
    assert together.cost == pytest.approx(sum(tree.cost for tree in alone), abs=1e-12)


def test_the_same_page_gives_the_same_bytes() -> None:
    random = np.random.default_rng(2)
    parent = np.concatenate(([-1], random.integers(0, np.arange(1, 500))))
    score = random.random(500)
    one, other = smooth(parent, score), smooth(parent.tolist(), score.tolist(), [1] * 500, [0.01] * 500)
    assert one.value.tobytes() == other.value.tobytes()
    assert one.section.tobytes() == other.section.tobytes()
    assert one.starts_section.tobytes() == other.starts_section.tobytes()
    assert one.cost == other.cost


def test_what_is_given_stays_as_it_was() -> None:
    parent, score = np.array([-1, 0, 1], dtype=np.int32), np.array([0.9, 0.1, 0.5])
    weight, penalty = np.array([1, 2, 3]), np.array([0.0, 0.1, 0.2])
    smooth(parent, score, weight, penalty)
    assert parent.tolist() == [-1, 0, 1]
    assert score.tolist() == [0.9, 0.1, 0.5]
    assert weight.tolist() == [1, 2, 3]
    assert penalty.tolist() == [0.0, 0.1, 0.2]
