import asyncio
import json
import re
from pathlib import Path

import numpy as np
import pytest
import redis
from hypothesis import given
from hypothesis import strategies as st
from parsel import Selector

from scrapy_tamis import stats
from scrapy_tamis.commands import main
from scrapy_tamis.profiles import Selectors, dump_profile, find_repeated_parts, load_profile
from scrapy_tamis.storage.connection import Connection
from scrapy_tamis.storage.counts import NodeCounts
from scrapy_tamis.storage.evidence import HashedPage
from scrapy_tamis.storage.hosts import HostRecords
from scrapy_tamis.storage.settled import Labels
from tamis import Page
from tamis.counting import LossyCounts
from tests.scrapy_tamis.inspector.browsing import story

HOST = "harbour.example"


def _counts(connection: Connection, prefix: str) -> NodeCounts:
    return NodeCounts(connection, prefix=prefix, budget=2000, max_pages=1000, ttl=1000, settle_after=32)


def _crawl(url: str, prefix: str, pages: int) -> None:
    """Count some pages of the site."""

    async def run() -> None:
        connection = Connection(url, timeout=60)
        counts = _counts(connection, prefix)
        for number in range(pages):
            page = HashedPage.of(Page.parse(story(number)))
            await counts.count(HOST, number.to_bytes(8, "big"), page.fingerprints, page.contents_id, page.masses)
        await connection.close()

    asyncio.run(run())


@pytest.fixture
def hosts(redis_url: str, prefix: str):
    """Run the command on the tests' server."""
    return lambda *arguments, of=prefix: main(["hosts", "--redis-url", redis_url, "--prefix", of, *arguments])


@pytest.mark.parametrize(("pages", "counted"), [(20, 20), (40, 32)])
def test_a_profile_gives_a_new_crawl_a_settled_start(
    hosts, redis_url: str, prefix: str, site: Path, tmp_path: Path, pages: int, counted: int
) -> None:
    _crawl(redis_url, prefix, pages)  # of 20 pages the host is counting, after 32 it has settled
    profile, other = tmp_path / "profile.json", f"{prefix}-other"
    assert hosts("--export", HOST, "--sample", str(site), "-o", str(profile)) == 0
    assert hosts("--import", str(profile), of=other) == 0
    with redis.Redis.from_url(redis_url) as client:
        labels = [HostRecords(client, each).labels_of(HOST) for each in (prefix, other)]
    assert labels[0] is not None
    assert labels[1] is not None
    for name in ("fingerprints", "fractions"):
        np.testing.assert_array_equal(getattr(labels[0], name), getattr(labels[1], name))
    assert labels[1].expected == pytest.approx(labels[0].expected)

    async def met() -> None:
        connection = Connection(redis_url, timeout=60)
        page = HashedPage.of(Page.parse(story(99)))
        evidence = await _counts(connection, other).count(
            HOST, b"a page 9", page.fingerprints, page.contents_id, page.masses
        )
        await connection.close()
        assert evidence is not None
        assert evidence.stat == stats.PAGES_SETTLED
        df = page.frequencies(evidence.df)
        blocks = dict(zip(page.page.block_texts(), df[page.page.n :].tolist(), strict=True))
        assert blocks["Weather"] == counted
        assert blocks["Story 99 of the harbour"] == 1

    asyncio.run(met())


def test_its_selectors_find_the_template_without_tamis(
    hosts, redis_url: str, prefix: str, site: Path, tmp_path: Path
) -> None:
    _crawl(redis_url, prefix, 20)
    profile = tmp_path / "profile.json"
    assert hosts("--export", HOST, "--sample", str(site), "-o", str(profile)) == 0
    page = Selector(story(77))
    for part in json.loads(profile.read_text())["template"]:
        for found in page.css(part["selector"]):
            found.drop()
    left = " ".join(page.css("body ::text").getall())
    assert "In report 77" in left
    assert not re.search("Weather|newsletter|Terms of use", left)


