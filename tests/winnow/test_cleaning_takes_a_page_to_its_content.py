import gc
import weakref

import numpy as np
import pytest
from lxml import etree, html

import winnow
from winnow.models.scores import FixedThreshold, Scores
from winnow.page.page import Limits, Page
from winnow.page.tags import TAG_ID
from winnow.page.tree import nearest, prefix_sums
from winnow.papers.page_level import constant


class LinkDensity:
    """Share of a text block's characters that lie in links: the oldest page-level model there is."""

    name, version = "link-density", "link-density-1"

    def score(self, page: Page) -> Scores:
        length = np.diff(page.run_offset)
        linked = nearest(page.parent, page.tag == TAG_ID["a"])[page.run_node] >= 0
        all_text, link_text = prefix_sums(length), prefix_sums(length * linked)
        begin, end = page.block_run_begin, page.block_run_end
        mass = all_text[end] - all_text[begin]
        templateness = np.concatenate([np.zeros(page.n), (link_text[end] - link_text[begin]) / mass])
        weight = np.concatenate([np.zeros(page.n, np.int64), mass])
        in_tree = np.ones(page.n + page.m, bool)
        return Scores(templateness, weight, in_tree, constant(page.n + page.m), FixedThreshold(0.5))


MODEL = LinkDensity()
STORY = "<h1>Storm warning</h1><p>Winds of up to 130 km/h are expected <a href=/c>on the coast</a> tonight.</p>"
LATER = STORY.replace("Winds", "Gusts")
MENU = "<nav><ul><li><a href=/>Home page</a><li><a href=/w>All the weather</a></ul></nav>"
PAGE = f"<html><head><title> Storm \n warning </title></head><body>{MENU}<main>{STORY}</main></body></html>"


def test_the_template_is_cut_from_text_html_and_markdown() -> None:
    cleaned = winnow.clean(PAGE, "https://host.example/storm", model=MODEL)
    assert cleaned.text == "Storm warning\n\nWinds of up to 130 km/h are expected on the coast tonight."
    assert "All the weather" not in cleaned.html
    assert "<h1>Storm warning</h1>" in cleaned.html
    assert cleaned.markdown == (
        "# Storm warning\n\nWinds of up to 130 km/h are expected [on the coast](https://host.example/c) tonight."
    )
    assert cleaned.title == "Storm warning"
    assert cleaned.template_share == pytest.approx(24 / (24 + 13 + 58))
    assert not cleaned.fallback
    assert cleaned.passed_through is None
    assert cleaned.model_version == "link-density-1"


@pytest.mark.parametrize(
    "page",
    [
        PAGE,
        PAGE.encode(),
        PAGE.encode("utf-16"),
        etree.fromstring(PAGE, etree.HTMLParser()),
        etree.ElementTree(etree.fromstring(PAGE, etree.HTMLParser())),
        html.fromstring(PAGE),
        Page.parse(PAGE),
    ],
    ids=["str", "bytes", "utf-16", "element", "tree", "lxml.html", "Page"],
)
def test_text_bytes_trees_and_pages_are_taken(page: str | bytes | etree._Element | Page) -> None:
    assert winnow.clean(page, model=MODEL).text == winnow.clean(PAGE, model=MODEL).text


def test_what_was_removed_is_told_with_score_and_reason() -> None:
    cleaned = winnow.clean(PAGE, model=MODEL)
    assert [(s.path, s.score, s.reason) for s in cleaned.removed] == [("/html/body/nav/ul", 1.0, "landmark")]
    assert {s.template for s in cleaned.segments} == {True, False}


def test_smoothing_can_be_switched_off() -> None:
    # Three links in a row and a word between them: alone the word stays, smoothed it goes with its surroundings.
    page = f"<div>{'<p><a href=/x>Some link text here</a></p>' * 3}<p>or</p></div><article>{STORY * 5}</article>"
    assert "or" in winnow.clean(page, model=MODEL, smooth=False).text.split("\n")
    assert "Some link" not in winnow.clean(page, model=MODEL, smooth=False).text
    assert len(winnow.clean(page, model=MODEL).segments) < len(winnow.clean(page, model=MODEL, smooth=False).segments)


def test_a_page_of_links_only_is_not_emptied_and_says_so() -> None:
    cleaned = winnow.clean(MENU, model=MODEL)
    assert cleaned.fallback
    assert cleaned.text == "Home page\nAll the weather"
    assert cleaned.template_share == 0.0


@pytest.mark.parametrize(
    "page",
    [
        "",
        b"",
        "   \n",
        "\x00\x00",
        b"\x00",
        bytes(range(256)) * 20,
        "<html></html>",
        "<!-- nothing -->",
        "<!DOCTYPE html>",
        "<frameset cols=*><frame src=a.html></frameset>",
        "<script>var a = '<p>no</p>'</script>",
        "<<<>>>&&&",
        '<p a="1" a="2" id=x id=y>t',
        '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head><body/></html>',
    ],
)
@pytest.mark.parametrize("smooth", [True, False])
def test_any_input_gives_a_result(page: str | bytes, smooth: bool) -> None:
    cleaned = winnow.clean(page, model=MODEL, smooth=smooth)
    assert isinstance(cleaned.text, str)
    assert cleaned.html.startswith("<!DOCTYPE html>")
    assert isinstance(cleaned.markdown, str)
    assert 0.0 <= cleaned.template_share <= 1.0
    text = page if isinstance(page, str) else page.decode("latin-1")
    assert cleaned.passed_through == ("binary" if "\x00" in text else None)
    assert all(0.0 <= segment.score <= 1.0 for segment in cleaned.segments)


