import asyncio

import pytest
from scrapy import Request
from scrapy.http import HtmlResponse

from scrapy_tamis.item_sources import DEFAULT, ItemSource, ItemSources, page_address


def _response(number: int = 0, **meta: object) -> HtmlResponse:
    url = f"http://a.example/{number}"
    return HtmlResponse(url, body=b"<p>words</p>", encoding="utf-8", request=Request(url, meta=meta))


async def test_whatever_begins_with_a_response_has_it_for_its_source() -> None:
    sources = ItemSources(print)

    async def sources_of(number: int) -> tuple[ItemSource | None, ItemSource | None]:
        response = _response(number)
        sources.enter(response)
        await asyncio.sleep(0)
        return sources.of(response), await asyncio.create_task(_current(sources))

    for of_response, of_item in await asyncio.gather(*map(sources_of, range(3))):
        assert of_item is of_response
    assert sources.current() is None


async def _current(sources: ItemSources) -> ItemSource | None:
    return sources.current()


async def test_what_comes_of_a_request_that_an_item_task_schedules_has_another_source() -> None:
    sources, response = ItemSources(print), _response()

    async def schedule() -> tuple[ItemSource | None, ...]:
        sources.leave()
        return sources.current(), await asyncio.create_task(_current(sources)), sources.current()

    source = sources.enter(response)
    assert await asyncio.create_task(schedule()) == (source, None, source)
    assert await schedule() == (source, source, source), "the task that calls the callback begins those of the items"


@pytest.mark.parametrize(("value", "is_on"), [(False, False), (0, False), ("no", False), (True, True), (None, True)])
def test_a_page_is_left_alone_by_any_word_for_no(value: object, is_on: bool) -> None:
    options = DEFAULT.updated(value, print)
    assert (options.count, options.clean) == (is_on, is_on)


@pytest.mark.parametrize(
    ("url", "page"),
    [
        ("https://api.scraperapi.com/?api_key=k&url=https%3A%2F%2Fa.example%2F%3Fb%3D1", "https://a.example/?b=1"),
        ("https://api.zenrows.com/v1/?url=http://a.example/&apikey=k", "http://a.example/"),
        ("https://a.example/share?url=https://a.example/1", None),
        ("https://a.example/?url=//b.example&key=1", None),
        ("http://[broken?url=https://a.example/&key=1", None),
    ],
)
def test_the_page_behind_a_scraping_api_is_known_by_its_address(url: str, page: str | None) -> None:
    assert page_address(url) == (page or url)
