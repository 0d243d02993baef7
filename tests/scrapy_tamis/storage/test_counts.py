"""Counting in Redis: each page once, as it is now, within bounds, whatever else is under a host's keys."""

import asyncio
import uuid
from itertools import chain

import numpy as np
import pytest
import redis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from redis.crc import key_slot

from scrapy_tamis.stats import PAGES_COUNTED as COUNTED
from scrapy_tamis.stats import PAGES_REPEATED as REPEATED
from scrapy_tamis.stats import PAGES_REPLACED
from scrapy_tamis.storage.connection import Connection
from scrapy_tamis.storage.counts import MAX_NODES, NodeCounts
from scrapy_tamis.storage.evidence import HashedPage
from scrapy_tamis.storage.keys import host_keys, site_of
from tamis.counting import LossyCounts
from tamis.models import load_model
from tamis.page.page import Page

HOST = "a.example"
HTML = (
    "<body><div><a href=/><img src=logo.png></a></div><ul><li><a href=/a>Home</a><li>About us</ul>"
    f"<p>{'A long story. ' * 40}</p><iframe src=/ad></iframe><p>The end</p></body>"
)


@pytest.fixture
def new_counts(connection, prefix):
    """Makes counts on the tests' server."""

    def make(own=connection, **options) -> NodeCounts:
        limits = {"prefix": prefix, "budget": 20_000, "max_pages": 10_000, "ttl": 1000}
        return NodeCounts(own, **{**limits, **options})

    return make


def _nodes(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.uint64)


def _id(number: int) -> bytes:
    return number.to_bytes(8, "big")


async def _held(connection, counts) -> tuple[int, int, int]:
    """Entries of the table, pages of the guard, pages whose contents are held."""
    _, nodes, guard, contents, *singles = host_keys(counts.prefix, HOST)
    commands = [("STRLEN", guard), ("HLEN", contents), ("HLEN", nodes), *(("SCARD", key) for key in singles)]
    found = await connection.run_commands(commands)
    return sum(found[2:]), found[0] // 16, found[1]


@pytest.mark.parametrize(
    ("url", "site"),
    [
        *(("https://Example.org/a?b#c", "example.org"), ("https://example.org:443/", "example.org")),
        *(("http://example.org:443/", "example.org:443"), ("http://user:secret@127.0.0.1:8080/", "127.0.0.1:8080")),
        *(("http://example.org./", "example.org"), ("http://[0::0:1]:8080/", "[::1]:8080")),
        ("http://MÜNCHEN.example/", "xn--mnchen-3ya.example"),
        ("http://xn--mnchen-3ya.example:80/", "xn--mnchen-3ya.example"),
        *(("http://münchen..example/", "m%c3%bcnchen..example"), ("http://a}b{c.example/", "a%7db%7bc.example")),
        *(("http://a b\r\n.example/", "a%20b.example"), ("file:///etc/hostname", None)),
        *(("data:text/html,hello", None), ("http://[broken/", None), ("http://example.org:port/", None), ("", None)),
    ],
)
def test_a_site_is_the_host_and_its_unusual_port(url, site):
    assert site_of(url) == site


@settings(max_examples=25)
@given(st.one_of(st.text(max_size=300), st.text(st.sampled_from("ab.:@[]?#/\\ \t{}%é"), max_size=20)))
def test_no_host_name_leaves_its_keys_which_are_in_one_slot(text):
    site = site_of(f"http://{text}/story")
    assert site == site_of(f" http://{text}/story"), "a host that was met before is named like a new one"
    if site is not None:
        assert site.isascii()
        assert not set(site) & set("{}* \t\r\n\0")
        assert {key_slot(key.encode()) for key in host_keys("tamis", site)} == {key_slot(site.encode())}


def test_a_page_is_counted_by_its_leaves():
    hashed = HashedPage.of(Page.parse(HTML))
    page = hashed.page
    texts = page.block_texts()
    names = [page.elements[unit].tag if unit < page.n else texts[unit - page.n][:8] for unit in hashed.units.tolist()]
    assert names == ["img", "Home", "About us", "A long s", "iframe", "The end"]
    assert hashed.masses.tolist() == [0, 4, 8, 255, 0, 7]
    df = hashed.frequencies(np.array([9, 5, 7, 1, 3, 2]))
    elements = {element.tag: count for element, count in zip(page.elements, df.tolist(), strict=False) if count}
    assert elements == {"div": 9, "a": 5, "img": 9, "ul": 5, "li": 7, "p": 2, "iframe": 3}
    assert df[page.n :].tolist() == [5, 7, 1, 2]
    changed = HashedPage.of(Page.parse(HTML.replace("The end", "To be continued")))
    assert HashedPage.of(Page.parse(HTML)).contents_id == hashed.contents_id != changed.contents_id


