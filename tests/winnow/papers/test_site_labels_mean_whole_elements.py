"""Elements are template with all that they hold, or not at all."""

import numpy as np

from winnow.page.page import Page
from winnow.papers.pages import whole_elements


def _template(html, shared_texts, not_shared=()):
    """Tags of the elements that are template, where these texts are shared and all elements but some tags."""
    page = Page.parse(html)
    elements = [element.tag not in not_shared for element in page.elements]
    blocks = [text in shared_texts for text in page.block_texts()]
    template = whole_elements(page, np.array(elements + blocks))
    assert template[page.n :].tolist() == blocks
    return [element.tag for element, chosen in zip(page.elements, template.tolist(), strict=False) if chosen]


PAGE = "<body><nav><img><ul><li>Home<li>News</ul></nav><main><img><p>story</p><h4>Share</h4></main></body>"


def test_an_element_is_template_when_all_its_text_is():
    assert _template(PAGE, {"Home", "News", "Share"}) == ["nav", "img", "ul", "li", "li", "h4"]


def test_an_element_that_is_not_shared_is_no_template():
    assert _template(PAGE, {"Home", "News"}, {"nav"}) == ["ul", "li", "li"]


def test_pictures_go_with_the_text_around_them():
    assert _template("<body><div><img></div><p>story<p>Share</body>", {"Share"}) == ["p"]
    assert _template("<body><div><img></div></body>", set()) == []
    assert "img" in _template(PAGE, {"Home", "News", "Share", "story"})
