"""Clustering by the paper's cost, counted and by MinHash."""

from itertools import product

import numpy as np
import pytest

from tamis_papers.minhash import Counted, Estimated, cells_of, merge_greedily


def two_templates(documents: int) -> np.ndarray:
    """bool[d, p]: every other document has one of two templates of 60 paths, and each three paths of its own."""
    matrix = np.zeros((documents, 120 + 3 * documents), bool)
    matrix[::2, :60] = True
    matrix[1::2, 60:120] = True
    for number in range(documents):
        matrix[number, 120 + 3 * number : 123 + 3 * number] = True
    return matrix


def test_a_path_takes_a_cell_of_the_template_or_one_for_each_correction():
    support = np.array([0, 1, 2, 3, 4])
    assert cells_of(support, np.array(4)).tolist() == [0, 1, 2, 2, 1]


@pytest.mark.parametrize("functions", [0, 64])
def test_documents_of_two_templates_are_two_clusters(functions):
    matrix = two_templates(12)
    clusters = Estimated(matrix, functions) if functions else Counted(matrix)
    assert merge_greedily(clusters, 12).tolist() == [0, 1] * 6


def test_the_estimate_comes_near_the_count_with_many_functions():
    matrix = two_templates(8)
    counted, estimated = Counted(matrix), Estimated(matrix, 2_000)
    for clusters in (counted, estimated):
        for other in (2, 4, 6):
            clusters.merge(0, other)
    assert estimated.costs()[0] == pytest.approx(counted.costs()[0], rel=0.05)
    assert estimated.merged_costs(0)[1] == pytest.approx(counted.merged_costs(0)[1], rel=0.05)


def test_counting_merges_as_a_literal_search_does():
    random = np.random.default_rng(0)
    for _ in range(20):
        matrix = random.random((6, 9)) < 0.5
        groups = [[number] for number in range(6)]

        def cost(group: list[int], matrix: np.ndarray = matrix) -> int:
            return int(cells_of(matrix[group].sum(axis=0), np.array(len(group))).sum())

        while pairs := [pair for pair in product(groups, groups) if pair[0] < pair[1]]:
            gains = [cost(one + other) - cost(one) - cost(other) for one, other in pairs]
            if min(gains) >= 0:
                break
            one, other = pairs[int(np.argmin(gains))]
            groups = sorted([each for each in groups if each not in (one, other)] + [[one[0], *one[1:], *other]])
        labels = merge_greedily(Counted(matrix), 6)
        assert sorted(sorted(group) for group in groups) == sorted(
            np.flatnonzero(labels == label).tolist() for label in range(labels.max() + 1)
        )
