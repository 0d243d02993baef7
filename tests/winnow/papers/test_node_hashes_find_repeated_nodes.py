import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from winnow.page.page import Page
from winnow.papers.methods import method
from winnow.papers.pages import SiteError, SitePages
from winnow.papers.repeats import NodeHashes

MENU = "<ul id=menu><li><a href=/>Home</a><li><a href=/news>News</a><li><a href=/shop>Shop</a></ul>"


def document(k: int, menu: str = MENU, date: str = "") -> bytes:
    return (
        f"<html><body>{menu}{date}<div id=foot>All rights reserved</div>"
        f"<div id=main><h1>Story {k}</h1><p>Text that only page {k} has.</div></body></html>"
    ).encode()


def site(*pages: bytes) -> SitePages:
    return SitePages.of_html([(f"https://example.org/{k}", html) for k, html in enumerate(pages)])


def template_texts(pages: SitePages, chosen: NodeHashes, number: int = 0) -> list[str]:
    read = pages.read(number)
    label = chosen.learn(pages).label(read).template
    return [text for text, yes in zip(read.page.block_texts(), label[read.page.n :], strict=True) if yes]


def test_nodes_that_all_pages_have_are_template_and_others_are_not() -> None:
    pages = site(*(document(k) for k in range(8)))
    read = pages.read(0)
    label = NodeHashes().learn(pages).label(read).template
    by_id = {name: bool(label[number]) for number, name in read.page.attribute("id").items()}
    assert by_id == {"menu": True, "foot": True, "main": False}
    assert template_texts(pages, NodeHashes()) == ["Home", "News", "Shop", "All rights reserved"]


@pytest.mark.parametrize(("least", "found"), [(8, True), (9, False)])
def test_the_lower_threshold_counts_occurrences(least: int, found: bool) -> None:
    pages = site(*(document(k) for k in range(8)))
    assert ("Home" in template_texts(pages, NodeHashes(least=least))) == found


def test_the_lower_threshold_grows_with_the_pages() -> None:
    some = [document(k, menu=MENU if k < 5 else "") for k in range(20)]
    assert "Home" in template_texts(site(*some), NodeHashes(least_share=0.25, least=1))
    assert "Home" not in template_texts(site(*some), NodeHashes(least_share=0.26, least=1))


def test_a_lower_threshold_of_one_takes_the_whole_page() -> None:
    pages = site(*(document(k) for k in range(5)))
    read = pages.read(3)
    learned = NodeHashes(least=1, least_share=0).learn(pages)
    assert learned.label(read).template.all()
    (whole,) = learned.templates(read)
    assert read.html[whole.begin : whole.end] == read.html


def test_the_upper_threshold_leaves_out_what_is_everywhere() -> None:
    pages = site(*(document(k, menu="<p>one</p><p>two</p>" + f"<i>-</i> {k} " * 30) for k in range(6)))
    dashes = [("-" in text) for text in template_texts(pages, NodeHashes(once_per_page=False, most_per_page=20, gap=0))]
    assert not any(dashes)
    read = pages.read(0)
    label = NodeHashes(once_per_page=False, most_per_page=0, gap=0).learn(pages).label(read).template
    assert all(label[number] for number, element in enumerate(read.page.elements) if element.tag == "i")


def test_all_occurrences_count_or_one_a_page() -> None:
    pages = site(*(document(k, menu="<p>twice</p><p>twice</p>" if k < 3 else "") for k in range(8)))
    assert "twice" in template_texts(pages, NodeHashes(least=6, once_per_page=False))
    assert "twice" not in template_texts(pages, NodeHashes(least=6))
    assert "twice" in template_texts(pages, NodeHashes(least=3))


def test_only_topmost_nodes_are_templates() -> None:
    pages = site(*(document(k, date=f"<p>{k}</p>") for k in range(8)))
    read = pages.read(2)
    found = NodeHashes(gap=0).learn(pages).templates(read)
    pieces = [read.html[each.begin : each.end].decode() for each in found]
    assert pieces == [MENU, "<div id=foot>All rights reserved</div>"]
    assert [each.nodes for each in found] == [1, 1]


@pytest.mark.parametrize(("gap", "joined"), [(26, True), (25, False)])
def test_siblings_are_joined_across_small_gaps(gap: int, joined: bool) -> None:
    pages = site(*(document(k, date=f"<em class=date>{k:04}</em>") for k in range(8)))  # 26 with quotes
    read = pages.read(1)
    learned = NodeHashes(gap=gap).learn(pages)
    first = learned.templates(read)[0]
    expected = MENU + ("<em class=date>0001</em><div id=foot>All rights reserved</div>" if joined else "")
    assert read.html[first.begin : first.end].decode() == expected
    assert ("0001" in template_texts(pages, NodeHashes(gap=gap), 1)) == joined


def test_gaps_are_not_joined_over_borders_of_elements() -> None:
    pages = site(*(document(k, menu=f"<div>{MENU}</div>{k}", date=f"<div>{k}<b>bold</b></div>") for k in range(8)))
    assert "0 bold" not in template_texts(pages, NodeHashes(gap=0))


def test_hashes_are_literal() -> None:
    pages = site(*(document(k, menu=MENU.replace("menu", f"menu-{k}")) for k in range(8)))
    read = pages.read(0)
    label = NodeHashes(gap=0).learn(pages).label(read).template
    tags = [element.tag for element in read.page.elements]
    assert not label[tags.index("ul")]
    assert label[tags.index("li")]


def test_text_of_changing_elements_is_still_found() -> None:
    pages = site(*(document(k, date=f"<p id=p{k}>Printed by machine</p>") for k in range(8)))
    assert "Printed by machine" in template_texts(pages, NodeHashes(gap=0))


def test_new_pages_of_the_site_are_labelled_too() -> None:
    learned = NodeHashes().learn(site(*(document(k) for k in range(8))))
    read = site(document(99)).read(0)
    assert learned.label(read).template[read.page.n :].tolist() == [True] * 4 + [False] * 2


def test_copies_of_pages_do_not_count() -> None:
    copies = [document(0)] * 10
    with pytest.raises(SiteError, match="2 pages with different text are needed to see what repeats, there are 1"):
        NodeHashes().learn(site(*copies))
    learned = NodeHashes().learn(site(*copies, *(document(k) for k in range(1, 4))))
    assert learned.pages == 4


@pytest.mark.parametrize("wrong", [{"least": 0}, {"gap": -1}, {"least_share": -0.1}, {"most_per_page": 0.01}])
def test_parameters_that_will_not_do_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="must"):
        method("node-hashes", **wrong)


WORDS = st.lists(st.sampled_from(["alpha", "beta", "gamma", "delta", "&amp;"]), min_size=1, max_size=4).map(" ".join)


@settings(max_examples=40, deadline=None)
@given(st.lists(WORDS, min_size=1, max_size=4), st.booleans())
def test_any_template_of_a_generated_site_is_found_to_the_byte(parts: list[str], unclosed: bool) -> None:
    end = "" if unclosed else "</li>"
    template = "<ul class=t>" + "".join(f"<LI>{part}{end}" for part in parts) + "</ul>"
    sources = [f"<p>unique number {k}\r\n{template}<p>own text {k}".encode() for k in range(5)]
    pages = site(*sources)
    learned = NodeHashes().learn(pages)
    for number, source in enumerate(sources):
        read = pages.read(number)
        assert [source[each.begin : each.end].decode() for each in learned.templates(read)] == [template]
        page = Page.parse(source)
        label = learned.label(read).template[page.n :]
        in_list = np.array([page.elements[node].tag == "li" for node in page.block_node])
        assert (label == in_list).all()
