"""Pages cleaned in real processes, some of which are killed, frozen, or cannot start."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import numpy as np
import pytest

from scrapy_winnow.cleaning import process as process_module
from scrapy_winnow.cleaning.item_values import CleaningOptions, clean_item
from scrapy_winnow.cleaning.pool import CleaningPool
from scrapy_winnow.cleaning.process import ProcessDiedError
from scrapy_winnow.cleaning.tasks import Task
from scrapy_winnow.fields import OPTIONAL_FIELDS
from scrapy_winnow.hosts.evidence import HashedPage, SiteEvidence
from winnow import Limits, Page, load_model
from winnow.page.page import PageTooLarge

URL = "http://host.example/story"
HTML = (
    "<html><head><title>A story</title></head><body><ul class=menu><li><a href=/>Front page</a></li></ul>"
    f"<h1>A story</h1><p>{'Wind and river, stone and glass. ' * 20}</p>"
    "<p>caf\u00e9 \U0001f30a</p><p>All rights</p></body></html>"
)
HEAVY = "<p>word and word" * 8_000  # a second or more
OPTIONS = CleaningOptions(outputs=OPTIONAL_FIELDS)


@asynccontextmanager
async def running(size: int, **options: object) -> AsyncIterator[CleaningPool]:
    pool = CleaningPool(size, **options)
    pool.start()
    try:
        await until(lambda: len(pool.pids) == size)
        yield pool
    finally:
        await pool.close()


async def until(holds, seconds: float = 30.0) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.005)


def task(html: str | bytes, counts=None, url: str | None = URL) -> Task:
    return Task(html, url, counts, OPTIONS, None)


def here(html: str | bytes, counts=None):
    return clean_item(html, URL, counts, model=load_model(), options=OPTIONS)


def is_alive(pid: int) -> bool:
    with suppress(ProcessLookupError):
        os.kill(pid, 0)
        return True
    return False


@pytest.mark.parametrize(
    "html",
    [HTML, HTML.encode(), "", b"", "<p>a lone surrogate \ud800 and a NUL \x00", HTML.encode("utf-16"), "<p>" * 3_000],
    ids=["text", "bytes", "empty", "no bytes", "surrogate", "utf-16", "deep"],
)
async def test_the_values_are_those_of_the_crawls_own_process(html):
    async with running(1) as pool:
        cleaned = await pool.clean(task(html))
    expected = here(html)
    assert cleaned.values == expected.values
    assert cleaned.shingles.tolist() == expected.shingles.tolist()


@pytest.mark.parametrize("html", [HTML, HTML.encode(), "", "<p>a lone surrogate \ud800", HTML.encode("utf-16")])
async def test_a_page_is_read_as_in_the_crawls_own_process(html):
    async with running(1) as pool:
        read = await pool.read(html, URL, Limits())
    expected = HashedPage.of(Page.parse(html, URL))
    assert (read.size, read.contents_id) == (expected.size, expected.contents_id)
    assert read.units.tolist() == expected.units.tolist()
    assert read.fingerprints.tolist() == expected.fingerprints.tolist()
    assert read.masses.tolist() == expected.masses.tolist()


async def test_a_page_that_was_read_is_cleaned_without_being_sent_again():
    async with running(2) as pool:
        reads = await asyncio.gather(*(pool.read(HTML, URL, Limits()) for _ in range(20)))
        counts = reads[0].counts(SiteEvidence(np.ones(len(reads[0].units), np.int64), 100, 0, counted=True))
        cleaned = await asyncio.gather(*(pool.clean(task("not sent", counts), read) for read in reversed(reads)))
    assert [page.values for page in cleaned] == [here(HTML, counts).values] * 20


async def test_a_page_that_is_not_kept_any_more_is_sent_again():
    async with running(1) as pool:
        read = await pool.read(HTML, URL, Limits())
        twice = [(await pool.clean(task(HTML), read)).values for _ in range(2)]
    assert twice == [here(HTML).values] * 2


async def test_a_page_whose_process_was_killed_since_it_was_read_is_sent_to_another():
    async with running(1) as pool:
        read = await pool.read(HTML, URL, Limits())
        os.kill(read.process.pid, signal.SIGKILL)
        assert (await pool.clean(task(HTML), read)).values == here(HTML).values


async def test_a_page_above_the_caps_is_not_read():
    async with running(1) as pool:
        with pytest.raises(PageTooLarge, match="nodes, the limit is 3"):
            await pool.read(HTML, URL, Limits(max_nodes=3))


async def test_the_counts_of_the_site_take_part():
    hashed = HashedPage.of(Page.parse(HTML, URL))
    df = np.ones(len(hashed.units), np.int64)
    df[-1] = 100  # "All rights"
    counts = hashed.counts(SiteEvidence(df, 100, 0, counted=True, label_version=2))
    async with running(1) as pool:
        cleaned = await pool.clean(task(HTML, counts))
    assert cleaned.values == here(HTML, counts).values
    assert cleaned.with_evidence
    assert "All rights" not in cleaned.values["text"]
    assert cleaned.values["site_label_version"] == 2


async def test_counts_of_another_page_are_left_to_the_caller():
    counts = HashedPage.of(Page.parse(HTML, URL)).counts(SiteEvidence(np.zeros(5, np.int64), 100, 0, counted=True))
    async with running(1) as pool:
        assert await pool.clean(task("<p>another page", counts)) is None
        assert (await pool.clean(task(HTML))).values == here(HTML).values


async def test_a_page_above_the_caps_is_passed_through():
    options = CleaningOptions(Limits(max_nodes=3))
    async with running(1) as pool:
        cleaned = await pool.clean(Task(HTML, URL, None, options, None))
    assert cleaned.status == "too_large"


async def test_a_model_of_ones_own_is_used(tmp_path: Path):
    model = load_model("logistic")
    model.save(tmp_path / "model.npz")
    async with running(1) as pool:
        cleaned = await pool.clean(Task(HTML, URL, None, OPTIONS, str(tmp_path / "model.npz")))
    assert cleaned.values["label_version"] == model.version


async def test_many_pages_at_once_all_come_back_and_few_are_in_hand():
    pages = [HTML.replace("A story", f"Story {number}") for number in range(60)]
    most = 0

    async def clean(pool: CleaningPool, html: str) -> str:
        nonlocal most
        cleaned = await pool.clean(task(html))
        most = max([most, *(process.in_hand for process in pool._processes)])
        return cleaned.values["title"]

    async with running(2) as pool:
        titles = await asyncio.gather(*(clean(pool, html) for html in pages))
    assert titles == [f"Story {number}" for number in range(60)]
    assert 1 < most <= 8


async def test_a_large_page_is_the_only_one_that_a_process_has_in_hand():
    large = HTML + " " * (1 << 18)
    async with running(1) as pool:
        tasks = [asyncio.create_task(pool.clean(task(html))) for html in (large, HTML, large)]
        while not all(done.done() for done in tasks):
            assert all(p.in_hand <= 1 or p.bytes_in_hand < 1 << 18 for p in pool._processes)
            await asyncio.sleep(0.001)
        assert [done.result().status for done in tasks] == ["cleaned"] * 3


async def test_a_killed_process_is_replaced_and_its_pages_are_cleaned_again():
    died = []
    async with running(1, died=lambda: died.append(1)) as pool:
        (first,) = pool.pids
        under_way = [asyncio.create_task(pool.clean(task(html))) for html in (HEAVY, HTML)]
        await asyncio.sleep(0.1)
        os.kill(first, signal.SIGKILL)
        cleaned = [await page for page in under_way]
        assert [page.status for page in cleaned] == ["cleaned", "cleaned"]
        assert pool.pids != [first]
        assert died == [1]
        await until(lambda: not is_alive(first))  # nothing is left of it


async def test_a_page_that_processes_die_of_is_left_to_the_caller():
    died = []
    async with running(1, died=lambda: died.append(1)) as pool:
        page = asyncio.create_task(pool.clean(task(HEAVY)))
        while not page.done():
            for process in pool._processes:
                if process.in_hand:
                    os.kill(process.pid, signal.SIGKILL)
            await asyncio.sleep(0.01)
        assert page.result() is None
        assert len(died) == 2
        assert (await pool.clean(task(HTML))).status == "cleaned"


async def test_reading_a_page_that_processes_die_of_is_left_to_the_caller():
    async with running(1) as pool:
        page = asyncio.create_task(pool.read(HEAVY * 50, URL, Limits(max_nodes=1_000_000)))
        while not page.done():
            for process in pool._processes:
                if process.in_hand:
                    os.kill(process.pid, signal.SIGKILL)
            await asyncio.sleep(0.01)
        with pytest.raises(ProcessDiedError):
            await page


async def test_a_process_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(process_module, "PAGE_SECONDS", 0.5)
    async with running(1) as pool:
        (first,) = pool.pids
        os.kill(first, signal.SIGSTOP)
        cleaned = await pool.clean(task(HTML))
        assert cleaned is None or cleaned.status == "cleaned"  # the replacement may be slow on a busy machine
        assert pool.pids != [first]
        await until(lambda: not is_alive(first))


async def test_processes_that_cannot_start_are_given_up_with_one_warning(caplog: pytest.LogCaptureFixture):
    pool = CleaningPool(2, "/no/such/model.npz")
    pool.start()
    assert await pool.clean(task(HTML)) is None
    await until(lambda: not pool._tasks)
    pool.start()
    assert not pool._tasks
    assert await pool.clean(task(HTML)) is None
    assert [record.getMessage().split()[0] for record in caplog.records if record.levelname == "WARNING"] == ["3"]
    await pool.close()


async def test_a_program_that_is_not_there_is_no_error(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(process_module.sys, "executable", "/no/such/python")
    pool = CleaningPool(1)
    pool.start()
    assert await pool.clean(task(HTML)) is None
    await pool.close()


async def test_closing_ends_the_processes_and_the_pages_that_wait_go_back():
    pool = CleaningPool(1)
    pool.start()
    await until(lambda: pool.pids)
    pids = pool.pids
    pages = [asyncio.create_task(pool.clean(task(HEAVY))) for _ in range(4)]
    await asyncio.sleep(0.05)
    await pool.close()
    assert [await page for page in pages] == [None] * 4
    assert not any(map(is_alive, pids))
    assert not pool.is_ready


async def test_closing_while_the_processes_start_leaves_none():
    pool = CleaningPool(2)
    pool.start()
    await asyncio.sleep(0.02)
    await pool.close()
    assert pool.pids == []


async def test_a_page_that_is_cancelled_while_it_waits_holds_up_no_other():
    async with running(1) as pool:
        heavy = asyncio.create_task(pool.clean(task(HEAVY)))
        await asyncio.sleep(0.01)
        waiting = [asyncio.create_task(pool.clean(task(HTML))) for _ in range(12)]
        await asyncio.sleep(0.01)
        for page in [heavy, *waiting[:11]]:
            page.cancel()
        assert (await waiting[11]).status == "cleaned"


async def test_a_process_ends_when_the_crawl_has_gone():
    async with running(1) as pool:
        (process,) = pool._processes
        process._transport.abort()  # as the system does for a crawl that was killed
        await until(lambda: process._process.poll() is not None)
