"""What is counted of the pages of a site, within which memory, and what the counts say is template."""

import sys
from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.counting import THETA, LossyCounts, countable, frequency_estimates, leaves, spread_frequencies
from tamis.fingerprints import node_fingerprints
from tamis.page.page import Page
from tamis.page.tree import IS_BLOCK_LEVEL
from tamis_papers.page_level import site_level_templates
from tests.tamis.chosen import by_id, tags_of, texts_of


def counted_in(html: str) -> set[str]:
    """Names of the counted elements (``name.class`` where there is a class)."""
    page = Page.parse(html)
    chosen = [page.elements[number] for number in np.flatnonzero(countable(page)[: page.n])]
    return {".".join(filter(None, [element.tag, element.get("class")])) for element in chosen}


def test_the_whole_page_and_what_no_reader_sees_are_not_counted() -> None:
    html = (
        "<head><title>t</title></head><body><div>x<script>1</script><style>s</style></div><template><p>y</p></template>"
    )
    assert counted_in(html) == {"div"}


def test_elements_without_text_or_media_are_not_counted() -> None:
    assert counted_in("<div class=e><p> </p><hr><br><span></span></div><div class=f><p>x</p></div>") == {"div.f", "p"}


def test_images_forms_and_frames_are_counted_with_what_holds_them() -> None:
    assert counted_in("<div class=logo><a class=l><img></a></div>") == {"div.logo", "a.l", "img"}
    assert counted_in("<div><form><input></form><iframe></iframe></div>") == {"div", "form", "input", "iframe"}


def test_parts_of_a_line_are_not_counted_and_whole_lines_are() -> None:
    assert counted_in("<p>not <em>this</em> one, nor <a class=x>that</a></p>") == {"p"}
    assert counted_in("<ul><li><a><b>whole</b></a></li></ul>") == {"ul", "li", "a", "b"}
    assert counted_in("<div> <a>one</a><br> <i>two</i> </div>") == {"div", "a", "i"}
    assert counted_in("<div><span>a<p>b</p></span>c</div>") == {"div", "p", "span"}
    assert counted_in("<div><span>a<p>b</p>c</span></div>") == {"div", "p", "span"}
    assert counted_in("<div>a<span>b<p>c</p>d</span></div>") == {"div", "p"}


# ---- Counts of the leaves give the labels that counts of all units would give


WORDS = st.sampled_from(["home", "about us", "the weather", "a story of the coast", "terms"])
INLINE = st.sampled_from(["{}", "<a href=/x>{}</a>", "<b>{}</b>", "<img src=i.png>{}", "<span class=c>{}</span>"])
LINE = st.builds(lambda words, inline: inline.format(words), WORDS, INLINE)
MEDIA = st.sampled_from(["<img src=logo.png>", "<a href=/><img src=logo.png></a>", "<iframe src=/ad></iframe>", "<br>"])
TREE = st.recursive(
    LINE | MEDIA,
    lambda inside: st.builds(
        lambda tag, name, parts: f"<{tag} class={name}>{''.join(parts)}</{tag.split()[0]}>",
        st.sampled_from(["div", "ul", "li", "p", "section", "a"]),
        st.sampled_from(["menu", "on", "x"]),
        st.lists(inside, min_size=1, max_size=4),
    ),
    max_leaves=12,
)


def frequencies_of(pages: list[Page], only_leaves: bool) -> list[np.ndarray]:
    """df of the units of each page, with only leaves counted or all that is countable."""
    counts = LossyCounts(sys.maxsize)
    units = [np.flatnonzero(leaves(page) if only_leaves else countable(page)) for page in pages]
    for number, (page, own) in enumerate(zip(pages, units, strict=True)):
        counts.add(number, node_fingerprints(page)[own])
    result = []
    for page, own in zip(pages, units, strict=True):
        df = np.zeros(page.n + page.m, np.int64)
        df[own] = counts.df(node_fingerprints(page)[own])
        result.append(spread_frequencies(page, np.arange(len(df)), df) if only_leaves else df)
    return result


@given(st.lists(TREE, min_size=10, max_size=12))
@settings(max_examples=15)
def test_text_is_labelled_by_its_leaves_as_by_all_units(bodies: list[str]) -> None:
    pages = [Page.parse(f"<body>{body}</body>") for body in bodies]
    for page, whole, reduced in zip(pages, frequencies_of(pages, False), frequencies_of(pages, True), strict=True):
        every, some = (site_level_templates(page, df, len(pages)) for df in (whole, reduced))
        assert every[page.n :].tolist() == some[page.n :].tolist()


