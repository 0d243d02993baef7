"""A host settles when its labels have stopped changing, needs no Redis then, and opens again after a redesign."""

import asyncio
import random

import numpy as np
import pytest

from scrapy_tamis import stats
from scrapy_tamis.stats import PAGES_COUNTED as COUNTED
from scrapy_tamis.stats import PAGES_SETTLED as SETTLED
from scrapy_tamis.storage.connection import COUNTS, Connection
from scrapy_tamis.storage.counts import NodeCounts
from scrapy_tamis.storage.keys import host_keys
from scrapy_tamis.storage.settled import SettledHost
from tests.scrapy_tamis.round_trips import counted_round_trips

HOST = "a.example"
TEMPLATE = np.arange(1, 21, dtype=np.uint64)
REDESIGN = np.arange(501, 541, dtype=np.uint64)


class Worker:
    """One worker's view of the counts, with the stats that it notes."""

    def __init__(self, connection: Connection, prefix: str, **options: float) -> None:
        self.noted: list[str] = []
        limits = {"budget": 4000, "max_pages": 1024, "ttl": 1000, "settle_after": 32, "refresh": 60.0, **options}
        self.connection = connection
        self.counts = NodeCounts(connection, prefix=prefix, count_stat=self.noted.append, **limits)

    async def page(self, number: int, template: np.ndarray = TEMPLATE, content: int = 30):
        """Count a page of a template with content of its own."""
        own = np.arange(content, dtype=np.uint64) + np.uint64(10_000 * (number + 1))
        nodes = np.concatenate([template, own])
        return await self.counts.count(HOST, number.to_bytes(8, "big"), nodes, masses=np.full(len(nodes), 40, np.uint8))

    async def pages(self, numbers, **page):
        for number in numbers:
            evidence = await self.page(number, **page)
        return evidence

    async def keys(self) -> str:
        """The last letters of those that exist."""
        names = host_keys(self.counts.prefix, HOST)
        exist = await self.connection.run_commands([("EXISTS", name) for name in names])
        return "".join(name[-1] for name, exists in zip(names, exist, strict=True) if exists)


@pytest.fixture
def worker(connection, prefix):
    return lambda **options: Worker(connection, prefix, **options)


async def test_labels_that_are_stable_at_the_least_pages_are_frozen(worker):
    one = worker()
    before = await one.pages(range(31))
    assert (before.stat, before.label_version, one.noted) == (COUNTED, 0, [])
    last = await one.page(31)
    assert (last.stat, last.label_version, last.df[0]) == (COUNTED, 1, 32)
    assert one.noted == [stats.HOSTS_SETTLED]
    assert await one.keys() == "h"
    after = await one.page(32)
    assert (after.stat, after.label_version, after.pages) == (SETTLED, 1, 32)
    assert after.df.tolist() == [32] * 20 + [1] * 30


async def test_what_only_may_have_been_on_a_tenth_of_the_pages_is_reported_but_not_frozen(worker):
    one = worker(settle_after=64, budget=60)
    await one.pages(range(59))
    late = np.append(TEMPLATE, np.uint64(9000))
    counting = await one.pages(range(59, 64), template=late)
    assert counting.label_version == 1
    assert counting.df[20] >= 7, "seen five times, at most"
    settled = await one.page(64, late)
    assert settled.df[:21].tolist() == [64] * 20 + [1]


async def test_a_host_whose_labels_change_settles_once_they_have_not_while_its_pages_doubled(worker):
    one = worker()
    await one.pages(range(20))
    assert one.counts.label_states[HOST] == (20, 20, 0.0, 32, False)
    other = np.arange(101, 141, dtype=np.uint64)
    evidence = await one.pages(range(20, 47), template=other)
    assert (evidence.stat, evidence.label_version, evidence.pages) == (COUNTED, 0, 47)
    assert one.counts.label_states[HOST] == (47, 60, 0.0, 48, False)
    settled = await one.pages(range(47, 50), template=np.append(TEMPLATE[:1], other))
    assert (settled.stat, settled.pages, settled.df[:2].tolist()) == (SETTLED, 48, [21, 28]), "both are template by now"
    assert one.counts.label_states[HOST] == (48, 60, 0.0, 0, True)


async def test_pages_that_share_nothing_never_settle_before_the_most_pages(worker):
    one = worker(max_pages=70)
    nothing = TEMPLATE[:0]
    assert (await one.pages(range(69), template=nothing)).label_version == 0
    assert (await one.page(69, nothing)).label_version == 1
    after = await one.page(70, nothing)
    assert (after.stat, after.pages, set(after.df.tolist())) == (SETTLED, 70, {1})


