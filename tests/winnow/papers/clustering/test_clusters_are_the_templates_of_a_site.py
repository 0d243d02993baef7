"""Clusters as a site method: a host of several templates comes out as several clusters, each with its template."""

import random

import numpy as np
import pytest

from demo.web import build_site
from winnow.page.page import Page
from winnow.papers.clustering import Clustering, cluster
from winnow.papers.mdl import path_hashes
from winnow.papers.methods import method
from winnow.papers.pages import SiteError, SitePages

WORDS = ["wind", "river", "stone", "glass", "paper", "cloud", "salt", "iron", "lemon", "harbour", "winter", "garden"]


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


@pytest.mark.parametrize("variant", ["exact", "minhash"])
def test_a_host_of_three_templates_is_three_clusters(variant):
    html, kinds = _shop(45)
    learned = method("clusters", variant=variant).learn(SitePages.of_html(html))
    assert learned.pages == 45
    assert learned.clusters == [np.flatnonzero(kinds == kind).tolist() for kind in range(3)]


def test_the_template_of_a_cluster_is_what_its_pages_share():
    html, _ = _shop(45)
    pages = SitePages.of_html(html)
    learned = method("clusters").learn(pages)
    said = {0: "Share this story", 1: "Search the list", 2: "Add to basket"}
    for number in range(6):
        read = pages.read(number)
        template = learned.label(read).template[read.page.n :]
        texts = [text for text, chosen in zip(read.page.block_texts(), template.tolist(), strict=True) if chosen]
        assert {"The Harbour Shop", "Section 3", "All rights reserved", said[number % 3]} <= set(texts)
        assert not any(any(f"{word} " in text for word in WORDS) for text in texts)


def test_an_element_is_template_when_all_that_it_says_is():
    html, _ = _shop(45)
    pages = SitePages.of_html(html)
    read = pages.read(0)
    template = method("clusters").learn(pages).label(read).template
    chosen = {element.tag for element, is_template in zip(read.page.elements, template, strict=False) if is_template}
    assert chosen >= {"header", "nav", "footer", "h4"}
    assert not chosen & {"html", "body", "article", "h1"}


def test_a_new_page_is_labelled_by_the_nearest_cluster():
    learned = method("clusters").learn(SitePages.of_html(_shop(45)[0]))
    others = SitePages.of_html(_shop(51, seed=1)[0])
    said = ("Share this story", "Search the list", "Add to basket")
    for number in range(45, 51):
        read = others.read(number)
        template = learned.label(read).template[read.page.n :]
        assert template[read.page.block_texts().index(said[number % 3])]


def test_copies_go_with_their_originals():
    html, _ = _shop(30)
    copies = [(f"{url}?print=1", page) for url, page in html[:5]]
    learned = method("clusters").learn(SitePages.of_html(html + copies))
    assert learned.pages == 30
    where = {number: cluster for cluster, numbers in enumerate(learned.clusters) for number in numbers}
    assert sorted(where) == list(range(35))
    assert [where[30 + n] for n in range(5)] == [where[n] for n in range(5)]


def test_templates_of_the_demo_hosts_come_apart():
    for name, most_of_a_kind in (("forum", 0.95), ("shop", 0.95)):
        site = build_site(name)
        truth = [page for page in site.truth.values() if page.kind in {"article", "listing"}]
        documents = [path_hashes(Page.parse(site.resources[page.path].body)) for page in truth]
        labels = cluster(documents).labels
        kinds = np.array([page.kind == "listing" for page in truth])
        assert labels.max() > 0, name
        pure = sum(max(kinds[labels == label].sum(), (~kinds)[labels == label].sum()) for label in set(labels.tolist()))
        assert pure / len(truth) >= most_of_a_kind, name


@pytest.mark.parametrize(
    "pages", [[], [b"<p>alone"], [b"<p>the same"] * 5, [b"", b"", b"<p>one"]], ids=["none", "one", "copies", "empty"]
)
def test_too_few_different_pages_are_a_clear_error(pages):
    site = SitePages.of_html([(f"https://a.example/{n}", page) for n, page in enumerate(pages)])
    with pytest.raises(SiteError, match="2 pages with different text are needed"):
        method("clusters").learn(site)


def test_parameters_are_checked():
    for parameters, message in (
        ({"least_support": 1.5}, "least_support is a share"),
        ({"variant": "best"}, "variant must be one of auto, exact, minhash"),
        ({"functions": 256}, "functions must be from 1 to 255"),
        ({"sample": 1}, "sample must be at least 2 pages"),
    ):
        with pytest.raises(ValueError, match=message):
            method("clusters", **parameters)
    with pytest.raises(ValueError, match="no documents"):
        cluster([])


def test_few_documents_are_clustered_exactly_and_many_by_minhash(monkeypatch):
    documents = [path_hashes(Page.parse(page)) for _, page in _shop(12)[0]]
    exact = cluster(documents, variant="exact").costs
    assert cluster(documents).costs == exact
    monkeypatch.setattr("winnow.papers.clustering.AUTO_EXACT", 11)
    assert cluster(documents).costs == cluster(documents, variant="minhash").costs != exact


def _planted(templates, pages, seed):
    """Documents of templates of 30 paths, and words; half of the pages of a template have a part of it besides.

    A part has six paths of its own, and one of each of three other templates.
    """
    chance = np.random.default_rng(seed)
    truth = chance.integers(templates, size=pages)
    begins = 1_000 * np.arange(1, templates + 1)
    documents = []
    for template in truth.tolist():
        others = [begins[(template + n) % templates] + n for n in (1, 2, 3)]
        part = [*range(begins[template] + 100, begins[template] + 106), *others] if chance.random() < 0.5 else []
        words = chance.integers(10**6, 10**9, 20).tolist()
        documents.append(
            np.array([*range(40), *range(begins[template], begins[template] + 30), *part, *words], np.uint64)
        )
    return documents, truth


@pytest.mark.parametrize("variant", ["exact", "minhash"])
def test_the_number_of_clusters_is_that_of_the_templates_however_many_pages_there_are(variant):
    documents, truth = _planted(6, 3_000, seed=4)
    for number in (100, 300, 3_000):
        labels = cluster(documents[:number], variant=variant).labels
        pairs = set(zip(labels.tolist(), truth[:number].tolist(), strict=True))
        assert len(pairs) == labels.max() + 1 == 6


def test_the_nearest_template_is_not_the_one_that_holds_most():
    templates = [np.array(paths, np.uint64) for paths in ([1, 2, 3, 4], [1, 2], [1, 2, 3, 4, 5, 6, 7])]
    found = Clustering(np.arange(3), templates, [])
    assert [found.nearest(np.array(paths, np.uint64)) for paths in ([1, 2, 99], [1, 3, 4, 99], [2, 5, 6])] == [1, 0, 2]
