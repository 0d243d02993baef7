"""Pages are cleaned where that suits the event loop: heavy ones in a thread, all of them in processes where asked."""

import asyncio
import gc
import os
import signal
import time
from dataclasses import asdict

import numpy as np
import pytest
from scrapy.settings import Settings
from threadpoolctl import threadpool_info, threadpool_limits

from scrapy_winnow.cleaner import Cleaner
from scrapy_winnow.config import Config
from scrapy_winnow.fields import CleaningOptions, clean_item
from scrapy_winnow.storage.evidence import HashedPage, SiteEvidence
from tests.scrapy_winnow.inspector.browsing import story
from tests.scrapy_winnow.waiting import SECONDS
from winnow import Page, PageTooLarge, clean, load_model
from winnow.site import PageCounts

HEAVY = {
    "paragraphs": "<p>x" * 20_000,
    "cells": "<table>" + "<tr><td>a b c<td>d</tr>" * 3_000,
    "attributes": ("<p " + " ".join(f'a{number}="x"' for number in range(20_000)) + ">text") * 40,
}


async def ready(cleaner: Cleaner) -> None:
    """Wait for a cleaner's process."""
    cleaner.pool.start()
    async with asyncio.timeout(SECONDS):
        while not cleaner.pool.is_ready:  # noqa: ASYNC110 - a process is a process
            await asyncio.sleep(0.01)


async def _read_and_cleaned(cleaner, html):
    return await cleaner.clean(html, None, await cleaner.read(html, "http://a/"), None)


@pytest.mark.parametrize("page", HEAVY)
async def test_a_heavy_page_works_beside_the_event_loop(page):
    counted = []
    cleaner = Cleaner(Config.from_settings(Settings()), counted.append)
    await cleaner.clean("<p>The first page finds libraries and the model.", None, None, None)
    gc.collect()
    gc.disable()  # to look through all that the tests have made takes longer than what is measured
    begin, longest = time.thread_time(), 0.0
    work = asyncio.create_task(_read_and_cleaned(cleaner, HEAVY[page]))
    while not work.done():
        await asyncio.sleep(0.001)
        longest, begin = max(longest, time.thread_time() - begin), time.thread_time()
    begin = time.thread_time()
    clean(HEAVY[page])
    here = time.thread_time() - begin
    gc.enable()
    await cleaner.pool.close()
    assert (await work).status in {"cleaned", "fallback"}
    assert counted == ["winnow/items/in_thread"]
    assert longest < here / 4


async def test_the_matrix_library_has_one_thread_while_a_heavy_page_is_cleaned(monkeypatch):
    def threads():
        return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}

    seen = []
    monkeypatch.setattr("scrapy_winnow.cleaner.clean_item", lambda *_: seen.append(threads()))
    cleaner = Cleaner(Config.from_settings(Settings()), lambda _: None)
    with threadpool_limits(2, "blas"):
        before = threads()
        await cleaner.clean(HEAVY["paragraphs"], None, None, None)
        assert threads() == before
    await cleaner.pool.close()
    assert seen == [before and {1}]  # none on a machine with a matrix library of its own


async def test_the_crawls_own_process_lends_a_hand_where_many_pages_wait():
    counted = []
    cleaner = Cleaner(Config.from_settings(Settings({"WINNOW_PROCESSES": 1})), counted.append)
    await ready(cleaner)
    pages = [cleaner.clean(f"<p>Page {number} has a few words of its own.", None, None, None) for number in range(100)]
    cleaned = await asyncio.gather(*pages)
    await cleaner.pool.close()
    assert [page.values["text"] for page in cleaned] == [f"Page {n} has a few words of its own." for n in range(100)]
    assert 10 <= counted.count("winnow/items/in_process") < 100
    assert set(counted) == {"winnow/items/in_process"}


async def test_a_page_that_a_process_dies_of_stays_in_the_crawls_own():
    counted = []
    cleaner = Cleaner(Config.from_settings(Settings({"WINNOW_PROCESSES": 1})), counted.append)
    await ready(cleaner)
    html = "<p>A page that kills."
    os.kill(cleaner.pool._processes[0].pid, signal.SIGKILL)
    hashed = await cleaner.read(html, "http://a/")
    assert isinstance(hashed, HashedPage)
    assert (await cleaner.clean(html, "http://a/", hashed, None)).status == "cleaned"
    await cleaner.pool.close()
    assert set(counted) <= {"winnow/processes/died"}


async def test_what_is_too_large_is_not_read():
    for processes in (0, 1):
        settings = Settings({"WINNOW_PROCESSES": processes, "WINNOW_MAX_NODES": 100})
        cleaner = Cleaner(Config.from_settings(settings), lambda _: None)
        if processes:
            await ready(cleaner)
        for html in (HEAVY["paragraphs"], "<p>x" * 200):
            with pytest.raises(PageTooLarge):
                await cleaner.read(html, "http://a/")
        assert await cleaner.read("<p>A page.", "http://a/") is not None
        await cleaner.pool.close()


def test_what_another_model_scored_at_the_places_of_a_page_is_not_counted():
    page, other = Page.parse(story(3), "http://a/"), load_model("blocks-self-taught")
    hashed = HashedPage.of(page, load_model())
    df = np.full(len(hashed.fingerprints), 20)
    leaves = hashed.frequencies(page, df)[: page.n + page.m]
    item = clean_item(page, None, hashed, SiteEvidence(df, 40), other, CleaningOptions(outputs=("segments",)))
    expected = clean(page, model=other, site=PageCounts(leaves, 40))
    assert item.values["segments"] == [asdict(segment) for segment in expected.segments]