async def test_nothing_settles_when_it_is_switched_off_and_counting_stops_at_the_most_pages(worker):
    one = worker(settle_after=0, max_pages=40)
    evidence = await one.pages(range(45))
    assert (evidence.stat, evidence.label_version, evidence.pages) == (stats.PAGES_REPEATED, 0, 40)
    assert await one.connection.call(lambda client: client.strlen(host_keys(one.counts.prefix, HOST).guard)) == 16 * 40


async def test_a_redesign_opens_the_host_again_and_its_labels_get_a_new_version(worker):
    one = worker()
    await one.pages(range(40))
    needed = 0
    while stats.HOSTS_REOPENED not in one.noted:
        evidence = await one.page(100 + needed, REDESIGN)
        needed += 1
        assert needed < 30
    assert needed == 18
    assert (evidence.stat, evidence.pages, evidence.label_version) == (COUNTED, 1, 1)
    assert await one.keys() == "hp"
    for number in range(200, 262):
        assert (await one.page(number, REDESIGN)).label_version == 1, "twice as many pages as the first time"
    assert (await one.page(262, REDESIGN)).label_version == 2
    settled = await one.page(263, REDESIGN)
    assert (settled.stat, settled.df[0], settled.pages) == (SETTLED, 64, 64)
    assert one.noted == [stats.HOSTS_SETTLED, stats.HOSTS_REOPENED, stats.HOSTS_SETTLED]


async def test_a_host_that_has_outgrown_its_labels_opens_again(worker):
    one = worker()
    await one.pages(range(33))  # with the first page that found it settled
    evidence = await one.pages(range(100, 130), template=np.append(TEMPLATE, REDESIGN))
    assert (evidence.stat, one.noted) == (SETTLED, [stats.HOSTS_SETTLED])
    evidence = await one.page(130, np.append(TEMPLATE, REDESIGN))
    assert (evidence.stat, one.noted) == (COUNTED, [stats.HOSTS_SETTLED, stats.HOSTS_REOPENED])


async def test_several_workers_settle_a_host_once_and_open_it_once(redis_url, prefix):
    connections = [Connection(redis_url, timeout=60) for _ in range(4)]
    workers = [Worker(connection, prefix) for connection in connections]
    for start in range(0, 40, 4):
        await asyncio.gather(*(worker.page(start + k) for k, worker in enumerate(workers)))
    assert [stat for worker in workers for stat in worker.noted] == [stats.HOSTS_SETTLED]
    for start in range(100, 200, 4):
        await asyncio.gather(*(worker.page(start + k, REDESIGN) for k, worker in enumerate(workers)))
    noted = [stat for worker in workers for stat in worker.noted]
    assert sorted(noted) == [stats.HOSTS_REOPENED, stats.HOSTS_SETTLED]
    for connection in connections:
        await connection.close()


async def test_a_settled_host_needs_no_redis_until_its_labels_are_to_be_confirmed(tcp_server, prefix):
    server = tcp_server()
    connection = Connection(server.url, timeout=60)
    one, confirming = Worker(connection, prefix), Worker(connection, prefix, refresh=0.0)
    await one.pages(range(33))
    with counted_round_trips() as trips:
        for number in range(40, 60):
            assert (await one.page(number)).stat == SETTLED
    assert trips == []
    key = host_keys(one.counts.prefix, HOST).state
    await connection.run_commands([("EXPIRE", key, 300)])
    await confirming.pages(range(60, 62))
    assert (await connection.run_commands([("TTL", key)]))[0] > 900
    server.kill()
    evidence = await confirming.page(62)
    assert (evidence.stat, evidence.df[0], [*connection._next_probes]) == (SETTLED, 32, [COUNTS])
    await connection.close()


async def test_labels_that_another_worker_has_replaced_are_let_go_when_it_is_time_to_confirm_them(worker):
    one, other = worker(refresh=0.0), worker()
    await one.pages(range(33))
    await other.pages(range(100, 118), template=REDESIGN)
    assert other.noted == [stats.HOSTS_REOPENED]
    evidence = await one.page(50)
    assert (evidence.stat, evidence.pages) == (COUNTED, 2)
    assert one.noted == [stats.HOSTS_SETTLED]
    await one.connection.run_commands([("DEL", host_keys(one.counts.prefix, HOST).state)])
    assert ((await one.page(51)).pages, other.noted) == (1, [stats.HOSTS_REOPENED])


async def test_reading_sees_the_labels_of_a_settled_host(worker):
    await worker().pages(range(32))
    reader = worker()
    for _ in range(2):
        evidence = await reader.counts.read(HOST, np.append(TEMPLATE[:2], np.uint64(99)))
        assert (evidence.df.tolist(), evidence.pages, evidence.stat) == ([32, 32, 1], 32, SETTLED)
        assert evidence.label_version == 1


