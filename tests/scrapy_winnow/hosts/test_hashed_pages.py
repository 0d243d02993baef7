"""What is sent of a page: its leaves, in document order, with the length of their text."""

import numpy as np

from scrapy_winnow.storage.evidence import HashedPage, SiteEvidence
from winnow.page.page import Page

HTML = (
    "<body><div><a href=/><img src=logo.png></a></div><ul><li><a href=/a>Home</a><li>About us</ul>"
    f"<p>{'A long story. ' * 40}</p><iframe src=/ad></iframe><p>The end</p></body>"
)


def _name(page: Page, unit: int) -> str:
    return page.elements[unit].tag if unit < page.n else page.block_texts()[unit - page.n][:8]


def test_leaves_are_in_document_order_with_the_length_of_their_text():
    hashed = HashedPage.of(Page.parse(HTML))
    names = [_name(hashed.page, unit) for unit in hashed.units.tolist()]
    assert names == ["img", "Home", "About us", "A long s", "iframe", "The end"]
    assert hashed.masses.tolist() == [0, 4, 8, 255, 0, 7]
    assert len(set(hashed.fingerprints.tolist())) == 6


def test_frequencies_are_those_of_the_leaves_and_what_follows_for_the_elements_around_them():
    hashed = HashedPage.of(Page.parse(HTML))
    df = hashed.frequencies(SiteEvidence(np.array([9, 5, 7, 1, 3, 2]), 9, 0, counted=True))
    page = hashed.page
    elements = {element.tag: count for element, count in zip(page.elements, df.tolist(), strict=False)}
    assert elements == {"html": 0, "body": 0, "div": 9, "a": 5, "img": 9, "ul": 5, "li": 7, "p": 2, "iframe": 3}
    assert df[page.n :].tolist() == [5, 7, 1, 2]


def test_the_id_of_the_contents_is_that_of_the_whole_page():
    same, other = HashedPage.of(Page.parse(HTML)), HashedPage.of(Page.parse(HTML.replace("The end", "To be continued")))
    assert HashedPage.of(Page.parse(HTML)).contents_id == same.contents_id != other.contents_id
    assert len(same.contents_id) == 8
