import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from winnow.page.page import Page
from winnow.papers.methods import method
from winnow.papers.pages import SiteError, SitePages
from winnow.papers.repeats import TextWindows
from winnow.papers.source_map import character_offsets

LICENCE = "Permission is granted to copy, distribute and sell this text under the terms of the licence."


def windows(**parameters: float) -> TextWindows:
    """Windows of 32 characters, all of them, unless told otherwise."""
    return TextWindows(**{"window": 32, "density": 1, **parameters})  # type: ignore[arg-type]


def own_text(seed: int, words: int = 60) -> str:
    choice = random.Random(seed)
    return " ".join("".join(choice.choices("abcdefghij", k=choice.randint(3, 9))) for _ in range(words))


def document(k: int, notice: str = LICENCE) -> bytes:
    return (
        f"<body><div class=c{k}><b>{notice[:30]}</b>{notice[30:]}</div>"
        f"<p>{own_text(k)}</p><p>{own_text(k + 500)}<br>Short</p></body>"
    ).encode()


def site(*pages: bytes) -> SitePages:
    return SitePages.of_html([(f"https://example.org/{k}", html) for k, html in enumerate(pages)])


def template_texts(pages: SitePages, chosen: TextWindows, number: int = 0) -> list[str]:
    read = pages.read(number)
    label = chosen.learn(pages).label(read).template
    return [text for text, yes in zip(read.page.block_texts(), label[read.page.n :], strict=True) if yes]


def test_repeated_text_is_template_whatever_its_markup() -> None:
    varied = [document(k).replace(b"<b>", f"<i id={k}>".encode()) if k % 2 else document(k) for k in range(8)]
    pages = site(*varied)
    for number in range(8):
        assert template_texts(pages, windows(), number) == [LICENCE]


def test_elements_are_template_when_all_their_text_is() -> None:
    pages = site(*(document(k) for k in range(8)))
    read = pages.read(0)
    label = windows().learn(pages).label(read).template
    tags = {element.tag for number, element in enumerate(read.page.elements) if label[number]}
    assert tags == {"div", "b"}


@pytest.mark.parametrize(("least", "found"), [(6, True), (7, False)])
def test_a_fragment_has_to_occur_so_often_in_the_sample(least: int, found: bool) -> None:
    pages = site(*(document(k, LICENCE if k < 6 else own_text(k + 100, 15)) for k in range(12)))
    assert (LICENCE in template_texts(pages, windows(least=least))) == found


def test_the_threshold_grows_with_the_sample() -> None:
    pages = site(*(document(k, LICENCE if k < 6 else own_text(k + 100, 15)) for k in range(12)))
    assert LICENCE in template_texts(pages, windows(least=1, share=0.5))
    assert LICENCE not in template_texts(pages, windows(least=1, share=0.51))


@pytest.mark.parametrize(("window", "found"), [(92, True), (93, True), (94, False)])
def test_fragments_are_as_long_as_the_window(window: int, found: bool) -> None:
    assert len(LICENCE) == 92  # and a space behind it
    pages = site(*(document(k) for k in range(8)))
    assert (LICENCE in template_texts(pages, windows(window=window))) == found


def test_a_fragment_counted_on_a_page_is_counted_on_all() -> None:
    pages = site(*(document(k) for k in range(8)))
    learned = [windows(density=density).learn(pages) for density in (1, 4, 16)]
    stretches = [{each.text for each in one.templates(pages.read(0))} for one in learned]
    assert len(stretches[0]) == 1
    for fewer in stretches[1:]:
        assert all(any(text in whole for whole in stretches[0]) for text in fewer)
    # Every 4th fragment of 61 is enough to cover most of the text by windows of 32 characters, on every page alike.
    for number in range(8):
        assert template_texts(pages, windows(density=4), number) == [LICENCE]


def test_overlapping_fragments_are_joined() -> None:
    pages = site(*(document(k) for k in range(8)))
    (found,) = windows().learn(pages).templates(pages.read(0))
    assert found.text == LICENCE


def test_the_sample_is_what_is_counted() -> None:
    pages = site(*(document(k) for k in range(30)))
    learned = windows(sample=12, seed=3).learn(pages)
    assert learned.pages == 12
    for number in (0, 29):
        read = pages.read(number)
        assert learned.label(read).template[read.page.n :].tolist() == [True, False, False, False]
    assert windows(sample=0).learn(pages).pages == 30


def test_all_places_count_or_one_a_page() -> None:
    refrain = " Down by the river, where the willows weep, and nowhere else."
    songs = [
        f"<p>{own_text(k)}{refrain * 2}</p>".encode() if k == 0 else document(k, own_text(k, 15)) for k in range(8)
    ]
    assert template_texts(site(*songs), windows(least=2)) == []
    found = windows(least=2, once_per_page=False).learn(site(*songs)).templates(site(*songs).read(0))
    assert [each.text for each in found] == [(refrain * 2).strip()]


def test_another_seed_takes_other_pages() -> None:
    pages = site(*(document(k, LICENCE if k < 15 else own_text(k + 100, 15)) for k in range(30)))
    found = {LICENCE in template_texts(pages, windows(sample=4, least=2, seed=seed)) for seed in range(12)}
    assert found == {True, False}


def test_places_in_the_source_are_those_of_the_text() -> None:
    notice = "Fish &amp; chips — gr&uuml;ner Sal&#97;t &copy 2020, all rights reserved by ä company of ours"
    sources = [f"<P>{own_text(k)}\r\n<p>  {notice}  </P><!-- {k} --><p>{own_text(k + 50)}".encode() for k in range(6)]
    pages = site(*sources)
    for number, source in enumerate(sources):
        (found,) = windows().learn(pages).templates(pages.read(number))
        assert found.text == "Fish & chips — grüner Salat © 2020, all rights reserved by ä company of ours"
        assert source[found.begin : found.end].decode() == notice


@pytest.mark.parametrize(
    ("source", "run", "offsets"),
    [
        ("a&amp;b", "a&b", [0, 1, 6, 7]),
        ("ä\r\nx", "ä\nx", [0, 2, 4, 5]),
        ("&ampx&", "&x&", [0, 4, 5, 6]),
        ("&bogus;", "&bogus;", [0, 1, 2, 3, 4, 5, 6, 7]),
        ("one</i>two", "onetwo", None),
    ],
)
def test_entities_and_line_ends_are_one_character(source: str, run: str, offsets: list[int] | None) -> None:
    assert Page.parse(f"<pre>x{source}").text == f"x{run}"
    assert character_offsets(source.encode(), run, "utf-8") == offsets


def test_sites_of_copies_are_refused() -> None:
    with pytest.raises(SiteError, match="there are 1"):
        windows().learn(site(*[document(0)] * 5))


@pytest.mark.parametrize("wrong", [{"window": 0}, {"least": 0}, {"share": -1}, {"density": -1}, {"sample": -1}])
def test_parameters_that_will_not_do_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="must"):
        method("text-windows", **wrong)


@settings(max_examples=30, deadline=None)
@given(st.text("abc äé€𝄞", min_size=40, max_size=90), st.integers(4, 8))
def test_any_repeated_text_is_found_and_nothing_else(shared: str, count: int) -> None:
    shared = " ".join(shared.split())
    if len(shared) < 33:
        return
    sources = [f"<p>{own_text(k)} <b>{shared}</b> {own_text(k + 99)}</p>".encode() for k in range(count)]
    pages = site(*sources)
    found = windows().learn(pages).templates(pages.read(0))
    assert len(found) == 1
    assert shared in found[0].text
    assert len(found[0].text) <= len(shared) + 8  # words beside it that happen to begin or end alike
