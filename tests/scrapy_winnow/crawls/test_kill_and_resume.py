"""A crawl is killed with 9 in the middle and started again: nothing is counted twice, nothing half."""

from scrapy import Request
from scrapy.utils.request import RequestFingerprinter

from scrapy_winnow.project import settings
from scrapy_winnow.storage.counts import NodeCounts
from scrapy_winnow.storage.evidence import page_id_of
from scrapy_winnow.storage.keys import host_keys

PAGES = 40


def _linked_site(web):
    urls = web.add_articles(PAGES)
    for number in range(PAGES):
        links = "".join(f"<p><a href=/{(number + step) % PAGES}>story {step} further on</a></p>" for step in range(12))
        status, headers, body = web.pages[f"/{number}"]
        web.pages[f"/{number}"] = (status, headers, body + links.encode())
    return urls


async def _counted(connection, prefix, host):
    """What Redis holds of a host: the counts of its nodes, and the ids of its pages."""
    counts = NodeCounts(connection, prefix=prefix, budget=1000, max_pages=1000, ttl=1000)
    _, nodes, guard, _, *singles = host_keys(counts.prefix, host)
    ids = await connection.call(lambda client: client.get(guard))
    counted = await connection.call(lambda client: client.hgetall(nodes))
    for on_one_page in await connection.run_commands([("SMEMBERS", key) for key in singles]):
        counted |= dict.fromkeys(on_one_page, b"")
    return counted, {ids[at : at + 8] for at in range(0, len(ids), 16)}


async def test_counts_after_a_kill_and_a_restart_are_those_of_the_pages_fetched(
    web, start_crawls, connection, prefix, tmp_path
):
    urls = _linked_site(web)
    plan = {
        "spider": "site",
        "arguments": {"url": urls[0]},
        "JOBDIR": str(tmp_path / "job"),
        "SCHEDULER_DISK_QUEUE": settings.SCHEDULER_DISK_QUEUE,
        "SCHEDULER_START_DISK_QUEUE": settings.SCHEDULER_DISK_QUEUE,
        "WINNOW_REDIS_PREFIX": prefix,
        "WINNOW_SETTLE_PAGES": 0,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 8,
    }
    released = web.hold_after(PAGES // 2 - 1)
    killed = start_crawls(plan)
    web.do_at(PAGES // 2, killed.kill)
    killed.end()
    released.set()
    _, before = await _counted(connection, prefix, web.host)
    assert 0 < len(before) < PAGES

    start_crawls(plan).results()
    nodes, pages = await _counted(connection, prefix, web.host)
    assert len(pages) > len(before)
    assert len(web.asked) > len(set(web.asked))  # the start page, for one, came twice

    fingerprint = RequestFingerprinter().fingerprint
    fetched = [url for url in urls if page_id_of(fingerprint(Request(url))) in pages]
    assert len(fetched) == len(pages)
    start_crawls({"urls": fetched, "WINNOW_REDIS_PREFIX": f"{prefix}-whole", "WINNOW_SETTLE_PAGES": 0}).results()
    assert await _counted(connection, f"{prefix}-whole", web.host) == (nodes, pages)
    assert max(int.from_bytes(entry[:2], "little") for entry in nodes.values()) == len(pages)
