"""Node hashes and text windows find what a site repeats to the letter."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.folders import SitePages
from tamis_papers.repeats import NodeHashes, TextWindows
from tests.tamis.chosen import by_id, site_of, texts_of

MENU = "<ul id=menu><li><a href=/>Home</a><li><a href=/news>News</a><li><a href=/shop>Shop</a></ul>"


def document(k: int, menu: str = MENU, date: str = "") -> str:
    return (
        f"<html><body>{menu}{date}<div id=foot>All rights reserved</div>"
        f"<div id=main><h1>Story {k}</h1><p>Text that only page {k} has.</div></body></html>"
    )


def template_texts(pages: SitePages, chosen: NodeHashes | TextWindows, number: int = 0) -> list[str]:
    read = pages.read(number)
    return texts_of(read.page, chosen.learn(pages).label(read).template)


def test_nodes_that_all_pages_have_are_template_and_others_are_not() -> None:
    pages = site_of(*(document(k) for k in range(8)))
    read = pages.read(0)
    label = NodeHashes().learn(pages).label(read).template
    assert by_id(read.page, label) == {"menu": True, "foot": True, "main": False}
    assert template_texts(pages, NodeHashes()) == ["Home", "News", "Shop", "All rights reserved"]


def test_the_lower_threshold_grows_with_the_pages() -> None:
    some = [document(k, menu=MENU if k < 5 else "") for k in range(20)]
    assert "Home" in template_texts(site_of(*some), NodeHashes(least_share=0.25, least=1))
    assert "Home" not in template_texts(site_of(*some), NodeHashes(least_share=0.26, least=1))


def test_a_node_counts_once_on_a_page() -> None:
    pages = site_of(*(document(k, menu="<p>twice</p><p>twice</p>" if k < 3 else "") for k in range(8)))
    assert "twice" not in template_texts(pages, NodeHashes(least=4))
    assert "twice" in template_texts(pages, NodeHashes(least=3))


@pytest.mark.parametrize(("gap", "joined"), [(26, True), (25, False)])
def test_siblings_are_joined_across_small_gaps(gap: int, joined: bool) -> None:
    pages = site_of(*(document(k, date=f"<em class=date>{k:04}</em>") for k in range(8)))  # 26 with quotes
    assert ("0001" in template_texts(pages, NodeHashes(gap=gap), 1)) == joined


LICENCE = "Permission is granted to copy, distribute and sell this text under the terms of the licence."


def windows(**parameters: float) -> TextWindows:
    """Windows of 32 characters, all of them, unless told otherwise."""
    return TextWindows(**{"window": 32, "density": 1, **parameters})  # type: ignore[arg-type]


def own_text(seed: int, words: int = 60) -> str:
    choice = random.Random(seed)
    return " ".join("".join(choice.choices("abcdefghij", k=choice.randint(3, 9))) for _ in range(words))


def notice_page(k: int, notice: str = LICENCE) -> str:
    return (
        f"<body><div class=c{k}><b>{notice[:30]}</b>{notice[30:]}</div>"
        f"<p>{own_text(k)}</p><p>{own_text(k + 500)}<br>Short</p></body>"
    )


def test_repeated_text_is_template_whatever_its_markup() -> None:
    varied = [notice_page(k).replace("<b>", f"<i id={k}>") if k % 2 else notice_page(k) for k in range(8)]
    pages = site_of(*varied)
    for number in range(8):
        assert template_texts(pages, windows(), number) == [LICENCE]


@pytest.mark.parametrize(("least", "found"), [(6, True), (7, False)])
def test_a_fragment_has_to_occur_so_often_in_the_sample(least: int, found: bool) -> None:
    pages = site_of(*(notice_page(k, LICENCE if k < 6 else own_text(k + 100, 15)) for k in range(12)))
    assert (LICENCE in template_texts(pages, windows(least=least))) == found


@pytest.mark.parametrize(("window", "found"), [(92, True), (93, True), (94, False)])
def test_fragments_are_as_long_as_the_window(window: int, found: bool) -> None:
    assert len(LICENCE) == 92  # and a space behind it
    pages = site_of(*(notice_page(k) for k in range(8)))
    assert (LICENCE in template_texts(pages, windows(window=window))) == found


@settings(max_examples=15, deadline=None)
@given(st.text("abc äé€𝄞", min_size=40, max_size=90), st.integers(4, 8))
def test_any_repeated_text_is_found_and_nothing_else(shared: str, count: int) -> None:
    shared = " ".join(shared.split())
    if len(shared) < 33:
        return
    sources = [f"<p>{own_text(k)}</p><p><b>{shared}</b></p><p>{own_text(k + 99)}</p>" for k in range(count)]
    assert template_texts(site_of(*sources), windows()) == [shared]
