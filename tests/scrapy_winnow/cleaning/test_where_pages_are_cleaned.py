"""Pages are cleaned where that suits the event loop: heavy ones in a thread, all of them in processes where asked."""

import asyncio
import time

import pytest
from scrapy.settings import Settings

from scrapy_winnow.cleaning.cleaner import Cleaner, tags_of
from scrapy_winnow.config import Config
from winnow import load_model

HEAVY = {
    "paragraphs": "<p>x" * 20_000,
    "cells": "<table>" + "<tr><td>a b c<td>d</tr>" * 3_000,
    "attributes": "<p " + " ".join(f'a{number}="x"' for number in range(20_000)) + ">text",
}


@pytest.mark.parametrize("page", HEAVY)
@pytest.mark.parametrize("kind", [str, bytes])
def test_pages_of_many_tags_are_heavy_however_few_bytes_they_have(page, kind):
    html = HEAVY[page] if kind is str else HEAVY[page].encode()
    assert len(html) < 262_144
    assert tags_of(html) > 3_000


def test_long_text_is_light():
    assert tags_of("<p>" + "lorem ipsum dolor sit amet " * 30_000) < 3_000


@pytest.mark.parametrize("page", HEAVY)
async def test_a_heavy_page_works_beside_the_event_loop(page):
    counted = []
    cleaner = Cleaner(Config.from_settings(Settings()), counted.append)
    await cleaner.clean("<p>The first page finds libraries and the model.", None, None, None)
    begin, longest = time.thread_time(), 0.0
    work = asyncio.create_task(cleaner.clean(HEAVY[page], None, await cleaner.read(HEAVY[page], "http://a/"), None))
    while not work.done():
        await asyncio.sleep(0.001)
        longest, begin = max(longest, time.thread_time() - begin), time.thread_time()
    await cleaner.close()
    assert (await work).status in {"cleaned", "fallback"}
    assert counted == ["winnow/items/in_thread"]
    assert longest < 0.05


async def test_the_crawls_own_process_lends_a_hand_where_many_pages_wait():
    counted = []
    cleaner = Cleaner(Config.from_settings(Settings({"WINNOW_PROCESSES": 1})), counted.append)
    await cleaner.clean("<p>The first page starts the process.", None, None, None)
    async with asyncio.timeout(30):
        while not cleaner.is_ready:  # noqa: ASYNC110 - a process is a process
            await asyncio.sleep(0.01)
    pages = [cleaner.clean(f"<p>Page {number} has a few words of its own.", None, None, None) for number in range(100)]
    cleaned = await asyncio.gather(*pages)
    await cleaner.close()
    assert [page.values["text"] for page in cleaned] == [f"Page {n} has a few words of its own." for n in range(100)]
    assert 10 <= counted.count("winnow/items/in_process") < 100
    assert set(counted) == {"winnow/items/in_process"}


async def test_a_model_that_is_taken_over_is_used_in_processes(caplog: pytest.LogCaptureFixture):
    cleaner = Cleaner(Config.from_settings(Settings({"WINNOW_PROCESSES": 1})), lambda _: None)
    own = await cleaner.clean("<p>The first page starts the process.", None, None, None)
    async with asyncio.timeout(30):
        while not cleaner.is_ready:  # noqa: ASYNC110 - a process is a process
            await asyncio.sleep(0.01)
    other = load_model("logistic")
    cleaner.use(other)
    cleaned = [await cleaner.clean("<p>A page with another model.", None, None, None) for _ in range(3)]
    await cleaner.close()
    assert own.values["label_version"] != other.version
    assert [page.values["label_version"] for page in cleaned] == [other.version] * 3
    assert not caplog.records
