import numpy as np
from lxml import etree
from numpy.typing import NDArray

from winnow.output.segments import segments
from winnow.page.page import Page
from winnow.smoothing import SmoothedScores

HTML = (
    "<body><nav><a href=/>Home</a><a href=/b>Blog</a></nav>"
    "<div>Share<p>First</p><p>Second</p>Print</div>"
    "<ul><li><a href=/x>One link</a></ul><my-box>Odd</my-box></body>"
)


def page_with_sections(*roots: str) -> tuple[Page, SmoothedScores]:
    """Cut the page into sections at the elements with these paths and at its second-last text block."""
    page = Page.parse(HTML)
    tree = page.elements[0].getroottree()
    found = [page.elements.index(element) for path in roots for element in tree.xpath(path)]
    blocks = [page.n + 1, page.n + 4]
    section = np.zeros(page.n + page.m, np.int32)
    for unit in range(1, page.n + page.m):
        own = unit in found or unit in blocks
        section[unit] = unit if own else section[page.unit_parent[unit]]
    value = np.where(section == 0, 0.1, 0.9)
    return page, SmoothedScores(value, section)


def nowhere(page: Page) -> NDArray[np.bool_]:
    return np.zeros(page.n + page.m, bool)


def test_sections_come_in_document_order_with_path_score_and_own_text() -> None:
    page, smoothed = page_with_sections("/html/body/nav", "/html/body/ul")
    found = segments(page, smoothed, smoothed.value > 0.5, page.block_texts(), *[nowhere(page)] * 4)
    assert [(s.path, s.tag, s.score, s.template, s.text) for s in found] == [
        ("/html", "html", 0.1, False, "First\nSecond\nOdd"),
        ("/html/body/nav", "nav", 0.9, True, "HomeBlog"),
        ("/html/body/div/#text[1]", "#text", 0.9, True, "Share"),
        ("/html/body/div/#text[2]", "#text", 0.9, True, "Print"),
        ("/html/body/ul", "ul", 0.9, True, "One link"),
    ]
    assert [s.characters for s in found] == [len(s.text) for s in found]


def test_what_marks_a_section_is_said_for_those_that_were_cut() -> None:
    page, smoothed = page_with_sections("/html/body/nav", "/html/body/ul")
    found = segments(page, smoothed, smoothed.value > 0.5, page.block_texts(), *[nowhere(page)] * 4)
    assert [s.reason for s in found] == ["", "landmark", "model", "model", "links"]


def test_what_the_site_repeats_is_the_first_reason() -> None:
    page, smoothed = page_with_sections("/html/body/nav", "/html/body/ul")
    repeated = nowhere(page)
    repeated[page.n] = True
    found = segments(page, smoothed, smoothed.value > 0.5, page.block_texts(), repeated, *[nowhere(page)] * 3)
    assert [s.reason for s in found] == ["", "site", "model", "model", "links"]


def test_what_is_cut_for_what_the_author_marks_says_so() -> None:
    page, smoothed = page_with_sections("/html/body/nav", "/html/body/ul")
    outside = nowhere(page)
    outside[page.n + page.block_texts().index("One link")] = True
    found = segments(page, smoothed, smoothed.value > 0.5, page.block_texts(), *[nowhere(page)] * 3, outside)
    assert [s.reason for s in found] == ["", "landmark", "model", "model", "author"]


def test_paths_of_elements_are_xpaths_that_lead_back_to_them() -> None:
    page = Page.parse("<div><p>a</p><section><p>b</p><p>c</p></section><p>d</p></div><my-box>e</my-box><div>f</div>")
    everything = SmoothedScores(np.zeros(page.n + page.m), np.arange(page.n + page.m, dtype=np.int32))
    found = segments(page, everything, np.zeros(page.n + page.m, bool), page.block_texts(), *[nowhere(page)] * 4)
    tree = page.elements[0].getroottree()
    elements = [s for s in found if s.tag != "#text"]
    assert len(elements) == page.n
    for segment, element in zip(elements, page.elements, strict=True):
        assert tree.xpath(segment.path) == [element]
        assert segment.tag == element.tag


def test_a_page_without_text_is_one_section() -> None:
    page = Page.from_tree(etree.fromstring("<div/>"))
    one = SmoothedScores(np.zeros(1), np.zeros(1, np.int32))
    (segment,) = segments(page, one, np.zeros(1, bool), [], *[nowhere(page)] * 4)
    assert (segment.path, segment.characters) == ("/div", 0)
