"""A crawl is killed with 9 in the middle and started again: nothing is counted twice, nothing half."""

from redis import Redis
from scrapy import Request
from scrapy.utils.request import RequestFingerprinter

from benchmarks.shared.counting import counted_nodes, counted_pages
from scrapy_tamis.project import settings
from scrapy_tamis.storage.evidence import page_id_of

PAGES = 40


def _linked_site(web):
    urls = web.add_articles(PAGES)
    for number in range(PAGES):
        links = "".join(f"<p><a href=/{(number + step) % PAGES}>story {step} further on</a></p>" for step in range(12))
        status, headers, body = web.pages[f"/{number}"]
        web.pages[f"/{number}"] = (status, headers, body + links.encode())
    return urls


def _counted(url, host, prefix):
    """What Redis holds of a host: the counts of its nodes, and the ids of its pages."""
    with Redis.from_url(url) as client:
        return counted_nodes(client, host, prefix), set(counted_pages(client, host, prefix))


def test_counts_after_a_kill_and_a_restart_are_those_of_the_pages_fetched(
    web, start_crawls, redis_url, prefix, tmp_path
):
    urls = _linked_site(web)
    plan = {
        "spider": "site",
        "arguments": {"url": urls[0]},
        "JOBDIR": str(tmp_path / "job"),
        "SCHEDULER_DISK_QUEUE": settings.SCHEDULER_DISK_QUEUE,
        "SCHEDULER_START_DISK_QUEUE": settings.SCHEDULER_DISK_QUEUE,
        "TAMIS_REDIS_PREFIX": prefix,
        "TAMIS_SETTLE_PAGES": 0,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 8,
    }
    released = web.hold_after(PAGES // 2 - 1)
    killed = start_crawls(plan)
    web.do_at(PAGES // 2, killed.kill)
    killed.end()
    released.set()
    _, before = _counted(redis_url, web.host, prefix)
    assert 0 < len(before) < PAGES

    start_crawls(plan).results()
    nodes, pages = _counted(redis_url, web.host, prefix)
    assert len(pages) > len(before)
    assert len(web.asked) > len(set(web.asked))  # the start page, for one, came twice

    fingerprint = RequestFingerprinter().fingerprint
    fetched = [url for url in urls if page_id_of(fingerprint(Request(url))) in pages]
    assert len(fetched) == len(pages)
    start_crawls({"urls": fetched, "TAMIS_REDIS_PREFIX": f"{prefix}-whole", "TAMIS_SETTLE_PAGES": 0}).results()
    assert _counted(redis_url, web.host, f"{prefix}-whole") == (nodes, pages)
    assert max(int.from_bytes(entry[:2], "little") for entry in nodes.values()) == len(pages)
