"""Every experiment, on small sites whose template is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tamis import load_model
from tamis.page.page import Page
from tamis.smoothing import smooth
from tamis_papers.experiments import (
    classification,
    clustering_cost,
    detection,
    keywords,
    label_rules,
    menu_sizes,
    penalties,
    segmentation,
    site_independent,
    smoother_time,
)
from tamis_papers.experiments.content_exchange import frames_of_sites
from tamis_papers.experiments.harness import (
    Estimate,
    HtmlPages,
    MarkedSite,
    estimate,
    estimates_by_name,
    experiment_parser,
    sites_of,
)
from tamis_papers.page_level import PENALTIES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tamis.arrays import Floats
    from tamis.folders import SitePage

PAGES = 12


def site(number: int) -> MarkedSite:
    """A site of pages that link to each other; all text in its header, menu and footer is template."""
    random, name = np.random.default_rng(number), f"site{number}"
    words = [f"{'bcdfghjk'[k % 8]}{'aeiou'[k % 5]}{'lmnprst'[k % 7]}{'aeiou'[k % 3]}ver" for k in range(280)]
    sections = "".join(f"<li><a href=/{page}>Template{number} {words[page]} section</a>" for page in range(PAGES))
    around = (
        "".join(f"<div>Template{number} box {' '.join(words[k : k + 9])}</div>" for k in range(0, 90, 30))
        + f"<header><h2>Template{number} of the {words[number]} gazette</h2></header><nav><ul>{sections}</ul></nav>",
        f"<footer><p>Template{number} copyright of the {words[number]} company, terms of use and privacy.</footer>",
    )

    def html(page: int) -> bytes:
        story = "".join(f"<div>Story {' '.join(random.choice(words, 60))}, and more of it.</div>" for _ in range(4))
        tag = ("article", "div", "section", "blockquote")[number]
        return f"<title>x</title><body>{around[0]}<main><{tag}>{story}</{tag}</main>{around[1]} page {page}".encode()

    pages = HtmlPages.from_html([(f"https://{name}.test/{page}", html(page)) for page in range(PAGES)], name)

    def truth(read: SitePage) -> Floats:
        return np.array([float(not text.startswith("Story")) for text in read.page.block_texts()])

    return MarkedSite(pages, range(4), truth)


@pytest.fixture(scope="module")
def sites() -> list[MarkedSite]:
    return [site(number) for number in range(4)]


def values(rows: Sequence[Sequence[object]]) -> Iterator[Estimate]:
    for row in rows:
        yield from (cell for cell in row if isinstance(cell, Estimate))


def test_template_is_found_by_site_and_by_page(sites: list[MarkedSite]) -> None:
    rows = detection.table_1(sites, {"logistic": load_model("logistic")})
    assert [row[0] for row in rows] == ["SiteLevel", "Basic, logistic", "Smooth, logistic"]
    assert all(0.5 < each.value <= 1 for each in values(rows))


def test_links_and_their_words_are_counted_where_they_stand() -> None:
    page = Page.parse("<p>two words</p><p>and <a href=/x>a link here</a></p><ul><li><a href=/y>b</a></ul>")
    masses = detection.block_masses(page)
    assert masses.tolist() == [[2, 0, 0], [4, 3, 1], [1, 1, 1]]
    parts = detection.overlap(np.array([True, True, False]), np.array([1.0, 0.0, 1.0]), masses)
    assert parts.tolist() == [[4, 9], [0, 4], [0, 2]]


def test_smoothing_segments_better_than_single_scores(sites: list[MarkedSite]) -> None:
    basic, merged, smoothed = (row[1] for row in segmentation.figure_1(sites, load_model("logistic")))
    assert isinstance(basic, Estimate)
    assert isinstance(merged, Estimate)
    assert isinstance(smoothed, Estimate)
    assert basic.value < merged.value
    assert basic.value < smoothed.value


def test_the_segments_of_a_reader_are_the_largest_elements_of_one_kind() -> None:
    page = Page.parse("<div><ul><li>a<li>b</ul><div><p>c<p>d</div>e</div>")
    segment = segmentation.true_segments(page, np.array([1.0, 1.0, 0.0, np.nan, 1.0]))
    assert segment[0] == segment[1] != segment[2] == segment[3] != segment[4] == page.n + 4


def test_too_great_a_penalty_leaves_one_segment(sites: list[MarkedSite]) -> None:
    rows = penalties.figures_2_and_3(sites[:2], [0.01, 1e6])
    assert [(row[0], row[1]) for row in rows] == [(rule, c) for rule in PENALTIES for c in ("0.01", "1e+06")]
    rand = [row[3].value for row in rows if isinstance(row[3], Estimate)]
    assert rand[1::2] == [0, 0, 0]
    assert min(rand[::2]) > 0


def test_topics_are_told_apart_by_their_words_once_templates_are_gone() -> None:
    sites = [site(number) for number in range(4)]
    texts = {topic: [[f"{topic} {word} text " * 20] for word in "abcdefgh"] for topic in ("lions", "ships")}
    frames = frames_of_sites((each.pages for each in sites), 8)
    rows = classification.table_3(frames, texts, 2, load_model("logistic"))
    accuracy = {row[0]: row[1].value for row in rows if isinstance(row[1], Estimate)}
    assert list(accuracy) == ["FULLTEXT", "SITELEVEL", "PAGELEVEL Basic", "PAGELEVEL Smooth", "combined"]
    assert accuracy["SITELEVEL"] == 1


def test_the_topics_of_sites_are_what_their_pages_say(sites: list[MarkedSite]) -> None:
    texts = classification.texts_of_sites(sites)
    assert sorted(texts) == [f"site{number}" for number in range(4)]
    assert all(paragraph.startswith("Story") for text in texts["site0"] for paragraph in text)


def test_labels_are_compared_by_the_model_that_they_teach(sites: list[MarkedSite]) -> None:
    rows = label_rules.compare(sites)
    assert [row[:2] for row in rows] == [
        [share, others] for share in ("HTML and text", "HTML") for others in ("on one page only", "all others")
    ]
    assert all(0.5 < each.value <= 1 for each in values(rows))


def test_made_up_trees_are_smoothed_in_time() -> None:
    parent, scores = smoother_time.made_up_tree(300)
    assert smoother_time.seconds_of(parent, scores) < 1
    value = smooth(parent, scores).value
    assert (value[1:] >= value[parent[1:]]).all()


def test_words_of_the_page_are_its_keywords_without_the_template(sites: list[MarkedSite]) -> None:
    rows = keywords.table_1(sites, load_model("logistic"))
    assert [row[0] for row in rows] == ["ORD", "DN", "DF", "DN-DF"]
    assert all(0 <= each.value <= 1 for each in values(rows))
    assert keywords.keywords("ox ox cow hen the the", {"": 9, "the": 9, "cow": 1, "hen": 1}, 2) == ["cow", "hen"]
    assert keywords.top_scores(["a", "x", "b"], ["a", "b"]) == [1, 0.5, 1, 1, 1]


def test_template_blocks_of_sites_never_seen_are_ranked_first(sites: list[MarkedSite]) -> None:
    for divergence in site_independent.DIVERGENCES:
        rows = site_independent.figure_1([each.pages for each in sites], 12, 6, divergence)
        assert [row[0] for row in rows] == ["text", "logistic regression", "random forest"]
        assert all(isinstance(row[-1], float) and row[-1] > 0.5 for row in rows[1:])


def test_a_block_diverges_by_the_words_that_the_rest_of_its_page_has_not() -> None:
    page = "red red blue blue green"
    assert site_independent.words_divergence("red blue", page) < site_independent.words_divergence("green", page)
    assert site_independent.words_divergence("redder", page) > 0


def test_larger_menus_load_more_pages(sites: list[MarkedSite]) -> None:
    rows = menu_sizes.table_2(sites[:2])
    assert [row[0] for row in rows] == [f"{size}" for size in menu_sizes.SIZES]
    loaded = [row[-1].value for row in rows if isinstance(row[-1], Estimate)]
    assert loaded == sorted(loaded)
    assert isinstance(rows[3][3], Estimate)
    assert rows[3][3].value > 0.9


def test_pages_of_several_sites_are_clustered_in_three_ways(sites: list[MarkedSite]) -> None:
    rows = clustering_cost.compare(sites, [4])
    assert [(row[0], row[1]) for row in rows] == [("16", way) for way in ("by entropy", "counted", "MinHash")]
    assert isinstance(rows[0][2], Estimate)
    assert rows[0][2].value == 1


def test_an_estimate_is_the_ratio_of_sums_with_an_interval_over_sites() -> None:
    assert estimate([(1, 2), (1, 2)]) == Estimate(0.5, 0.5, 0.5)
    wide = estimate([(0, 1), (1, 1)] * 5)
    assert wide.value == 0.5
    assert wide.low < 0.4
    assert wide.high > 0.6
    assert str(estimate([(1, 2)])) == "0.500 (0.50-0.50)"


def test_figures_of_pages_are_means_and_numerators_with_denominators_are_ratios_over_sites(
    sites: list[MarkedSite],
) -> None:
    def measure(each: MarkedSite) -> Iterator[tuple[str, list[object]]]:
        for page in range(3 if each is sites[0] else 1):
            yield "mean", [page]
            yield "ratio", [(page, 2), (1, 4)]

    found = estimates_by_name(sites[:2], measure)
    assert {name: [each.value for each in row] for name, row in found.items()} == {
        "mean": [0.75],
        "ratio": [0.375, 0.25],
    }


def test_the_demo_web_is_there_without_arguments() -> None:
    found = sites_of(experiment_parser("").parse_args(["--most", "2"]))
    assert [len(list(each.read_marked())) > 20 for each in found] == [True, True]
