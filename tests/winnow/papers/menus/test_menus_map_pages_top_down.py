"""The exact top-down mapping against the recursion of Algorithm 2, with each equality."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from winnow.page.page import Page
from winnow.papers.menu_mapping import EQUALITIES, Likeness, Profile, Weighted, equality_of, mapped_units, template_of

ATTRIBUTES = st.sampled_from(["", " id=a", " id=b", " class='x y'", " class=x", " class='y z' title=t", " title=t"])
TREES = st.recursive(
    st.sampled_from(["red", "blue", "<br>"]),
    lambda inner: st.tuples(st.sampled_from(["div", "section"]), ATTRIBUTES, st.lists(inner, max_size=4)),
    max_leaves=14,
)
DOCUMENTS = st.tuples(ATTRIBUTES, st.lists(TREES, max_size=3))


def _html(tree):
    if isinstance(tree, str):
        return tree
    return f"<{tree[0]}{tree[1]}>{''.join(map(_html, tree[2]))}</{tree[0]}>"


def _page(document):
    attributes, trees = document
    return Page.parse(f"<html><body{attributes}>{''.join(map(_html, trees))}</body></html>", "http://a.example/")


def _children(page, node):
    return [child for child in range(page.n) if page.parent[child] == node]


def _texts(page, node):
    texts = page.block_texts()
    return {block: texts[block] for block in range(page.m) if page.block_node[block] == node}


def _recursive_etdm(one, other, equal):
    """Function ETDM of Algorithm 2, as printed, with texts as leaves that are equal when they say the same."""
    profiles = Profile.of(one), Profile.of(other)

    def same(node, partner):
        return bool(equal.between(*profiles)(np.array([node]), np.array([partner]))[0])

    def etdm(node, partner):
        said = set(_texts(other, partner).values())
        mapped = {node} | {one.n + block for block, text in _texts(one, node).items() if text in said}
        for child in _children(one, node):
            for its_partner in _children(other, partner):
                if same(child, its_partner):
                    mapped |= etdm(child, its_partner)
        return mapped

    return etdm(0, 0) if same(0, 0) else set()


@settings(max_examples=60, deadline=None)
@given(DOCUMENTS, DOCUMENTS, st.sampled_from(EQUALITIES), st.sampled_from([0.3, 0.5, 0.8]))
def test_the_mapping_is_that_of_the_recursion(one, other, name, threshold):
    first, second = _page(one), _page(other)
    equal = equality_of(name, threshold)
    mapped = mapped_units(Profile.of(first), Profile.of(second), equal)
    assert set(np.flatnonzero(mapped).tolist()) == _recursive_etdm(first, second, equal)


@settings(max_examples=25, deadline=None)
@given(DOCUMENTS, st.lists(DOCUMENTS, min_size=1, max_size=3), st.sampled_from(EQUALITIES))
def test_the_template_is_what_is_mapped_to_all_pages(key_page, others, name):
    equal = equality_of(name)
    key, pages = _page(key_page), [_page(other) for other in others]
    template = template_of(Profile.of(key), [Profile.of(page) for page in pages], equal)
    expected = set.intersection(*(_recursive_etdm(key, page, equal) for page in pages))
    assert set(np.flatnonzero(template).tolist()) == expected


@settings(max_examples=60, deadline=None)
@given(DOCUMENTS, st.sampled_from(EQUALITIES))
def test_a_page_is_mapped_to_itself(document, name):
    profile = Profile.of(_page(document))
    assert mapped_units(profile, profile, equality_of(name)).all()


def _mapped_tags(one, other, equality):
    pages = [Page.parse(html, "http://a.example/") for html in (one, other)]
    mapped = mapped_units(*map(Profile.of, pages), equality)
    return [pages[0].elements[node].tag for node in np.flatnonzero(mapped[: pages[0].n])]


def test_equality_by_tag_or_by_attributes_is_strict_or_not():
    one = "<body class=home><div class=menu><ul id=a><li>x</ul></div><p class=lead>y</p></body>"
    other = "<body class=page><div class=menu><ul id=b><li>x</ul></div><p>y</p></body>"
    assert _mapped_tags(one, other, equality_of("tag")) == ["html", "body", "div", "ul", "li", "p"]
    assert _mapped_tags(one, other, equality_of("attributes")) == ["html", "body", "div"]


def test_states_in_class_names_make_no_difference():
    one = "<body><ul><li class='item current'>x</li></ul></body>"
    other = "<body><ul><li class='item'>x</li></ul></body>"
    assert _mapped_tags(one, other, equality_of("attributes")) == ["html", "body", "ul", "li"]


def _likeness(one, other):
    profiles = [Profile.of(Page.parse(f"<body>{html}</body>", "http://a.example/")) for html in (one, other)]
    return Likeness(Weighted(), *profiles)(np.array([2]), np.array([2]))[0]


def test_the_weighted_likeness_is_a_mean_of_what_either_has():
    # weights: id, classes and other attributes 1, children and place 0.5; there is one element, so places agree
    assert _likeness("<p>x</p>", "<p>y</p>") == 1
    assert _likeness("<p id=a>x</p>", "<p id=b>x</p>") == pytest.approx(0.5 / 1.5)
    assert _likeness("<p class='a b'>x</p>", "<p class='b c'>x</p>") == pytest.approx((1 / 3 + 0.5) / 1.5)
    assert _likeness("<p title=t>x</p>", "<p>x</p>") == pytest.approx(0.5 / 1.5)
    assert _likeness("<p><i>x</i></p>", "<p><i>x</i><i>x</i></p>") == pytest.approx((0.25 + 0.5) / 1)


def test_the_place_among_siblings_counts():
    page = Profile.of(Page.parse("<body><p>a<p>b<p>c</body>"))
    likeness = Likeness(Weighted(), page, page)(np.array([2, 2, 2]), np.array([2, 3, 4]))
    assert likeness.tolist() == [1, 0.5, 0]


def test_long_lists_are_compared_in_steps(monkeypatch):
    one = "<body>" + "".join(f"<div><p class=c{n % 7}>x{n}</p><p>y</p></div>" for n in range(40)) + "</body>"
    other = one.replace("c3", "c9").replace("x5", "z")
    whole = _mapped_tags(one, other, Weighted())
    monkeypatch.setattr("winnow.papers.menu_mapping._AT_ONCE", 50)
    assert _mapped_tags(one, other, Weighted()) == whole
    assert 80 < len(whole) < 122


def test_pages_with_another_root_are_left_out():
    key, other = Profile.of(Page.parse("<html><body><p>x</body></html>")), Profile.of(Page.from_tree(_svg()))
    assert not template_of(key, [other], equality_of("tag")).any()
    assert template_of(key, [other, key], equality_of("tag")).all()
    assert not template_of(key, [], equality_of("tag")).any()


def _svg():
    return Page.parse("<body><svg><g></g></svg></body>").elements[2]


def test_an_unknown_equality_or_threshold_is_refused():
    with pytest.raises(ValueError, match="equality must be one of tag, attributes, weighted: 'class'"):
        equality_of("class")
    with pytest.raises(ValueError, match="threshold must be from 0 to 1"):
        equality_of("weighted", 1.5)


def test_what_stands_under_another_ancestor_is_found_by_what_it_says():
    foot = "<div class=foot><p>The paper of the harbour</p><a href=/x>Imprint</a></div>"
    key = Page.parse(f"<body><div class=a><h1>Sea</h1></div>{foot}<i>Hi</i></body>", "https://a.example/1")
    wrapped = f"<body><section id=all><div class=b><h1>Land</h1></div>{foot}<i>Hi</i></section></body>"
    other = Profile.of(Page.parse(wrapped, "https://a.example/2"))
    weighted, tags = equality_of("weighted"), [str(element.tag) for element in key.elements]
    exact = template_of(Profile.of(key), [other], weighted)
    assert [tags[index] for index in np.flatnonzero(exact[: key.n])] == ["html", "body"]
    anywhere = template_of(Profile.of(key), [other], weighted, 10)
    assert [tags[index] for index in np.flatnonzero(anywhere[: key.n])] == ["html", "body", "div", "p", "a"]
    assert np.array(key.block_texts())[anywhere[key.n :]].tolist() == ["The paper of the harbour", "Imprint"]
