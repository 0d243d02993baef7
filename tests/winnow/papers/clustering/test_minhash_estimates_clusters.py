"""Signatures of clusters: least ranks, by which near clusters are found, and the support of columns, for their cost."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from winnow.papers.mdl import Partners, PathSets, Signatures, clustering_cost, merge_by_minhash, merge_exactly


def _sets(documents):
    return PathSets.of([np.array(sorted(document), np.uint64) for document in documents])


def _random_documents(documents, paths, seed, share=0.4):
    chance = np.random.default_rng(seed)
    return [set(np.flatnonzero(chance.random(paths) < share).tolist()) for _ in range(documents)]


def _merge_all(documents, functions):
    signatures = Signatures.of(_sets(documents), functions)
    for other in range(1, len(documents)):
        signatures.merge(0, other)
    return signatures


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sets(st.integers(0, 9), min_size=1), min_size=1, max_size=5))
def test_a_merged_signature_is_that_of_all_documents(documents):
    sets = _sets(documents)
    alone = Signatures.of(sets, 16)
    merged = _merge_all(documents, 16)
    assert merged.rank[:, 0].tolist() == alone.rank.min(axis=1).tolist()
    assert merged.cells[0].tolist() == alone.cells.sum(axis=0).tolist()
    cost = merged.bits(np.array([0]))[0] + merged.cost.of_all
    assert cost == pytest.approx(clustering_cost(sets, np.zeros(len(documents), np.int64)))


def test_shared_least_ranks_estimate_the_jaccard_coefficient():
    documents = _random_documents(12, 400, seed=1)
    shared = Signatures.of(_sets(documents), 255).jaccard_with(0)
    true = [len(documents[0] & each) / len(documents[0] | each) for each in documents]
    assert shared / 255 == pytest.approx(true, abs=0.12)  # three standard errors are 0.09
    assert shared[0] == 255


def test_what_merging_would_cost_is_what_it_costs():
    documents = _random_documents(6, 80, seed=3)
    signatures = Signatures.of(_sets(documents), 64)
    expected = signatures.bits_merged(2, np.array([4]))
    signatures.merge(2, 4)
    assert signatures.bits(np.array([2])).tolist() == expected.tolist()


def _templates(clusters, pages, seed):
    """Documents of templates of 60 paths, 15 of them common to all; in each a tenth of its paths is missing."""
    chance = np.random.default_rng(seed)
    documents, truth = [], []
    for _ in range(pages):
        template = int(chance.integers(clusters))
        paths = {*range(15), *range(1_000 * (template + 1), 1_000 * (template + 1) + 45)}
        documents.append({path for path in paths if chance.random() > 0.1})
        truth.append(template)
    return documents, np.array(truth)


def _same_partition(one, other):
    return (
        len(set(zip(one.tolist(), other.tolist(), strict=True))) == len(set(one.tolist())) == len(set(other.tolist()))
    )


@pytest.mark.parametrize("seed", range(3))
def test_templates_with_slips_are_told_apart_by_both_variants(seed):
    documents, truth = _templates(4, 60, seed)
    sets = _sets(documents)
    assert _same_partition(merge_exactly(sets).labels, truth)
    assert _same_partition(merge_by_minhash(sets).labels, truth)


def test_the_estimated_search_comes_close_to_the_exact_one():
    documents, _ = _templates(6, 150, seed=9)
    sets = _sets(documents)
    exact, estimated = merge_exactly(sets), merge_by_minhash(sets)
    assert clustering_cost(sets, estimated.labels) <= 1.1 * exact.costs[-1]
    assert estimated.costs[-1] == pytest.approx(clustering_cost(sets, estimated.labels))


def test_the_pair_that_is_merged_is_always_one_of_nearest():
    documents, _ = _templates(5, 40, seed=2)
    partners = Partners(signatures := Signatures.of(_sets(documents), 64))
    living = set(range(40))
    for _ in range(10):  # few enough for the arrays to keep their length
        one, other, change = partners.best()
        shared = signatures.jaccard_with(one)
        assert other in living
        assert shared[other] == max(shared[each] for each in living - {one})
        apart = signatures.bits(np.array([one, other])).sum()
        assert change == pytest.approx(signatures.bits_merged(one, np.array([other]))[0] - apart)
        partners.merge(one, other)
        living.remove(other)