def test_nul_characters_do_not_end_a_page() -> None:
    assert winnow.clean("<p>be\x00fore</p>\x00<p>after</p>", model=MODEL).text == "before\n\nafter"


def test_xhtml_with_namespaces_is_cleaned_like_html() -> None:
    body = '<body><p>Story</p><ul><li><a href="x">Link</a></li></ul></body>'
    xhtml = f'<html xmlns="http://www.w3.org/1999/xhtml">{body}</html>'
    tree = etree.fromstring(xhtml)
    cleaned = winnow.clean(tree, model=MODEL)
    assert cleaned.text == "Story"
    assert "<p>Story</p>" in cleaned.html


def test_a_comment_given_as_a_tree_is_an_empty_page() -> None:
    cleaned = winnow.clean(etree.Comment("x"), model=MODEL)
    assert (cleaned.text, cleaned.segments) == ("", [])


@pytest.mark.parametrize(
    ("limits", "reason"),
    [(Limits(max_bytes=100), "bytes"), (Limits(max_nodes=5), "nodes"), (Limits(max_depth=4), "depth")],
)
@pytest.mark.parametrize("as_tree", [True, False])
def test_pages_above_a_cap_are_passed_through_with_all_their_text(
    limits: Limits,
    reason: str,
    as_tree: bool,
) -> None:
    source = etree.fromstring(PAGE, etree.HTMLParser()) if as_tree else PAGE
    if as_tree and reason == "bytes":
        return
    cleaned = winnow.clean(source, model=MODEL, limits=limits)
    assert cleaned.passed_through == reason
    assert cleaned.text.splitlines()[:2] == ["Home page", "All the weather"]
    assert cleaned.text.splitlines()[2:] == winnow.clean(PAGE, model=MODEL).text.split("\n\n")
    assert cleaned.title == "Storm warning"
    assert cleaned.template_share == 0.0
    assert "<p>Home page</p>" in cleaned.html
    assert "All the weather" in cleaned.markdown
    assert cleaned.segments == []


def test_the_tree_is_let_go_with_the_result() -> None:
    class Kept(etree.ElementBase):
        pass

    parser = etree.HTMLParser()
    parser.set_element_class_lookup(etree.ElementDefaultClassLookup(element=Kept))
    cleaned = winnow.clean(etree.fromstring(PAGE, parser), model=MODEL)
    assert cleaned.html
    alive = weakref.ref(cleaned)
    del cleaned
    gc.collect()
    assert alive() is None
    assert not [thing for thing in gc.get_objects() if isinstance(thing, Kept)]


def test_what_the_site_repeats_is_cut_even_from_the_midst_of_content() -> None:
    page = Page.parse(f"<main>{STORY}<p>Write to our editors if you see a mistake.</p>{LATER}</main>")
    df = np.ones(page.n + page.m, np.int64)
    df[page.n + 2] = 20
    cleaned = winnow.clean(page, model=MODEL, df=df, pages=20)
    assert "editors" not in cleaned.text
    assert "editors" not in cleaned.html
    assert cleaned.text.count("Winds") == cleaned.text.count("Gusts") == 1
    assert [(segment.text, segment.score, segment.reason) for segment in cleaned.removed] == [
        ("Write to our editors if you see a mistake.", 1.0, "site")
    ]
    assert "editors" in winnow.clean(page, model=MODEL, df=df, pages=5).text  # too few pages to say


def test_a_page_that_was_counted_at_many_addresses_keeps_its_content() -> None:
    page = Page.parse(PAGE)
    cleaned = winnow.clean(page, model=MODEL, df=np.full(page.n + page.m, 12), pages=40)
    assert "Winds" in cleaned.text
    assert "All the weather" not in cleaned.text
    assert not cleaned.fallback


@pytest.mark.parametrize(("df", "pages", "cut"), [(30, 40, True), (20, 100, False), (15, 40, False)])
def test_template_on_a_quarter_of_a_site_goes_even_if_next_to_nothing_else_is_there(
    df: int, pages: int, cut: bool
) -> None:
    page = Page.parse(PAGE)
    counts = np.append(np.zeros(page.n, np.int64), np.full(page.m, df))
    counts[page.n + page.block_texts().index("All the weather")] = 1
    cleaned = winnow.clean(page, model=MODEL, df=counts, pages=pages)
    assert ("Winds" in cleaned.text) != cut
    assert (cleaned.text == "All the weather") == cleaned.fallback == cut


def test_what_a_page_says_twice_is_kept_once() -> None:
    cleaned = winnow.clean(
        f"<main>{STORY}<p>Stay in.</p></main><div class=mobile>{STORY}<p>Stay in.</p></div>", model=MODEL
    )
    assert cleaned.text.count("Winds") == 1
    assert cleaned.html.count("Winds") == 1
    assert cleaned.text.count("Stay in.") == 2, "short texts may well stand on a page twice"
    assert [segment.reason for segment in cleaned.removed] == ["copy"]


def test_counts_of_another_page_are_refused() -> None:
    with pytest.raises(ValueError, match="df has 3 counts"):
        winnow.clean(PAGE, model=MODEL, df=np.ones(3, np.int64), pages=20)


def test_a_model_that_does_not_exist_is_named_in_the_error(tmp_path: object) -> None:
    with pytest.raises(FileNotFoundError, match="no model named 'nowhere'"):
        winnow.load_model("nowhere")
    with pytest.raises(FileNotFoundError, match=r"gone\.npz"):
        winnow.load_model(f"{tmp_path}/gone.npz")
