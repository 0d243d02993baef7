"""TEXT-MDL: the cost of the three matrices, the template, and merging that only ever lowers the cost."""

from collections import Counter
from itertools import combinations, pairwise
from math import log2

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from winnow.papers.mdl import NOTHING, PathSets, clustering_cost, merge_by_minhash, merge_exactly, template_paths

DOCUMENTS = st.lists(st.sets(st.integers(0, 7), min_size=1), min_size=2, max_size=6)


def _sets(documents):
    return PathSets.of([np.array(sorted(document), np.uint64) for document in documents])


def _entropy(share):
    return 0.0 if share in {0, 1} else -share * log2(share) - (1 - share) * log2(1 - share)


def _cost(documents, clusters):
    """The bits of the three matrices, column by column and cluster by cluster."""
    paths = sorted(set().union(*documents))
    columns = Counter(tuple(path in document for document in documents) for path in paths)
    bits = 0.0
    for cluster in clusters:
        n = len(cluster)
        bits += n * log2(len(documents) / n)
        known = set()
        for column, weight in columns.items():
            within = tuple(column[document] for document in cluster)
            exceptions = n * _entropy(sum(within) / n) + (log2(n + 1) / 2 if 0 < sum(within) < n else 0)
            bits += min(exceptions, 2 * log2(len(columns))) if within in known else exceptions
            known.add(within)
            if any(within):
                bits += (max(1, log2(len(paths))) + weight) * min(1, -log2(sum(column) / len(column)))
    return bits


def _clusters(labels):
    return [set(np.flatnonzero(labels == label).tolist()) for label in range(labels.max() + 1)]


@settings(max_examples=30, deadline=None)
@given(DOCUMENTS, st.data())
def test_the_cost_is_that_of_templates_members_and_exceptions(documents, data):
    raw = data.draw(st.lists(st.integers(0, 2), min_size=len(documents), max_size=len(documents)))
    labels = np.unique(raw, return_inverse=True)[1]
    assert clustering_cost(_sets(documents), labels) == pytest.approx(_cost(documents, _clusters(labels)))


@given(DOCUMENTS)
def test_the_template_of_a_cluster_has_what_most_of_its_documents_have(documents):
    labels = np.arange(len(documents)) % 2
    for template, cluster in zip(template_paths(_sets(documents), labels), _clusters(labels), strict=True):
        support = Counter(path for document in cluster for path in documents[document])
        assert set(template.tolist()) == {path for path, s in support.items() if 2 * s > len(cluster)}


def _greedy(documents):
    """Merge the pair that lowers the cost most, every cost computed anew."""
    sets = _sets(documents)
    labels = np.arange(len(documents))
    costs = [clustering_cost(sets, labels)]
    while labels.max() > 0:
        merged = [np.where(labels == j, i, labels - (labels > j)) for i, j in combinations(range(labels.max() + 1), 2)]
        after = np.array([clustering_cost(sets, each) for each in merged])
        best = int(np.argmax(after <= after.min() + NOTHING))
        if after[best] >= costs[-1] - NOTHING:
            break
        labels = merged[best]
        costs.append(float(after[best]))
    return labels, costs


@settings(max_examples=60, deadline=None)
@given(DOCUMENTS)
@example([{0}, {1}, {2}, {0, 1, 3, 4, 5}])  # a merge that changes nothing but for rounding
def test_exact_merging_is_the_greedy_search_over_all_pairs(documents):
    found = merge_exactly(_sets(documents))
    labels, costs = _greedy(documents)
    assert found.labels.tolist() == labels.tolist()
    assert found.costs == pytest.approx(costs)


@settings(max_examples=60, deadline=None)
@given(DOCUMENTS)
def test_no_merge_raises_the_cost(documents):
    sets = _sets(documents)
    exact = merge_exactly(sets)
    assert all(after < before for before, after in pairwise(exact.costs))
    assert exact.costs[-1] == pytest.approx(clustering_cost(sets, exact.labels))
    estimated = merge_by_minhash(sets)
    assert all(after <= before + 1e-9 for before, after in pairwise(estimated.costs))


def test_clusters_are_numbered_by_their_first_documents():
    documents = [{1, 2, 3, 4}, {11, 12, 13, 14}, {1, 2, 3, 4}, {21, 22, 23}, {11, 12, 13, 14}, {21, 22, 23}]
    assert merge_exactly(_sets(documents)).labels.tolist() == [0, 1, 0, 2, 1, 2]
    assert merge_by_minhash(_sets(documents)).labels.tolist() == [0, 1, 0, 2, 1, 2]


def test_documents_without_paths_and_single_documents_are_clusters():
    for merge in (merge_exactly, merge_by_minhash):
        assert merge(_sets([{1, 2}])).labels.tolist() == [0]
        assert merge(_sets([set(), {1, 2, 3}, set(), {1, 2, 3}])).labels.tolist()[::2] == [0, 0]