def test_links_of_one_text_are_one_part_and_menus_of_other_classes_parts_of_their_own() -> None:
    menus = "".join(f'<nav class="{name}"><a>Weather</a> <a>Sports</a></nav>' for name in ("wide", "narrow"))
    teasers = "".join(
        f"<section><p>Story {{0}} has part {part} of its own.</p><a>Read on</a></section>" for part in "ab"
    )
    pages = [HashedPage.of(Page.parse(f"<body>{menus}{teasers.format(number)}")) for number in range(4)]
    counts = LossyCounts()
    for number, page in enumerate(pages):
        counts.add(number, page.fingerprints)
    parts = find_repeated_parts(pages, counts)
    assert [(part.selector, part.text, part.characters) for part in parts] == [
        ("nav.wide", "Weather Sports", 14),
        ("nav.narrow", "Weather Sports", 14),
        ("body > section:nth-of-type(1) > a", "Read on", 7),
    ]


def test_an_element_that_has_its_name_alone_is_found_by_classes_or_its_place() -> None:
    page = Page.parse("<body><article><h1>Storm</h1><div class=box><p>Order our newsletter.</p></div></article>")
    selectors = [Selectors(page).selector_of(element) for element in range(page.n)]
    assert selectors[2:] == ["body", "article", "article > h1", "div.box", "div.box > p"]


def test_a_host_that_is_known_is_not_overwritten_and_one_of_a_new_server_begins_settled(
    hosts, redis_url: str, prefix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _crawl(redis_url, prefix, 9)
    assert hosts("--export", HOST) == 1
    assert "fewer than 10 of its pages" in capsys.readouterr().err
    _crawl(redis_url, prefix, 12)
    profile = tmp_path / "profile.json"
    assert hosts("--export", HOST, "-o", str(profile)) == 0
    assert "no selectors" in capsys.readouterr().err
    assert hosts("--import", str(profile)) == 1
    assert "is known already" in capsys.readouterr().err
    assert hosts("--forget", HOST) == 0
    assert hosts("--import", str(profile)) == 0
    assert hosts("--import", str(profile)) == 0  # it is there already, as it is here
    capsys.readouterr()

    state = tmp_path / "state"  # of a private server, which is started for each look
    assert main(["hosts", "--state-dir", str(state), "--import", str(profile)]) == 0
    assert main(["hosts", "--state-dir", str(state), "--json"]) == 0
    record = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (record["host"], record["state"], record["pages"]) == (HOST, "settled", 12)
    assert not (state / "server.pid").exists()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"format": "tamis site profile 9"}, "is not of the format"),
        ({"fingerprint_version": -1}, "has fingerprints of version -1"),
        ({"labels": {"xyz": 1}}, "damaged"),
        ({"labels": {"ff": 7}}, "damaged"),
        ({"pages": "many"}, "damaged"),
        ({"expected_characters": -1}, "damaged"),
        ({"pages": 0}, "damaged"),
    ],
)
def test_what_is_no_profile_is_refused(change: dict, says: str) -> None:
    nothing = np.zeros(0)
    labels = Labels(12, 1, nothing.astype(np.uint64), nothing.astype(np.uint8), 0.0)
    whole = dump_profile(HOST, labels, (), 0)
    assert load_profile(whole)[0] == HOST
    with pytest.raises(ValueError, match=says):
        load_profile(json.dumps(json.loads(whole) | change))
    with pytest.raises(ValueError, match="damaged"):
        load_profile("[" * 100_000)


NAMES = st.sampled_from(["div", "p", "ul", "li", "span", "a", "h2", "nav", "table", "x-card", "svg:path", "p<"])
ATTRIBUTES = st.sampled_from(
    ["", ' id="a"', ' id="b"', ' class="x"', ' class="x y"', ' class="y z"', ' id="post-4711"']
)
TREES = st.recursive(
    st.just("text"),
    lambda inner: st.builds(
        lambda name, attributes, children: f"<{name}{attributes}>{''.join(children)}</{name}>",
        NAMES,
        ATTRIBUTES,
        st.lists(inner, max_size=4),
    ),
    max_leaves=25,
)


@given(TREES)
def test_every_element_is_found_and_it_alone(html: str) -> None:
    page = Page.parse(f"<body>{html}</body>")
    selectors = Selectors(page)
    root = Selector(root=page.elements[0], type="html")
    for index, element in enumerate(page.elements):
        found = root.css(selectors.selector_of(index))
        assert [each.root for each in found] == [element], selectors.selector_of(index)