@given(st.lists(TREE, min_size=2, max_size=6))
@settings(max_examples=20)
def test_no_block_level_element_is_on_more_pages_than_its_leaves(bodies: list[str]) -> None:
    pages = [Page.parse(f"<body>{body}</body>") for body in bodies]
    for page, whole, reduced in zip(pages, frequencies_of(pages, False), frequencies_of(pages, True), strict=True):
        block_level = countable(page)[: page.n] & IS_BLOCK_LEVEL[page.tag]
        assert (reduced >= whole)[: page.n][block_level].all()
        assert (reduced[~countable(page)] == 0).all()


def test_the_innermost_of_nested_elements_around_a_picture_is_the_leaf() -> None:
    page = Page.parse("<div><a href=/><img></a></div><form><input><button></button></form><p>text <img></p>")
    assert tags_of(page, leaves(page)) == ["img", "input", "button", "img"]
    assert leaves(page)[page.n :].all()


def test_an_element_is_as_frequent_as_the_rarest_of_its_leaves() -> None:
    page = Page.parse("<body><div><ul><li>a<li>b</ul><img></div><p>c</p></body>")
    df = np.zeros(page.n + page.m, np.int64)
    df[leaves(page)] = [3, 7, 5, 9]  # the picture, then a, b and c
    found = spread_frequencies(page, np.arange(len(df)), df)
    tags = [element.tag for element in page.elements]
    assert tags == ["html", "head", "body", "div", "ul", "li", "li", "img", "p"]
    assert found[: page.n].tolist() == [0, 0, 0, 3, 5, 7, 5, 3, 9]
    assert found[page.n :].tolist() == [7, 5, 9]


def test_a_leaf_that_was_not_counted_gives_no_count_to_elements_around_it() -> None:
    page = Page.parse("<div><p>a</p><p>b</p></div>")
    df = np.zeros(page.n + page.m, np.int64)
    df[page.n] = 4
    assert spread_frequencies(page, np.arange(len(df)), df)[2] == 0


# ---- Lossy counting against exact counts: bounded memory, and the promised error in any order of pages


SEEDS = st.integers(0, 2**32)


def pages_of(seed: int, pages: int, units: int) -> list[np.ndarray]:
    """Pages with few fingerprints that are on many pages and many that are on few, in an order of bad luck at times."""
    rng = np.random.default_rng(seed)
    made = [
        np.unique((rng.pareto(rng.choice([0.3, 0.8]), units) * 8).clip(1, 1e9).astype(np.uint64)) for _ in range(pages)
    ]
    return sorted(made, key=lambda page: int(page.sum())) if seed % 2 else made


def counted(pages: list[np.ndarray], budget: int) -> LossyCounts:
    counts = LossyCounts(budget)
    for page_id, page in enumerate(pages):
        assert counts.add(page_id, page)
    return counts


def assert_promise(counts: LossyCounts, pages: list[np.ndarray], budget: int) -> None:
    asked, true = np.unique(np.concatenate(pages), return_counts=True)
    df = counts.df(asked)
    assert len(counts) <= budget
    assert counts.pages == len(pages)
    assert counts.undercount <= sum(map(len, pages)) / (0.9 * budget)
    assert (np.abs(df - true) <= counts.undercount).all()
    least = THETA * len(pages)
    reported = df >= least
    assert not reported[true < least / 2].any()
    assert not reported[true < least - counts.undercount].any()
    if counts.undercount <= least / 2:
        assert reported[true >= least].all()


@given(SEEDS, st.integers(1, 60), st.integers(1, 80), st.integers(1, 300))
def test_the_promise_holds_in_any_order_of_pages(seed: int, pages: int, units: int, budget: int) -> None:
    made = pages_of(seed, pages, units)
    assert_promise(counted(made, budget), made, budget)


@given(st.lists(st.tuples(st.integers(0, 8), st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 5), max_size=8))))
def test_counts_that_fit_are_the_number_of_pages_that_have_a_fingerprint(pages: list[tuple[int, list[int]]]) -> None:
    counts = LossyCounts(80)
    first: dict[int, list[int]] = {}
    for page_id, fingerprints in pages:
        assert counts.add(page_id, np.array(fingerprints, np.uint64)) == (page_id not in first)
        first.setdefault(page_id, fingerprints)
    expected = Counter(value for fingerprints in first.values() for value in set(fingerprints) if value)
    asked = [*expected, 0, 1, 2**63 + 11]
    assert (counts.pages, counts.undercount) == (len(first), 0)
    assert counts.df(np.array(asked, np.uint64)).tolist() == [expected[value] for value in asked]


def test_df_has_the_shape_of_its_argument() -> None:
    counts = counted([np.array([7, 7, 7], np.uint64)], 1)
    assert counts.df(np.array([[7], [8]], np.uint64)).tolist() == [[1], [0]]
    assert counts.df(np.array([], np.uint64)).shape == (0,)


