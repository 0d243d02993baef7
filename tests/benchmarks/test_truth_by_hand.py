import pytest

from benchmarks.sites.truth.hand_truth import CONTENT, OWN, TEMPLATE, MarkedPage, StaleTruthError, hand_truth, marked
from tamis.page.page import Page

HTML = b"""<body><ul id=menu><li><a href=/>Front</a><li><a href=/sea>Sea</a></ul>
<div id=story><img src=sea.jpg><h1>All about the sea</h1><p>It is wide. <b>It is deep.</b></p>
<div id=share>Share this</div></div><p id=next>Next: land</p><p id=end>Imprint</p>"""
UNMARKED = MarkedPage("a.example", "blog", "en", "sea.html", "", ())


def by_id(page: Page) -> dict[str, int]:
    return {name: index for index, name in page.attribute("id").items()}


def test_marks_say_what_is_template_and_what_counts():
    page = Page.parse(HTML)
    at = by_id(page)
    marks = marked(page, HTML, UNMARKED, {at["story"]: CONTENT, at["share"]: TEMPLATE, at["next"]: OWN})
    truth = hand_truth(page, HTML, marks)
    tags = [str(element.tag) for element in page.elements]
    blocks = dict(zip(page.block_texts(), range(page.n, page.n + page.m), strict=True))
    assert truth.template[[at["menu"], at["share"], at["end"], at["story"], tags.index("body")]].all()
    assert not truth.template[[tags.index("h1"), tags.index("b"), blocks["It is wide. It is deep."]]].any()
    assert truth.known[[at["menu"], tags.index("h1"), tags.index("b"), blocks["Imprint"]]].all()
    assert not truth.known[[at["next"], blocks["Next: land"], tags.index("img")]].any()


def test_a_changed_page_is_noticed():
    page = Page.parse(HTML)
    of = marked(page, HTML, UNMARKED, {by_id(page)["story"]: CONTENT})
    with pytest.raises(StaleTruthError, match="not the page that was marked"):
        hand_truth(page, HTML + b" ", of)
    other = Page.parse(HTML.replace(b"deep", b"blue"))
    with pytest.raises(StaleTruthError, match="not what was marked"):
        hand_truth(other, HTML, of)
