import gc
import weakref

from scrapy.http import HtmlResponse

from scrapy_winnow.components.origins import _REMEMBERED, Origin, Origins


def _response(number: int = 0) -> HtmlResponse:
    return HtmlResponse(f"http://a.example/{number}", body=b"<p>words</p>", encoding="utf-8")


def test_an_item_leads_to_its_page_once():
    origins, response, item = Origins(), _response(), {"url": "x"}
    origin = Origin(response.url)
    origins.put(response, origin)
    origins.note(item, response)
    assert origins.take({"url": "x"}) is None
    assert origins.take(item) is origin
    assert origins.take(item) is None


def test_nothing_outlives_its_response():
    origins, response, item = Origins(), _response(), {"url": "x"}
    origin = Origin(response.url)
    alive = weakref.ref(response)
    origins.put(response, origin)
    origins.note(item, response)
    del response
    gc.collect()
    assert alive() is None
    assert origins.take(item) is None


def test_items_that_nobody_asks_for_are_forgotten():
    origins, response = Origins(), _response()
    origins.put(response, Origin(response.url))
    items = [{"number": number} for number in range(_REMEMBERED + 10)]
    for item in items:
        origins.note(item, response)
    assert [origins.take(item) is None for item in items] == [True] * 10 + [False] * _REMEMBERED


def test_html_is_of_a_page_when_it_is_the_whole_page():
    response = _response()
    origin = Origin(response.url, html=(response.text, response.body))
    assert origin.is_of(response.text)
    assert origin.is_of(response.body)
    assert origin.is_of("<p>" + "words</p>")
    assert not origin.is_of("<p>word</p>")
    assert not Origin(response.url).is_of("")
