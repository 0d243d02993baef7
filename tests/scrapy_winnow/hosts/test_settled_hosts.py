"""A host settles when its labels have stopped changing, needs no Redis then, and opens again after a redesign."""

import asyncio
import re
from pathlib import Path

import numpy as np
import pytest

from scrapy_winnow import stats
from scrapy_winnow.storage.connection import Connection
from scrapy_winnow.storage.counts import NodeCounts
from tests.scrapy_winnow.round_trips import counted_round_trips

HOST = "a.example"
TEMPLATE = np.arange(1, 21, dtype=np.uint64)


class Worker:
    """One worker's view of the counts, with the stats that it notes."""

    def __init__(self, connection: Connection, prefix: str, **options: float) -> None:
        self.noted: list[str] = []
        limits = {"budget": 4000, "max_pages": 1024, "ttl": 1000, "settle_after": 32, "refresh": 60.0, **options}
        self.connection = connection
        self.counts = NodeCounts(connection, prefix=prefix, version=1, count_stat=self.noted.append, **limits)

    async def page(self, number: int, template: np.ndarray = TEMPLATE, content: int = 30):
        """Count a page of a template with content of its own."""
        own = np.arange(content, dtype=np.uint64) + np.uint64(10_000 * (number + 1))
        nodes = np.concatenate([template, own])
        return await self.counts.count(HOST, number.to_bytes(8, "big"), nodes, masses=np.full(len(nodes), 40, np.uint8))

    async def pages(self, numbers, **page):
        for number in numbers:
            evidence = await self.page(number, **page)
        return evidence

    async def keys(self) -> list[bool]:
        names = self.counts.keys(HOST)
        return [bool(await self.connection.call(lambda client, name=name: client.exists(name))) for name in names]


@pytest.fixture
def worker(connection, prefix):
    return lambda **options: Worker(connection, prefix, **options)


async def test_labels_that_have_not_changed_while_the_pages_doubled_are_frozen(worker):
    one = worker()
    before = await one.pages(range(31))
    assert (before.settled, before.label_version, one.noted) == (False, 0, [])
    last = await one.page(31)
    assert (last.counted, last.settled, last.label_version, last.df[0]) == (True, False, 1, 32)
    assert one.noted == [stats.HOSTS_SETTLED]
    assert await one.keys() == [True, False, False, False]
    after = await one.page(32)
    assert (after.counted, after.settled, after.label_version, after.pages) == (False, True, 1, 32)
    assert after.df.tolist() == [32] * 20 + [1] * 30


async def test_what_only_may_have_been_on_a_tenth_of_the_pages_is_reported_but_not_frozen(worker):
    one = worker(settle_after=64, budget=60)
    await one.pages(range(59))
    late = np.append(TEMPLATE, np.uint64(9000))
    counting = await one.pages(range(59, 64), template=late)
    assert counting.label_version == 1
    assert 7 <= counting.df[20] <= 5 + counting.undercount, "seen five times, at most"
    settled = await one.page(64, late)
    assert settled.df[:21].tolist() == [64] * 20 + [1]


async def test_a_settled_host_costs_no_call_and_takes_no_write(worker):
    one = worker()
    await one.pages(range(33))
    with counted_round_trips() as trips:
        for number in range(40, 60):
            assert (await one.page(number)).settled
    assert trips == []


async def test_a_settled_host_has_its_evidence_while_redis_is_away(tcp_server, prefix):
    server = tcp_server()
    connection = Connection(server.url, timeout=20)
    one = Worker(connection, prefix, refresh=0.0)
    await one.pages(range(33))
    server.stop()
    evidence = await one.page(33)
    assert (evidence.settled, evidence.df[0], connection.is_open) == (True, 32, False)
    await connection.close()


async def test_a_host_whose_labels_change_goes_on_counting(worker):
    one = worker()
    await one.pages(range(16))
    other = np.arange(101, 141, dtype=np.uint64)
    evidence = await one.pages(range(16, 40), template=other)
    assert (evidence.settled, evidence.label_version, evidence.pages) == (False, 0, 40)
    settled = await one.pages(range(40, 65), template=np.append(TEMPLATE[:1], other))
    assert (settled.settled, settled.pages, settled.df[:2].tolist()) == (True, 64, [40, 48]), "both are template by now"


