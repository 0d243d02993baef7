"""Redis goes away before, during and after a crawl: no item is lost, and it is said once."""

import os
import signal
import threading
from contextlib import ExitStack

import pytest

from benchmarks.shared.servers import Server
from tests.scrapy_tamis.waiting import figures, until

PAGES = 30


def _warnings(crawled):
    """All but the advice on a limit of the memory, which the servers of these tests have not."""
    return [line for line in crawled.lines("] WARNING:") if "set maxmemory" not in line]


def _plan(web, server, **options):
    return {
        "urls": web.add_articles(PAGES),
        "TAMIS_REDIS_URL": server if isinstance(server, str) else server.url,
        "TAMIS_REDIS_TIMEOUT": 0.5,
        "TAMIS_REDIS_RETRY_INTERVAL": 0.05,
        "TAMIS_DUPLICATES": "mark",
        "CONCURRENT_REQUESTS": 2,
        "DOWNLOAD_DELAY": 0.01,
        **options,
    }


def _assert_nothing_lost(crawled):
    assert len(crawled.items) == PAGES
    assert all("Story" in item["text"] for item in crawled.items)
    stats = crawled.tamis_stats
    assert stats["tamis/items/cleaned"] == PAGES
    assert stats.get("tamis/pages/counted", 0) + stats.get("tamis/pages/uncounted", 0) == PAGES
    assert not any(name.endswith("failed") for name in stats)
    assert "Traceback" not in crawled.log


@pytest.fixture(scope="module")
def taking_no_counts(shared_web, start_crawls, tmp_path_factory):
    """One crawl per kind of trouble that lasts, all in one process."""
    folder = tmp_path_factory.mktemp("servers")
    (folder / "file").touch()
    options = {"password": ["--requirepass", "secret"], "memory": ["--maxmemory", "1mb"]}
    plan = _plan(shared_web, "redis://127.0.0.1:1", TAMIS_REDIS_RETRY_INTERVAL=60, TAMIS_REDIS_TIMEOUT=60)
    optional = {**plan, "TAMIS_REQUIRED": False}  # or the wrong password would stop the crawl
    crawls = {
        "refused": plan,
        "unwritable": {**plan, "TAMIS_REDIS_URL": "", "TAMIS_STATE_DIR": str(folder / "file" / "state")},
    }
    with ExitStack() as stack:
        for name, option in options.items():
            server = stack.enter_context(Server(folder, *option))
            crawls[name] = {**optional, "TAMIS_REDIS_URL": server.url}
        return dict(zip(crawls, start_crawls(*crawls.values()).results(), strict=True))


@pytest.mark.parametrize("trouble", ["refused", "password", "memory", "unwritable"])
def test_trouble_that_lasts_costs_evidence_and_nothing_else(taking_no_counts, trouble):
    crawled = taking_no_counts[trouble]
    _assert_nothing_lost(crawled)
    stats = crawled.tamis_stats
    is_outage = trouble != "memory"  # which answers, and refuses the counts and the near-duplicates
    assert stats.pop("tamis/redis/failures") < 2 * PAGES + (not is_outage)  # all may be under way together
    assert stats.pop("tamis/redis/outages", 0) == is_outage
    assert stats == {
        "tamis/pages/uncounted": PAGES,
        "tamis/items/cleaned": PAGES,
        "tamis/items/uncompared": PAGES,
    }


def test_each_trouble_is_one_warning_that_names_it_and_no_secret(taking_no_counts):
    log = taking_no_counts["refused"]
    # A full server refuses the counts and the near-duplicates.
    reasons = {"Error 111": 1, "AuthenticationError": 1, "cannot use the state folder": 1, " (OutOfMemoryError: ": 2}
    assert len(_warnings(log)) == sum(reasons.values())
    assert {reason: len(log.lines(reason)) for reason in reasons} == reasons
    assert "secret" not in log.log
    assert log.lines("Tamis uses Redis at redis://127.0.0.1:1")


def test_redis_is_killed_in_the_middle_and_comes_back(web, start_crawls, tcp_server):
    server = tcp_server()
    web.do_at(4, server.kill)
    is_back = web.hold_after(12)
    web.do_at(13, lambda: (server.start(), is_back.set()))
    plan = _plan(web, server, TAMIS_REDIS_TIMEOUT=60, TAMIS_REDIS_RETRY_INTERVAL=0.001)  # every page asks
    (crawled,) = start_crawls(plan).results()
    _assert_nothing_lost(crawled)
    assert crawled.tamis_stats["tamis/redis/outages"] == 1
    assert crawled.tamis_stats["tamis/pages/counted"] > 3, "pages after the outage are counted as well"
    assert len(_warnings(crawled)) == 1
    assert len(crawled.lines("Redis is back")) == 1


def test_redis_hangs_in_the_middle(web, start_crawls, tcp_server, address):
    server = tcp_server()
    web.do_at(10, server.freeze)
    is_seen = web.hold_after(12)
    web.do_at(13, lambda: (until(lambda: figures(address)["tamis_redis_outages"]), is_seen.set()))
    plan = _plan(web, server, TAMIS_REDIS_RETRY_INTERVAL=3600, TAMIS_METRICS=address)
    (crawled,) = start_crawls(plan).results()
    server.thaw()
    _assert_nothing_lost(crawled)
    assert crawled.tamis_stats["tamis/redis/outages"] == 1
    assert crawled.tamis_stats["tamis/redis/failures"] < 40  # of the 12 pages that were answered before


def test_the_private_server_is_started_stopped_and_remembers(web, start_crawls, tmp_path):
    plan = _plan(web, "", TAMIS_STATE_DIR=str(tmp_path / "state"), TAMIS_REDIS_PREFIX="same", TAMIS_REDIS_TIMEOUT=60)
    (first,) = start_crawls(plan).results()
    assert first.tamis_stats["tamis/pages/counted"] == PAGES
    assert first.lines(f"Tamis uses the private server of {tmp_path / 'state'}")
    assert not (tmp_path / "state" / "server.pid").exists()
    (second,) = start_crawls(plan).results()
    assert second.tamis_stats["tamis/pages/repeated"] == PAGES
    assert second.tamis_stats["tamis/items/with_site_evidence"] == PAGES
    assert not (tmp_path / "state" / "server.pid").exists()


def test_a_private_server_that_is_killed_is_started_again(web, start_crawls, tmp_path):
    state, killed = tmp_path / "state", []

    def kill():
        killed.append((state / "server.pid").read_text())
        os.kill(int(killed[0]), signal.SIGKILL)

    def wait_until_it_is_back():
        until(lambda: (file := state / "server.pid").exists() and file.read_text() not in {"", *killed})
        is_back.set()

    web.do_at(10, kill)
    is_back = web.hold_after(14)
    web.do_at(15, lambda: threading.Thread(target=wait_until_it_is_back).start())
    plan = _plan(web, "", TAMIS_STATE_DIR=str(state), TAMIS_REDIS_TIMEOUT=60, TAMIS_REDIS_RETRY_INTERVAL=0.001)
    (crawled,) = start_crawls(plan).results()
    _assert_nothing_lost(crawled)
    assert crawled.tamis_stats["tamis/pages/counted"] > PAGES / 2
    assert crawled.lines("Redis is back")  # and once more where a call to the killed server fails only then
