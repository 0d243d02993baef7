"""Pages cleaned in real processes, some of which are killed, frozen, or cannot start; and what is sent to and fro."""

import asyncio
import os
import select
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator
from contextlib import nullcontext
from dataclasses import astuple
from functools import partial
from pathlib import Path

import pytest
import pytest_asyncio

from scrapy_tamis import pool as process_module
from scrapy_tamis import worker as worker_module
from scrapy_tamis.fields import OPTIONAL_FIELDS, CleaningOptions, clean_item
from scrapy_tamis.pool import TIMED_OUT, CleaningPool, CleaningProcess, PageFailedError
from scrapy_tamis.storage.evidence import HashedPage
from scrapy_tamis.worker import DONE, PageGoneError, Worker, pack
from tamis import Page, load_model
from tests.scrapy_tamis.waiting import SECONDS, is_running

pytestmark = pytest.mark.asyncio(loop_scope="module")

URL = "http://host.example/story"
HTML = (
    "<html><head><title>A story</title></head><body><ul class=menu><li><a href=/>Front page</a></li></ul>"
    f"<h1>A story</h1><p>{'Wind and river, stone and glass. ' * 20}</p>"
    "<p>caf\u00e9 \U0001f30a</p><p>All rights</p></body></html>"
)
HEAVY = "<p>word and word" * 4_000
OPTIONS = CleaningOptions(outputs=OPTIONAL_FIELDS)


def started(size: int, model: str | None = None) -> CleaningPool:
    pool = CleaningPool(size, model, OPTIONS, lambda: None)
    pool.start()
    return pool


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared_pool() -> AsyncIterator[CleaningPool]:
    pool = started(1)
    yield pool
    await pool.close()


@pytest_asyncio.fixture(loop_scope="module")
async def pool(shared_pool: CleaningPool) -> CleaningPool:
    """One process: that of the test before, or the one that has taken its place."""
    await until(lambda: pids_of(shared_pool))
    assert (await shared_pool.clean(HTML, URL)).status == "cleaned"
    return shared_pool


def pids_of(pool: CleaningPool) -> list[int]:
    """Numbers of the processes that are ready."""
    return [process.pid for process in pool._processes]


async def until(holds) -> None:
    async with asyncio.timeout(SECONDS):
        while not holds():  # noqa: ASYNC110 - a process is a process
            await asyncio.sleep(0.005)


def here(html: str | bytes):
    return clean_item(html, URL, None, load_model(), OPTIONS)


async def test_the_values_are_those_of_the_crawls_own_process(pool):
    odd = ["", b"", "<p>a lone surrogate \ud800 and a NUL \x00", HTML.encode("utf-16"), "<p>" * 3_000]
    for html in [HTML, HTML.encode(), *odd]:
        cleaned, expected = await pool.clean(html, URL), here(html)
        assert cleaned.values == expected.values
        read, expected = await pool.read(html, URL), HashedPage.of(Page.parse(html, URL), load_model())
        assert (read.contents_id, read.main_text_id, read.links) == (expected.contents_id, expected.main_text_id, None)
        for array in ("fingerprints", "masses"):
            assert getattr(read, array).tolist() == getattr(expected, array).tolist()


async def test_pages_come_with_their_links_where_these_are_wanted(pool, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pool, "with_links", True)
    read = await pool.read("<link href=/style><a href='/\u00e9a '>1</a><a>2</a><area href=#3><img src=/4>", URL)
    assert read.links == ["/\u00e9a ", "#3"]


async def test_a_model_of_ones_own_is_used(pool, tmp_path: Path):
    model = load_model("logistic")
    model.save(tmp_path / "model.npz")
    cleaned = await pool.clean(HTML, URL, model=str(tmp_path / "model.npz"))
    assert cleaned.values["model_version"] == model.version


async def test_of_the_pages_that_were_read_those_read_last_are_kept(monkeypatch: pytest.MonkeyPatch):
    page = Page.parse(HTML)
    monkeypatch.setattr(worker_module, "MAX_KEPT_UNITS", 3 * (page.n + page.m))
    worker = Worker(None, *astuple(OPTIONS))
    numbers = [worker.read(html, URL, False)[0] for html in (*[HTML] * 5, HEAVY)]
    for number, is_kept in zip(numbers, [False, False, True, True, True, False], strict=True):
        with nullcontext() if is_kept else pytest.raises(PageGoneError):
            worker.clean(number, URL, None, 0, 0, None, ())


async def test_a_killed_process_is_replaced_and_its_pages_go_to_another(pool, monkeypatch):
    died = []
    monkeypatch.setattr(pool, "_on_death", lambda: died.append(1))
    read = await pool.read(HTML, URL)
    (first,) = pids_of(pool)
    os.kill(first, signal.SIGSTOP)  # it is not to be done with them before it is killed
    under_way = [asyncio.create_task(page) for page in (pool.clean(HEAVY, URL), pool.clean(HTML, URL, read=read))]
    await until(lambda: len(pool._processes[0].pending) == 2)
    os.kill(first, signal.SIGKILL)
    assert [(await page).status for page in under_way] == ["cleaned", "cleaned"]
    assert pids_of(pool) != [first]
    assert died == [1]
    await until(lambda: not is_running(first))  # nothing is left of it
    assert (await pool.clean(HTML, URL, read=read)).status == "cleaned"