async def test_pages_that_share_nothing_never_settle_before_the_most_pages(worker):
    one = worker(max_pages=70)
    nothing = TEMPLATE[:0]
    assert (await one.pages(range(69), template=nothing)).label_version == 0
    assert (await one.page(69, nothing)).label_version == 1
    after = await one.page(70, nothing)
    assert (after.settled, after.pages, set(after.df.tolist())) == (True, 70, {1})


async def test_nothing_settles_when_it_is_switched_off_and_counting_stops_at_the_most_pages(worker):
    one = worker(settle_after=0, max_pages=40)
    evidence = await one.pages(range(45))
    assert (evidence.settled, evidence.label_version, evidence.pages, evidence.counted) == (False, 0, 40, False)


async def test_a_host_of_several_templates_settles_with_all_of_them(worker):
    one = worker()
    templates = [np.arange(1, 21, dtype=np.uint64) + np.uint64(100 * kind) for kind in range(4)]
    for number in range(33):
        evidence = await one.page(number, templates[number % 4])
    assert (evidence.settled, evidence.pages) == (True, 32)
    for template in templates:
        assert (await one.counts.read(HOST, template)).df.tolist() == [8] * 20


async def test_pages_of_several_templates_by_turns_open_nothing(worker):
    one = worker()
    templates = [np.arange(1, 21, dtype=np.uint64) + np.uint64(100 * kind) for kind in range(4)]
    for number in range(160):
        await one.page(number, templates[number % 4])
    assert one.noted == [stats.HOSTS_SETTLED]


async def test_pages_of_few_words_settle_like_others(worker):
    one = worker()
    evidence = await one.pages(range(33), template=TEMPLATE[:2], content=1)
    assert (evidence.settled, evidence.df.tolist()) == (True, [32, 32, 1])


async def test_a_redesign_opens_the_host_again_and_its_labels_get_a_new_version(worker):
    one = worker()
    await one.pages(range(40))
    redesigned = np.arange(501, 541, dtype=np.uint64)
    needed = 0
    while stats.HOSTS_REOPENED not in one.noted:
        evidence = await one.page(100 + needed, redesigned)
        needed += 1
        assert needed < 30
    assert needed == 18
    assert (evidence.settled, evidence.counted, evidence.pages, evidence.label_version) == (False, True, 1, 1)
    assert await one.keys() == [True, True, True, True]
    for number in range(200, 262):
        assert (await one.page(number, redesigned)).label_version == 1, "twice as many pages as the first time"
    assert (await one.page(262, redesigned)).label_version == 2
    settled = await one.page(263, redesigned)
    assert (settled.settled, settled.df[0], settled.pages) == (True, 64, 64)
    assert one.noted == [stats.HOSTS_SETTLED, stats.HOSTS_REOPENED, stats.HOSTS_SETTLED]


async def test_a_page_without_the_template_now_and_then_opens_nothing(worker):
    one = worker()
    await one.pages(range(40))
    for number in range(50, 150):
        await one.page(number, TEMPLATE if number % 2 else TEMPLATE[:0])
    assert one.noted == [stats.HOSTS_SETTLED]


async def test_long_content_is_no_redesign(worker):
    one = worker()
    await one.pages(range(40))
    await one.pages(range(50, 110), content=2000)
    assert one.noted == [stats.HOSTS_SETTLED]


async def test_a_host_that_has_outgrown_its_labels_opens_again(worker):
    one = worker()
    await one.pages(range(33))  # with the first page that found it settled
    section = np.arange(501, 541, dtype=np.uint64)
    evidence = await one.pages(range(100, 130), template=np.append(TEMPLATE, section))
    assert (evidence.settled, one.noted) == (True, [stats.HOSTS_SETTLED])
    evidence = await one.page(130, np.append(TEMPLATE, section))
    assert (evidence.settled, one.noted) == (False, [stats.HOSTS_SETTLED, stats.HOSTS_REOPENED])