async def test_counts_come_back_in_the_order_of_the_nodes_and_a_page_counts_once(new_counts):
    counts = new_counts()
    first = await counts.count(HOST, _id(1), _nodes(5, 2**64 - 1, 5, 0))
    assert (first.df.tolist(), first.pages, first.stat) == ([1, 1, 1, 1], 1, COUNTED)
    second = await counts.count(HOST, _id(2), _nodes(7, 5))
    assert (second.df.tolist(), second.pages, second.stat) == ([1, 2], 2, COUNTED)
    again = await counts.count(HOST, _id(2), _nodes(7, 5, 8))
    assert (again.df.tolist(), again.pages, again.stat) == ([1, 2, 0], 2, REPEATED)


async def test_of_pages_with_the_same_main_text_one_counts(new_counts):
    counts = new_counts()
    for address in range(5):
        page = await counts.count(
            HOST, _id(address), _nodes(1, 10 + address), _id(70 + address), main_text_id=b"a main t"
        )
        assert (page.stat, page.pages, page.df[0]) == (REPEATED if address else COUNTED, 1, 1)
    other = await counts.count(HOST, _id(9), _nodes(1, 3), _id(80), main_text_id=b"another!")
    assert (other.stat, other.pages, other.df.tolist()) == (COUNTED, 2, [2, 1])


async def test_one_page_from_many_workers_at_once_counts_once(redis_url, new_counts):
    connections = [Connection(redis_url, timeout=60) for _ in range(8)]
    nodes = np.arange(MAX_NODES, dtype=np.uint64)
    replies = await asyncio.gather(*(new_counts(own).count(HOST, _id(1), nodes) for own in connections))
    assert [reply.stat for reply in replies].count(COUNTED) == 1
    evidence = await new_counts().read(HOST, nodes)
    assert (evidence.pages, set(evidence.df.tolist())) == (1, {1})
    for own in connections:
        await own.close()


async def test_hosts_and_versions_of_fingerprints_do_not_mix_and_reading_writes_nothing(
    new_counts, connection, monkeypatch
):
    counts = new_counts()
    empty = await counts.read(HOST, _nodes(1, 2))
    assert (empty.df.tolist(), empty.pages) == ([0, 0], 0)
    assert await _held(connection, counts) == (0, 0, 0)
    for page in (1, 2):
        await counts.count(HOST, _id(page), _nodes(1, page))
    seen = await counts.read(HOST, _nodes(1, 2, 3))
    assert (seen.df.tolist(), seen.pages, seen.stat) == ([2, 1, 0], 2, REPEATED)
    assert (await counts.count("b.example", _id(1), _nodes(1))).pages == 1
    monkeypatch.setattr("scrapy_tamis.storage.keys._HOSTS", "2.6")
    assert (await new_counts().count(HOST, _id(1), _nodes(1))).pages == 1


STEPS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 7)), min_size=2, max_size=40)


@given(steps=STEPS, versions=st.lists(st.frozensets(st.integers(0, 20), max_size=8), min_size=8, max_size=8))
@settings(max_examples=20)
def test_counts_are_those_of_the_pages_as_they_came_last_at_any_addresses_with_any_replays(redis_url, steps, versions):
    async def crawl() -> None:
        connection = Connection(redis_url, timeout=60)
        counts = NodeCounts(connection, prefix=uuid.uuid4().hex, budget=1000, max_pages=1000, ttl=60)
        counted: dict[int, int] = {}  # page to contents
        for page, version in steps:
            evidence = await counts.count(HOST, _id(page), _nodes(*versions[version]), _id(100 + version))
            repeats = counted.get(page) == version or (page not in counted and version in counted.values())
            is_replaced = counted.get(page, version) != version
            assert evidence.stat == (PAGES_REPLACED if is_replaced else REPEATED if repeats else COUNTED)
            if counted.get(page) != version:
                counted.pop(page, None)
                if version not in counted.values():
                    counted[page] = version
        evidence = await counts.read(HOST, _nodes(*range(21)))
        exact = [sum(node in versions[version] for version in counted.values()) for node in range(21)]
        assert (evidence.pages, evidence.df.tolist()) == (len(counted), exact)
        assert await _held(connection, counts) == (np.count_nonzero(exact), len(counted), len(counted))
        await connection.close()

    asyncio.run(crawl())