def test_fingerprints_that_may_be_on_a_tenth_of_the_pages_are_reported_unless_most_of_it_is_guessed() -> None:
    seen, missed = np.array([10, 9, 9, 6, 5, 4, 1, 0]), np.array([0, 0, 1, 4, 5, 9, 20, 0])
    assert frequency_estimates(seen, missed, 100).tolist() == [10, 9, 10, 10, 10, 4, 1, 0]
    assert frequency_estimates(np.array([30]), np.array([9]), 35).tolist() == [35]


# ---- Labels of what a site repeats


NAMES = ["Home", "News", "About", "Contact"]


def document(k: int) -> str:
    menu = "".join(
        f'<li class="item {"active" if k % 4 == i else ""}"><a href="/{name}">{name}</a></li>'
        for i, name in enumerate(NAMES)
    )
    story = "".join(f"<p>Sentence {i} of the story number {k} is like no other.</p>" for i in range(4))
    sponsor = "<aside><p>Rare words of a sponsor</p></aside>" if k in {3, 30} else ""
    return (
        f"<html><head><title>Story {k}</title></head><body><div id=top><h1><a href=/>Site</a></h1><ul>{menu}</ul></div>"
        f"<div id=main><h2>Story {k}</h2>{story}{sponsor}</div>"
        f"<div id=foot><p>All rights reserved by the publisher of it, <a href=/imprint>Imprint</a></p></div></body>"
    )


def site(pages: int) -> tuple[list[Page], LossyCounts]:
    parsed = [Page.parse(document(k), f"https://example.org/stories/{k}.html") for k in range(pages)]
    counts = LossyCounts(sys.maxsize)
    for k, page in enumerate(parsed):
        counts.add(k, node_fingerprints(page)[countable(page)])
    return parsed, counts


def test_menus_and_footers_are_template() -> None:
    parsed, counts = site(40)
    for page in parsed:
        label = site_level_templates(page, counts.df(node_fingerprints(page)), counts.pages)
        footer = "All rights reserved by the publisher of it, Imprint"
        assert texts_of(page, label) == ["Site", *NAMES, footer]
        assert by_id(page, label) == {"top": True, "main": False, "foot": True}
        assert not label[:3].any()


def test_theta_and_the_least_number_of_pages_are_both_needed() -> None:
    page = Page.parse("<p>x</p>")
    for pages, df, expected in ((10, 3, False), (10, 4, True), (100, 9, False), (100, 10, True), (101, 10, False)):
        label = site_level_templates(page, np.full(page.n + page.m, df), pages)
        assert label.tolist() == [False, False, False, expected, expected], (pages, df)
    assert site_level_templates(page, np.full(5, 2), 20, theta=0.05, min_df=2)[3]


def test_an_element_most_of_whose_html_is_repeated_is_template_but_not_what_it_does_not_repeat() -> None:
    page = Page.parse("<div><ul>" + "<li>An entry of a menu</li>" * 12 + "</ul><p>visitor 1234</p></div>")
    df = np.where([True] * 4 + [True] * 13 + [False] + [True] * 12 + [False], 50, 1)
    label = site_level_templates(page, df * countable(page) * (np.arange(len(df)) != 3), 100)
    assert tags_of(page, label) == ["div", "ul", *["li"] * 12]
    assert label[page.n :].tolist() == [True] * 12 + [False]


def test_an_element_of_much_repeated_markup_and_little_repeated_text_is_not_template() -> None:
    icons = "".join(f'<img src="/icons/a-very-long-name-of-an-icon-{k}.png" alt="">' for k in range(20))
    page = Page.parse(f"<div><p>{icons}</p><p>The few words of this page</p></div>")
    df = np.concatenate([np.where([element.tag == "img" for element in page.elements], 50, 1), [1]])
    label = site_level_templates(page, df, 100)
    assert tags_of(page, label) == ["p", *["img"] * 20]


def reference(page: Page, df: np.ndarray, pages: int) -> list[bool]:
    """The definition, unit by unit: repeated itself, or inside a repeated element."""
    chosen = countable(page) & (df >= max(0.1 * pages, 4))
    label: list[bool] = []
    for unit, parent in enumerate(page.unit_parent.tolist()):
        label.append(bool(chosen[unit]) or (parent >= 0 and label[parent]))
    return label


@settings(max_examples=25)
@given(st.integers(10, 100), st.randoms(use_true_random=False))
def test_blocks_follow_the_definition(pages: int, random: object) -> None:
    page = Page.parse(document(1) + document(30))
    df = np.random.default_rng(random.getrandbits(32)).integers(0, 20, page.n + page.m)  # type: ignore[attr-defined]
    label = site_level_templates(page, df, pages)
    assert label[page.n :].tolist() == reference(page, df, pages)[page.n :]
    assert (label | ~np.array(reference(page, df, pages))).all()
