"""Pages are cleaned where that suits the event loop: heavy ones in a thread, all of them in processes where asked."""

import asyncio
import gc
import sys
from dataclasses import asdict

import numpy as np
import pytest
from scrapy.settings import Settings

from scrapy_tamis.cleaner import Cleaner
from scrapy_tamis.config import Config
from scrapy_tamis.fields import CleanedItem, CleaningOptions, clean_item
from scrapy_tamis.storage.evidence import HashedPage, SiteEvidence
from scrapy_tamis.worker import freeze_loaded
from tamis import Page, PageTooLarge, clean, load_model
from tamis.site import PageCounts
from tests.scrapy_tamis.inspector.browsing import story

HEAVY = {
    "paragraphs": "<p>x" * 20_000,
    "cells": "<table>" + "<tr><td>a b c<td>d</tr>" * 3_000,
    "attributes": ("<p " + " ".join(f'a{number}="x"' for number in range(20_000)) + ">text") * 40,
}


async def cleaned_beside(cleaner: Cleaner, html: str) -> tuple[CleanedItem, set[str]]:
    """The item of a page, and the functions of the library that the thread of the event loop has called for it."""
    called = set()

    def note(frame, event, _):
        if frame.f_globals["__name__"].startswith("tamis.") and event == "call":
            called.add(frame.f_code.co_qualname)

    sys.setprofile(note)
    try:
        return await cleaner.clean(html, None, await cleaner.read(html, "http://a/"), None), called
    finally:
        sys.setprofile(None)


async def test_a_heavy_page_is_worked_on_beside_the_event_loop():
    counted = []
    cleaner = Cleaner(Config.from_settings(Settings()), counted.append)
    for page in HEAVY.values():
        item, called = await cleaned_beside(cleaner, page)
        assert item.status in {"cleaned", "fallback"}
        assert called == set()
    assert counted == ["tamis/items/in_thread"] * len(HEAVY)
    _, called = await cleaned_beside(cleaner, "<p>A light page.")
    assert called > {"Page.parse", "decide"}


async def test_without_a_global_lock_every_page_is_worked_on_beside_the_event_loop(monkeypatch):
    monkeypatch.setattr("scrapy_tamis.cleaner._HAS_GLOBAL_LOCK", False)
    counted = []
    item, called = await cleaned_beside(Cleaner(Config.from_settings(Settings()), counted.append), story(3))
    assert (item.status, called, counted) == ("cleaned", set(), ["tamis/items/in_thread"])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ((700, 10, 10), (5_000, 2, 1)),
        ((2_000, 10, 0), (5_000, 2, 1)),
        ((0, 5, 5), (0, 5, 5)),
        ((9_000, 5, 5), (9_000, 5, 5)),
    ],
)
def test_garbage_is_collected_less_often_unless_the_user_has_said_how_often(before, after):
    found = gc.get_threshold()
    gc.set_threshold(*before)
    try:
        freeze_loaded.__wrapped__()
        assert gc.get_threshold() == after
    finally:
        gc.set_threshold(*found)
        gc.unfreeze()


async def test_with_processes_no_page_is_read_in_the_crawls_own_however_many_wait_and_before_they_are_ready():
    counted = []
    cleaner = Cleaner(Config.from_settings(Settings({"TAMIS_PROCESSES": 1})), counted.append)
    cleaner.pool.start()
    pages = [cleaner.clean(f"<p>Page {number} has a few words of its own.", None, None, None) for number in range(100)]
    cleaned = await asyncio.gather(*pages)
    await cleaner.pool.close()
    assert [page.values["text"] for page in cleaned] == [f"Page {n} has a few words of its own." for n in range(100)]
    assert counted == ["tamis/items/in_process"] * 100


async def test_what_is_too_large_is_not_read():
    for processes in (0, 1):
        settings = Settings({"TAMIS_PROCESSES": processes, "TAMIS_CLEAN": {"limits": {"max_nodes": 100}}})
        cleaner = Cleaner(Config.from_settings(settings), lambda _: None)
        cleaner.pool.start()
        for html in (HEAVY["paragraphs"], "<p>x" * 200):
            with pytest.raises(PageTooLarge):
                await cleaner.read(html, "http://a/")
        assert await cleaner.read("<p>A page.", "http://a/") is not None
        await cleaner.pool.close()


def test_what_another_model_scored_at_the_places_of_a_page_is_not_counted():
    page, other = Page.parse(story(3), "http://a/"), load_model("blocks-self-taught")
    hashed = HashedPage.of(page, load_model())
    df = np.full(len(hashed.fingerprints), 20)
    leaves = hashed.frequencies(df)[: page.n + page.m]
    item = clean_item(hashed, None, SiteEvidence(df, 40), other, CleaningOptions(outputs=("segments",)))
    expected = clean(page, model=other, site=PageCounts(leaves, 40))
    assert item.values["segments"] == [asdict(segment) for segment in expected.segments]