@given(seed=st.integers(0, 2**32), budget=st.integers(4, 600), page_size=st.integers(1, 300), pages=st.integers(2, 40))
@settings(max_examples=15)
def test_the_counts_are_those_of_the_reference_whatever_the_budget(redis_url, seed, budget, page_size, pages):
    async def crawl() -> None:
        rng = np.random.default_rng(seed)
        connection = Connection(redis_url, timeout=60)
        limits = {"budget": budget, "max_pages": 1000, "ttl": 60}
        counts = NodeCounts(connection, prefix=uuid.uuid4().hex, **limits)
        reference = LossyCounts(budget)
        asked = np.zeros(0, np.uint64)
        for number in range(pages):
            # Few nodes are on most pages and most are on few, as on the web.
            nodes = np.unique((rng.pareto(0.6, page_size) * 10).clip(1, 2**40).astype(np.uint64))
            asked = np.union1d(asked, nodes)
            reference.add(number, nodes)
            evidence = await counts.count(HOST, _id(number), nodes)
            assert evidence.pages == reference.pages
            if number == 0:
                continue  # it is held, and counted with the next
            assert (await counts.read(HOST, nodes)).df.tolist() == reference.df(nodes).tolist()
            assert (await _held(connection, counts))[0] == len(reference) <= budget
        read = await counts.read(HOST, asked[:MAX_NODES])
        assert read.df.tolist() == reference.df(asked[:MAX_NODES]).tolist()
        await connection.close()

    asyncio.run(crawl())


@pytest.mark.parametrize("evicted", ["contents", "nodes", "guard", "state"])
async def test_with_a_key_evicted_no_count_is_taken_back_that_was_not_put_on(new_counts, connection, evicted):
    counts = new_counts()
    for page in (1, 2):
        await counts.count(HOST, _id(page), _nodes(1, 2, 10 + page), _id(100 + page))
    await connection.run_commands([("DEL", getattr(host_keys(counts.prefix, HOST), evicted))])
    changed = await counts.count(HOST, _id(1), _nodes(1, 2, 30), _id(103))
    expected = ([2, 2, 0], 2) if evicted == "contents" else ([1, 1, 1], 1)  # as it was, or anew
    assert (changed.df.tolist(), changed.pages) == expected


NODES = np.arange(1, 41, dtype=np.uint64)
LABELS = b"".join(int(node).to_bytes(8, "little") + b"\xff" for node in NODES)
SETTLED = {"stamp": "s", "pages": "30", "labels": LABELS, "expected": "400.0", "version": "1", "used": "1"}
ONE_OTHER_PAGE = [("HSET", 0, "entries", 0, "pages", 1), ("SET", 2, _id(1) + b"another ")]
ODD_ENTRIES = [value for node in NODES.tolist() for value in (node.to_bytes(8, "little"), b"xyz" * node)]

DAMAGES = {
    "state is a list": [("RPUSH", 0, "x")],
    "nodes are a string": [("SET", 1, "x")],
    "guard is a set": [("SADD", 2, "x")],
    "guard is long": [("SET", 2, b"x" * 1_000_000)],
    "contents are a list": [("RPUSH", 3, "x")],
    "contents are cut": [("HSET", 3, _id(1), b"x" * 13), *ONE_OTHER_PAGE],
    "contents are huge": [("HSET", 3, _id(1), b"x" * 8_000_000), *ONE_OTHER_PAGE],
    "entries are of other lengths": [
        ("HSET", 1, *ODD_ENTRIES),
        *(("HSET", 0, "entries", len(NODES), "pages", 1), ("SET", 2, b"0123456789abcdef")),
    ],
    **{
        f"{field} is {value}": [("HSET", 0, field, value)]
        for field, value in (("pages", "many"), ("pages", "-5"), ("pages", "nan"), ("undercount", "1e300"))
    },
    **{
        f"{field} of a settled host is {value[:10]!r}": [("HSET", 0, *chain(*{**SETTLED, field: value}.items()))]
        for field, value in (
            *(("labels", LABELS[:-1]), ("labels", bytes(9 * 1_000_000)), ("expected", "much"), ("expected", "nan")),
            ("version", "new"),
        )
    },
}


@pytest.mark.parametrize("damage", DAMAGES)
async def test_damage_is_no_evidence_and_the_host_starts_anew(new_counts, redis_url, damage):
    counts = new_counts(budget=100, settle_after=20)
    with redis.Redis.from_url(redis_url) as client:
        for command, key, *arguments in DAMAGES[damage]:
            client.execute_command(command, host_keys(counts.prefix, HOST)[key], *arguments)
    looked = await counts.read(HOST, NODES)
    assert looked is None or looked.pages <= 30
    pages = [await counts.count(HOST, _id(number), np.append(NODES, np.uint64(1000 + number))) for number in range(5)]
    assert pages[-1].pages in {5, 6, 30 if damage.startswith("version") else 5}
    assert (await counts.count("b.example", _id(1), NODES)).stat == COUNTED


