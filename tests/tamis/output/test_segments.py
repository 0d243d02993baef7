from typing import Any

from lxml import etree

import tamis
from tests.tamis.test_clean import MODEL

PAGE = (
    "<body><nav><a href=/>Home of it</a> <a href=/b>Blog of it</a></nav><main><p>A first story that is told.</p>"
    "<ul><li><a href=/x>One link to more</a><li><a href=/y>One link to less</a></ul>"
    "<p>A second story that is told.</p>Told by us</main><my-box>An odd ending of it.</my-box></body>"
)


def sections(html: Any, **options: Any) -> list[tamis.Segment]:
    return tamis.clean(html, model=MODEL, **options).segments


def test_sections_are_in_document_order_with_path_score_text_and_reason() -> None:
    found = sections(PAGE)
    assert [(s.path, s.tag, round(s.score, 2), s.template, s.reason) for s in found] == [
        ("/html", "html", 0.0, False, ""),
        ("/html/body/nav/#text[1]", "#text", 0.95, True, "landmark"),
        ("/html/body/main/ul", "ul", 1.0, True, "links"),
    ]
    assert [s.text.split("\n") for s in found] == [
        ["A first story that is told.", "A second story that is told.", "Told by us", "An odd ending of it."],
        ["Home of it Blog of it"],
        ["One link to more", "One link to less"],
    ]
    assert [s.characters for s in found] == [len(s.text) for s in found]


def test_every_block_is_listed_with_its_text_its_score_and_why_it_was_cut() -> None:
    found = tamis.clean(PAGE, model=MODEL).blocks
    assert [(b.text[:14], b.kept, b.reason) for b in found] == [
        *(("Home of it Blo", False, "landmark"), ("A first story ", True, ""), ("One link to mo", False, "links")),
        *(("One link to le", False, "links"), ("A second story", True, ""), ("Told by us", True, "")),
        ("An odd ending ", True, ""),
    ]
    assert found[2].path == "/html/body/main/ul/li[1]/#text[1]"
    assert [b.text for b in found if b.kept] == tamis.clean(PAGE, model=MODEL).text.split("\n\n")


def test_paths_are_xpaths_of_the_elements_that_hold_the_text() -> None:
    root = etree.HTML(PAGE)
    found = [s for s in sections(root, smooth=False) if s.text]
    assert len(found) == 7
    for segment in found:
        (element,) = root.xpath(segment.path.partition("/#text")[0])
        assert segment.text in " ".join("".join(element.itertext()).split())
    assert [s.path for s in found][-2:] == ["/html/body/main/#text[1]", "/html/body/#text[1]"]


def test_a_page_without_text_is_one_section() -> None:
    (segment,) = sections(etree.fromstring("<div/>"))
    assert (segment.path, segment.characters) == ("/div", 0)
