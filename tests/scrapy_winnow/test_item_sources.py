import gc
import weakref

import pytest
from scrapy.http import HtmlResponse

from scrapy_winnow.item_sources import _MAX_ITEMS, ItemSource, ItemSources, RequestOptions


def _response(number: int = 0) -> HtmlResponse:
    return HtmlResponse(f"http://a.example/{number}", body=b"<p>words</p>", encoding="utf-8")


def test_an_item_leads_to_its_page_once():
    sources, response, item = ItemSources(), _response(), {"url": "x"}
    source = ItemSource(response.url)
    sources.add_response(response, source)
    sources.add_item(item, response)
    assert sources.take({"url": "x"}) is None
    assert sources.take(item) is source
    assert sources.take(item) is None


def test_nothing_outlives_its_response():
    sources, response, item = ItemSources(), _response(), {"url": "x"}
    source = ItemSource(response.url)
    alive = weakref.ref(response)
    sources.add_response(response, source)
    sources.add_item(item, response)
    del response
    gc.collect()
    assert alive() is None
    assert sources.take(item) is None


def test_items_that_nobody_asks_for_are_forgotten():
    sources, response = ItemSources(), _response()
    sources.add_response(response, ItemSource(response.url))
    items = [{"number": number} for number in range(_MAX_ITEMS + 10)]
    for item in items:
        sources.add_item(item, response)
    assert [sources.take(item) is None for item in items] == [True] * 10 + [False] * _MAX_ITEMS


def test_html_is_of_a_page_when_it_is_the_whole_page():
    response = _response()
    source = ItemSource(response.url, html=(response.text, response.body))
    assert source.is_of(response.text)
    assert source.is_of(response.body)
    assert source.is_of("<p>" + "words</p>")
    assert not source.is_of("<p>word</p>")
    assert not ItemSource(response.url).is_of("")


@pytest.mark.parametrize(("value", "is_on"), [(False, False), (0, False), ("no", False), (True, True), (None, True)])
def test_a_page_is_left_alone_by_any_word_for_no(value: object, is_on: bool) -> None:
    options = RequestOptions().updated(value, "https://a.example/")
    assert (options.count, options.clean) == (is_on, is_on)