TEMPLATES = [TEMPLATE + np.uint64(100 * kind) for kind in range(4)]


@pytest.mark.parametrize(
    "pages",
    [
        [(number, TEMPLATES[number % 4], 30) for number in range(160)],
        [(number, TEMPLATE if number < 50 or number % 2 else TEMPLATE[:0], 30) for number in range(130)],
        [(number, TEMPLATE, 30 if number < 40 else 2000) for number in range(80)],
        [(number, TEMPLATE if number < 40 else np.append(TEMPLATE, REDESIGN[:15]), 30) for number in range(120)],
        [(number if number < 40 else 70 + number % 2, TEMPLATE, 300) for number in range(80)],
        [(number, TEMPLATE[:2], 1) for number in range(60)],
    ],
    ids=["templates by turns", "pages without", "long content", "a new box", "one page again and again", "few words"],
)
async def test_a_host_whose_pages_keep_their_templates_settles_once(worker, pages):
    one = worker()
    for number, template, content in pages:
        evidence = await one.page(number, template, content)
    assert (evidence.stat, one.noted) == (SETTLED, [stats.HOSTS_SETTLED])


def test_a_worker_holds_so_many_hosts_and_meets_some_again_where_they_are_too_many(monkeypatch):
    monkeypatch.setattr("scrapy_tamis.storage.counts.MAX_SETTLED_HOSTS", 60)
    counts = NodeCounts(None, prefix="test", budget=4000, max_pages=1024, ttl=1000)
    met = 0
    for name in [f"{number}.example" for number in range(100)] * 4:
        met += name in counts._settled
        counts._hold(name, SettledHost.unpack(1000, 1, bytes(9), 0.0, b"s"))
        assert name in counts._settled
    assert len(counts._settled) == 60
    assert met > 60


PAGES_BEFORE, SETTLE_AFTER, NOTICED_AFTER = 12, 10, 18
WORDS = ["wind", "river", "stone", "glass", "paper", "cloud", "salt", "iron", "lemon", "harbour", "winter", "coast"]


def test_a_crawl_of_a_host_that_is_redesigned_learns_its_new_template(web, crawl):
    def story(number: int) -> list[str]:
        chance = random.Random(number)
        return [" ".join(chance.choices(WORDS, k=60)) for _ in range(3)]

    old = (
        "<body><div class=menu><a href=/>Front page</a> <a href=/sport>All the sport</a></div><div class=story>"
        "<h1>{0}</h1><p>{1}.<p>{2}.<p>{3}.</div><div class=foot><p>Copyright of the harbour news, all rights are "
        "reserved by its owners.</p></div></body>"
    )
    new = (
        "<body><header><b>The Harbour Courier</b><ul><li><a href=/n>News</a><li><a href=/w>Weather</a></ul></header>"
        "<main><article><h2>{0}</h2><p>{1}.<p>{2}.<p>{3}.</article></main><div class=legal><p>Imprint and privacy "
        "policy of the courier, a paper of the coast group.</p></div></body>"
    )
    urls = [
        web.add(f"/{number}", (old if number < PAGES_BEFORE else new).format(f"Story {number}", *story(number)))
        for number in range(PAGES_BEFORE + NOTICED_AFTER + 2 * SETTLE_AFTER + 1)
    ]
    one_by_one = {"urls": [], "callback": "fed", "later": [[url] for url in urls]}  # each when the last is stored
    crawled = crawl(**one_by_one, TAMIS_SETTLE_PAGES=SETTLE_AFTER, TAMIS_REDIS_TIMEOUT=60)
    items = [crawled.item(url) for url in urls]
    learned_again = PAGES_BEFORE + NOTICED_AFTER - 1 + 2 * SETTLE_AFTER
    versions = [0] * (SETTLE_AFTER - 1) + [1] * (learned_again - SETTLE_AFTER) + [2] * (len(urls) - learned_again + 1)
    assert [item["site_label_version"] for item in items] == versions
    assert (crawled.stats[stats.HOSTS_SETTLED], crawled.stats[stats.HOSTS_REOPENED]) == (2, 1)
    assert crawled.stats[stats.PAGES_COUNTED] == 3 * SETTLE_AFTER
    for number, template in ((PAGES_BEFORE - 1, "Copyright"), (len(urls) - 1, "privacy policy")):
        assert items[number]["label_source"] == "site"
        assert template not in items[number]["text"]
        assert all(paragraph in items[number]["text"] for paragraph in story(number))
