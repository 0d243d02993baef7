"""Pages are clustered by template: each cluster labels its pages, and merging lowers the MDL cost."""

import random
from collections import Counter
from itertools import combinations
from math import log2

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tamis_papers.clustering import NOTHING, merge_documents
from tamis_papers.experiments.harness import HtmlPages
from tamis_papers.methods import METHODS
from tests.prose import WORDS
from tests.tamis.chosen import texts_of


def _words(chance, number):
    return " ".join(chance.choice(WORDS) for _ in range(number))


def _menu(chance):
    return "<nav><ul>" + "".join(f"<li><a href=/{n}>Section {n}</a>" for n in range(6)) + "</ul></nav>"


def _article(chance):
    paragraphs = "".join(f"<p>{_words(chance, 30)}</p>" for _ in range(chance.randint(2, 9)))
    share = "<div><h4>Share this story</h4><ul><li>By post<li>By wire<li>By pigeon</ul></div>"
    return f"<article><h1>{_words(chance, 5)}</h1>{paragraphs}{share}</article>"


def _listing(chance):
    rows = "".join(f"<tr><td>{_words(chance, 4)}<td>{chance.random()}" for _ in range(chance.randint(4, 12)))
    table = f"<table><tr><th>Title<th>Year{rows}</table>"
    return f"<section><form><label>Search the list</label><input></form>{table}</section>"


def _product(chance):
    facts = "".join(f"<dt>{fact}<dd>{_words(chance, 2)}" for fact in ("Weight", "Colour", "Made in", "Care"))
    return f"<main><h2>{_words(chance, 3)}</h2><dl>{facts}</dl><button>Add to basket</button><p>Free returns</p></main>"


KINDS = (_article, _listing, _product)


def _shop(pages, seed=0):
    """Pages of three templates in turn, and which template each is of."""
    chance = random.Random(seed)
    html = [
        f"<html><body><header><p>The Harbour Shop</p>{_menu(chance)}</header>{KINDS[number % 3](chance)}"
        "<footer><p>All rights reserved</p></footer></body></html>"
        for number in range(pages)
    ]
    return [(f"https://shop.example/{n}", page.encode()) for n, page in enumerate(html)], np.arange(pages) % 3


@pytest.mark.parametrize("sample", [400, 20])
def test_a_host_of_three_templates_is_three_clusters_also_by_a_sample_of_its_pages(sample):
    html, kinds = _shop(45)
    learned = METHODS["clusters"](sample=sample).learn(HtmlPages.from_html(html))
    assert learned.pages == 45
    assert sorted(set(kinds[group].tolist()).pop() for group in learned.groups) == [0, 1, 2]
    assert all(len(set(kinds[group].tolist())) == 1 for group in learned.groups)


def test_the_template_of_a_cluster_is_what_its_pages_share():
    html, _ = _shop(45)
    pages = HtmlPages.from_html(html)
    learned = METHODS["clusters"]().learn(pages)
    said = {0: "Share this story", 1: "Search the list", 2: "Add to basket"}
    for number in range(6):
        read = pages.read(number)
        texts = texts_of(read.page, learned.label(read).template)
        assert {"The Harbour Shop", "Section 3", "All rights reserved", said[number % 3]} <= set(texts)
        assert not any(any(f"{word} " in text for word in WORDS) for text in texts)


def test_a_new_page_is_labelled_by_the_nearest_cluster():
    learned = METHODS["clusters"]().learn(HtmlPages.from_html(_shop(45)[0]))
    others = HtmlPages.from_html(_shop(51, seed=1)[0])
    said = ("Share this story", "Search the list", "Add to basket")
    for number in range(45, 51):
        read = others.read(number)
        assert said[number % 3] in texts_of(read.page, learned.label(read).template)


def test_copies_go_with_their_originals():
    html, _ = _shop(30)
    copies = [(f"{url}?print=1", page) for url, page in html[:5]]
    learned = METHODS["clusters"]().learn(HtmlPages.from_html(html + copies))
    assert learned.pages == 30
    where = {number: cluster for cluster, numbers in enumerate(learned.groups) for number in numbers}
    assert sorted(where) == list(range(35))
    assert [where[30 + n] for n in range(5)] == [where[n] for n in range(5)]


DOCUMENTS = st.lists(st.sets(st.integers(0, 7), min_size=1), min_size=2, max_size=6)


def _entropy(share):
    return 0.0 if share in {0, 1} else -share * log2(share) - (1 - share) * log2(1 - share)


def _cost(documents, clusters):
    """The bits of the three matrices, column by column and cluster by cluster."""
    paths = sorted(set().union(*documents))
    columns = Counter(tuple(path in document for document in documents) for path in paths)
    bits = 0.0
    for members in clusters:
        n = len(members)
        bits += n * log2(len(documents) / n)
        known = set()
        for column, weight in columns.items():
            within = tuple(column[document] for document in members)
            exceptions = n * _entropy(sum(within) / n) + (log2(n + 1) / 2 if 0 < sum(within) < n else 0)
            bits += min(exceptions, 2 * log2(len(columns))) if within in known else exceptions
            known.add(within)
            if any(within):
                bits += (max(1, log2(len(paths))) + weight) * min(1, -log2(sum(column) / len(column)))
    return bits


def _greedy(documents):
    """Merge the pair of clusters that lowers the cost most, every cost computed anew."""
    clusters = [[document] for document in range(len(documents))]
    cost = _cost(documents, clusters)
    while len(clusters) > 1:
        merged = [
            [*clusters[:i], clusters[i] + clusters[j], *clusters[i + 1 : j], *clusters[j + 1 :]]
            for i, j in combinations(range(len(clusters)), 2)
        ]
        after = np.array([_cost(documents, each) for each in merged])
        best = int(np.argmax(after <= after.min() + NOTHING))
        if after[best] >= cost - NOTHING:
            break
        clusters, cost = merged[best], after[best]
    return [label for document in range(len(documents)) for label, each in enumerate(clusters) if document in each]


@settings(max_examples=15, deadline=None)
@given(DOCUMENTS)
@example([{0}, {1}, {2}, {0, 1, 3, 4, 5}])  # a merge that changes nothing but for rounding
def test_merging_is_the_greedy_search_over_all_pairs(documents):
    matrix = np.array([[path in document for path in range(8)] for document in documents])
    assert merge_documents(matrix[:, matrix.any(axis=0)]).tolist() == _greedy(documents)