async def test_a_box_that_is_new_on_all_pages_opens_nothing(worker):
    one = worker()
    await one.pages(range(40))
    await one.pages(range(100, 200), template=np.append(TEMPLATE, np.arange(501, 516, dtype=np.uint64)))
    assert one.noted == [stats.HOSTS_SETTLED]


async def test_one_page_met_again_and_again_opens_nothing(worker):
    one = worker()
    await one.pages(range(40))
    for _ in range(20):
        await one.pages([70, 71], content=300)
    assert one.noted == [stats.HOSTS_SETTLED]
    await one.pages(range(72, 104))
    assert one.noted == [stats.HOSTS_SETTLED]


async def test_several_workers_settle_a_host_once_and_open_it_once(redis_url, prefix):
    connections = [Connection(redis_url, timeout=10) for _ in range(4)]
    workers = [Worker(connection, prefix) for connection in connections]
    for start in range(0, 40, 4):
        await asyncio.gather(*(worker.page(start + k) for k, worker in enumerate(workers)))
    assert [stat for worker in workers for stat in worker.noted] == [stats.HOSTS_SETTLED]
    redesigned = np.arange(501, 541, dtype=np.uint64)
    for start in range(100, 200, 4):
        await asyncio.gather(*(worker.page(start + k, redesigned) for k, worker in enumerate(workers)))
    noted = [stat for worker in workers for stat in worker.noted]
    assert sorted(noted) == [stats.HOSTS_REOPENED, stats.HOSTS_SETTLED]
    for connection in connections:
        await connection.close()


async def test_labels_that_another_worker_has_replaced_are_let_go_when_it_is_time_to_confirm_them(
    worker, redis_url, prefix
):
    one = worker(refresh=0.0)
    await one.pages(range(33))
    connection = Connection(redis_url, timeout=10)
    other = Worker(connection, prefix)
    redesigned = np.arange(501, 541, dtype=np.uint64)
    await other.pages(range(100, 118), template=redesigned)
    assert other.noted == [stats.HOSTS_REOPENED]
    evidence = await one.page(50)
    assert (evidence.settled, evidence.counted, evidence.pages) == (False, True, 2)
    assert one.noted == [stats.HOSTS_SETTLED]
    await connection.close()


async def test_a_settled_host_that_was_evicted_counts_from_the_start(worker):
    one = worker(refresh=0.0)
    await one.pages(range(33))
    await one.connection.call(lambda client: client.delete(one.counts.keys(HOST)[0]))
    evidence = await one.page(40)
    assert (evidence.settled, evidence.pages, evidence.label_version) == (False, 1, 0)


async def test_the_life_of_a_settled_host_begins_anew_when_its_labels_are_confirmed(worker):
    one = worker(refresh=0.0)
    await one.pages(range(33))
    key = one.counts.keys(HOST)[0]
    await one.connection.call(lambda client: client.expire(key, 5))
    await one.page(50)
    assert await one.connection.call(lambda client: client.ttl(key)) > 900


async def test_the_rights_in_the_documentation_are_enough_to_settle_and_to_open_again(tcp_server):
    text = (Path(__file__).parents[3] / "docs" / "reference" / "settings.md").read_text()
    words = re.search(r"ACL SETUSER winnow ([^`|]*?)\n\n|ACL SETUSER winnow ([^`]*)\Z", text + "\n\n")[0].split()[3:]
    server = tcp_server("--user", "winnow", *words)
    connection = Connection(server.url.replace("//", "//winnow:password@"), timeout=20)
    one = Worker(connection, "winnow", refresh=0.0, budget=100)
    await one.pages(range(40))
    await one.pages(range(100, 120), template=np.arange(501, 541, dtype=np.uint64))
    assert one.noted == [stats.HOSTS_SETTLED, stats.HOSTS_REOPENED]
    assert connection.is_open
    await connection.close()


async def test_reading_sees_the_labels_of_a_settled_host_and_writes_nothing(worker, connection, prefix):
    await worker().pages(range(32))
    reader = worker()
    for _ in range(2):
        evidence = await reader.counts.read(HOST, np.append(TEMPLATE[:2], np.uint64(99)))
        assert (evidence.df.tolist(), evidence.pages, evidence.settled) == ([32, 32, 1], 32, True)
        assert evidence.label_version == 1
