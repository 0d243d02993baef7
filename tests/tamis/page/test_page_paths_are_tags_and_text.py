"""DOM paths: tags from the root down, and the text at the end; which of them are essential."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.page.page import Page
from tamis_papers.clustering import dom_paths, essential_paths

TREES = st.recursive(
    st.sampled_from(["red", "blue", "long words"]),
    lambda inner: st.tuples(st.sampled_from(["div", "p", "ul", "x-new", "y-new"]), st.lists(inner, max_size=3)),
    max_leaves=12,
)


def _html(tree):
    if isinstance(tree, str):
        return tree
    return f"<{tree[0]}>{''.join(map(_html, tree[1]))}</{tree[0]}>"


def _named_paths(page):
    """The path of each unit as a string, by walking up from it."""

    def of(element):
        above = element.getparent()
        return ("" if above is None else of(above)) + "/" + element.tag

    texts = page.block_texts()
    blocks = [of(page.elements[node]) + "#" + texts[block] for block, node in enumerate(page.block_node.tolist())]
    return [of(element) for element in page.elements] + blocks


@settings(max_examples=25)
@given(st.lists(TREES, min_size=1, max_size=4))
def test_units_have_one_hash_when_their_paths_are_the_same(trees):
    names, hashes = [], []
    for tree in trees:
        page = Page.parse(f"<html><body>{_html(tree)}</body></html>")
        names += _named_paths(page)
        hashes += dom_paths(page).tolist()
    assert len(set(zip(names, hashes, strict=True))) == len(set(names)) == len(set(hashes))


def test_attributes_and_places_say_nothing():
    one = Page.parse("<body><ul><li class=a>first<li id=b>second</ul></body>")
    other = Page.parse("<body><ul class=x><li>second<li>first</ul></body>")
    assert set(dom_paths(one).tolist()) == set(dom_paths(other).tolist())


def _essential(documents, least_support):
    paths, matrix = essential_paths([np.array(list(each), np.uint64) for each in documents], least_support)
    return [set(paths[row].tolist()) for row in matrix]


@settings(max_examples=25)
@given(st.lists(st.lists(st.integers(0, 9)), min_size=1, max_size=6))
def test_the_matrix_has_the_paths_that_documents_share(documents):
    shared = {path for path in range(10) if sum(path in document for document in documents) > 1}
    assert _essential(documents, 0) == [shared & set(document) for document in documents]


def test_paths_of_too_few_documents_are_not_essential():
    documents = [1, 2, 3], [1, 2], [1, 4], [1]
    assert _essential(documents, 0.6) == [{1}, {1}, {1}, {1}]
    assert _essential(documents, 0.5) == [{1, 2}, {1, 2}, {1}, {1}]
    assert _essential(documents, 0.01) == [{1, 2}, {1, 2}, {1}, {1}]  # 2 documents at the least