async def test_a_page_whose_result_has_arrived_does_not_go_to_another_process(pool, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(process_module, "_MAX_CRASHES", 1)
    process = pool._processes[0]
    page = asyncio.create_task(pool.clean(HTML, URL))
    await asyncio.sleep(0)  # it is sent, and then the loop is busy
    select.select([process._socket.get_extra_info("socket").fileno()], [], [], SECONDS)
    os.kill(process.pid, signal.SIGKILL)
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # noqa: ASYNC222 - as above
    process._socket.write(pack((DONE,)))  # it fails, before what has arrived is read
    assert (await page).status == "cleaned"


async def test_a_process_that_hangs_is_ended_and_its_page_goes_to_no_other(pool, monkeypatch: pytest.MonkeyPatch):
    (first,) = pids_of(pool)
    os.kill(first, signal.SIGSTOP)
    with monkeypatch.context() as patch:
        patch.setattr(process_module, "TIMEOUT_S", 0.5)
        pool._processes[0]._check_time()  # else it is looked at when its start would have been late
        page = asyncio.create_task(pool.clean(HTML, URL))
        await until(lambda: pool._processes[0].pending)
    with pytest.raises(PageFailedError) as failed:
        await page
    assert failed.value.status == TIMED_OUT
    await until(lambda: pids_of(pool) and pids_of(pool) != [first])
    await until(lambda: not is_running(first))


async def test_a_process_is_not_taken_for_hung_because_the_crawl_itself_was_stopped(pool, monkeypatch):
    (first,) = pids_of(pool)
    os.kill(first, signal.SIGSTOP)
    with monkeypatch.context() as patch:
        patch.setattr(process_module, "TIMEOUT_S", 2.0)
        pool._processes[0]._check_time()  # as above
        page = asyncio.create_task(pool.clean(HTML, URL))
        await until(lambda: pool._processes[0].pending)
    time.sleep(3.5)  # noqa: ASYNC251 - as where it is suspended
    os.kill(first, signal.SIGCONT)
    assert (await page).status == "cleaned"
    assert pids_of(pool) == [first]


async def test_an_error_of_a_page_comes_back_with_its_traceback_and_the_process_goes_on(pool):
    (first,) = pids_of(pool)
    with pytest.raises(RuntimeError, match=r"(?s)in a cleaning process:.*no such model"):
        await pool.clean(HTML, URL, model="/no such model.npz")
    assert (await pool.clean(HTML, URL)).status == "cleaned"
    assert pids_of(pool) == [first]


@pytest.mark.parametrize("missing", ["model", "program"])
async def test_processes_that_cannot_start_are_given_up_with_one_warning(missing: str, caplog, monkeypatch):
    if missing == "program":
        monkeypatch.setattr(process_module.sys, "executable", "/no/such/python")
    pool = started(2, "/no/such/model.npz")
    assert await pool.clean(HTML, URL) is None
    assert not pool._running
    assert [record.getMessage().split()[0] for record in caplog.records if record.levelname == "WARNING"] == ["3"]
    await pool.close()


async def test_closing_ends_the_processes_and_the_pages_in_hand_go_back(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(process_module, "_END_TIMEOUT_S", 0.1)
    pool = started(1)
    await until(lambda: pids_of(pool))
    pids = pids_of(pool)
    os.kill(pids[0], signal.SIGSTOP)  # it is not to be done with any of them, nor to end by itself
    pages = [asyncio.create_task(pool.clean(HTML, URL)) for _ in range(12)]
    await until(lambda: len(pool._processes[0].pending) == 12)
    await pool.close()
    assert [await page for page in pages] == [None] * 12
    await until(lambda: not any(map(is_running, pids)))
    assert not pids_of(pool)


async def test_a_page_that_is_cancelled_while_it_waits_holds_up_no_other(pool):
    heavy = asyncio.create_task(pool.clean(HEAVY, URL))
    await asyncio.sleep(0.01)
    waiting = [asyncio.create_task(pool.clean(HTML, URL)) for _ in range(12)]
    await asyncio.sleep(0.01)
    for page in [heavy, *waiting[:11]]:
        page.cancel()
    assert (await waiting[11]).status == "cleaned"


async def test_results_in_pieces_reach_their_tasks_and_one_that_makes_no_sense_gives_the_others_up():
    own, other = socket.socketpair()
    with other:
        loop = asyncio.get_running_loop()
        _, process = await loop.create_connection(partial(CleaningProcess, own), sock=own)
        tasks = [asyncio.create_task(process.run(())) for _ in range(4)]
        sent = pack((DONE, 1)) + pack((DONE, 2)) + pack((DONE, "three"))
        for at in range(0, len(sent), 7):
            await asyncio.sleep(0.001)
            other.sendall(sent[at : at + 7])
        assert await asyncio.gather(*tasks[:3]) == [[1], [2], ["three"]]
        other.sendall(b"\4\0\0\0none")
        with pytest.raises(process_module._ProcessLostError):
            await tasks[3]
    assert process.ended.is_set()


@pytest.mark.parametrize("sent", [2, 30])
async def test_a_process_ends_quietly_when_its_crawl_is_killed_in_the_middle_of_a_page(sent: int):
    own, other = socket.socketpair()
    with own, other:
        own.sendall(pack((None, *astuple(OPTIONS)))[:sent])
        own.shutdown(socket.SHUT_WR)
        program = (sys.executable, "-c", "from scrapy_tamis.worker import main; main()")
        ended = await asyncio.create_subprocess_exec(*program, stdin=other.fileno(), stderr=asyncio.subprocess.PIPE)
        _, said = await ended.communicate()
    assert (ended.returncode, said) == (0, b"")


async def test_processes_that_were_started_early_work_and_end_with_a_crawl_that_never_opens():
    opened, never = (CleaningPool(1, None, OPTIONS, lambda: None) for _ in range(2))
    for each in (opened, never):
        each.start_early()
    opened.start()
    assert (await opened.clean(HTML, URL)).status == "cleaned"
    assert pids_of(opened)
    await opened.close()
    (program,) = [started.program for started in never._early]
    del never, each
    assert program.returncode is not None