VALUES = st.one_of(st.binary(max_size=40), st.sampled_from([b"1e9", b"-1", b"nan", b"0x10", b" 7", b"7.5", LABELS]))
FIELDS = ["stamp", "pages", "undercount", "entries", "checked", "version", "labels", "expected"]


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    state=st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=8),
    nodes=st.dictionaries(st.sampled_from([int(node).to_bytes(8, "little") for node in NODES]), VALUES, max_size=5),
    guard=st.one_of(st.binary(max_size=64), st.just(_id(1) + b"contents")),
    contents=st.dictionaries(st.sampled_from([_id(number) for number in range(3)]), VALUES, max_size=2),
)
def test_no_contents_of_the_keys_make_a_page_fail(redis_url, prefix, state, nodes, guard, contents):
    async def read_and_count() -> None:
        failures = []
        connection = Connection(redis_url, timeout=60, on_failure=failures.append)
        limits = {"budget": 30, "max_pages": 1000, "ttl": 100, "settle_after": 20}
        counts = NodeCounts(connection, prefix=prefix, **limits)
        await counts.read(HOST, NODES)
        for number in range(3):
            evidence = await counts.count(HOST, _id(number), NODES, b"contents")
            assert (evidence.df >= 0).all()
        await connection.close()
        assert failures == []

    keys = host_keys(prefix, HOST)
    with redis.Redis.from_url(redis_url) as client:
        client.delete(*keys)
        for key, mapping in ((keys[0], state), (keys[1], nodes), (keys[3], contents)):
            if mapping:
                client.hset(key, mapping=mapping)
        if guard:
            client.set(keys[2], guard)
    asyncio.run(read_and_count())


async def test_a_domain_with_no_end_of_hosts_gets_so_many_counted(new_counts, caplog):
    counts = new_counts(max_hosts=3)
    begun = [await counts.count(f"{name}.trap.co.uk:8080", _id(1), _nodes(1)) for name in "abcde"]
    assert [evidence is not None for evidence in begun] == [True] * 3 + [False] * 2
    assert "trap.co.uk has 3 hosts" in caplog.text
    assert (await counts.count("a.trap.co.uk:8080", _id(2), _nodes(1))).pages == 2
    assert (await counts.count("shop.co.uk", _id(1), _nodes(1))).stat == COUNTED


async def test_a_host_takes_no_more_memory_than_the_docs_say(new_counts, connection):
    counts, sizes = new_counts(budget=2_900), []
    for number in range(16):  # it is at its largest at eight pages
        words = [f"{number % 4} {leaf}" for leaf in range(480)] + [f"own {number} {leaf}" for leaf in range(10)]
        html = "".join(f"<p>Of block {each} the words are these and none of its others.</p>" for each in words)
        page = HashedPage.of(Page.parse(f"<title>{number}</title>{html}"), load_model())
        units = (page.fingerprints, page.contents_id, page.masses, page.main_text_id)
        await counts.count(HOST, _id(number), *units)
        keys = [key for key in host_keys(counts.prefix, HOST) if key]
        found = await connection.run_commands([("MEMORY", "USAGE", key, "SAMPLES", 0) for key in keys])
        sizes.append(sum(size or 0 for size in found))
    assert 60_000 < max(sizes) < 140_000


async def test_a_host_of_one_page_is_soon_forgotten_and_others_live_as_long_as_pages_come(new_counts, connection):
    counts = new_counts(ttl=1_000_000)
    keys = host_keys(counts.prefix, HOST)
    leaves = np.arange(MAX_NODES, dtype=np.uint64)

    async def lives() -> list[int]:
        found = await connection.run_commands([("TTL", key) for key in keys])
        return [life for life in found if life != -2]

    await counts.count(HOST, _id(1), leaves)
    assert [life <= 86_400 for life in await lives()] == [True]
    assert await connection.call(lambda client: client.memory_usage(keys.contents)) < 10 * MAX_NODES
    await connection.run_commands([("EXPIRE", keys.contents, 10)])
    assert (await counts.count(HOST, _id(1), leaves)).stat == REPEATED
    assert min(await lives()) > 80_000
    assert set((await counts.count(HOST, _id(2), leaves)).df.tolist()) == {2}
    assert all(life > 990_000 for life in await lives())
    await connection.run_commands([("EXPIRE", key, 960_000) for key in keys])
    await counts.count(HOST, _id(3), _nodes(1))
    assert all(life <= 960_000 for life in await lives()), "a page writes no more than it changes"
    await connection.run_commands([("EXPIRE", keys.guard, 940_000)])
    await counts.count(HOST, _id(3), _nodes(1))
    assert (await lives())[2] > 960_000
