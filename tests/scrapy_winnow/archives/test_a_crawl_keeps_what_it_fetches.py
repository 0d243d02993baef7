"""``WINNOW_WARC``: read back by warcio and by ``winnow warc``, whole records after kill -9, no file written over."""

import asyncio
import gzip
import json
import signal
import threading
import time

from scrapy import Request
from scrapy.http import Response
from scrapy.utils.test import get_crawler
from warcio.archiveiterator import ArchiveIterator

from scrapy_winnow.commands import main
from scrapy_winnow.crawl_archive import CrawlArchive, middleware
from scrapy_winnow.crawl_archive.files import RotatingFiles
from tests.scrapy_winnow.waiting import SECONDS, until


def _records(file):
    with file.open("rb") as stream:
        for record in ArchiveIterator(stream, check_digests="raise"):
            yield record.rec_type, record.rec_headers, record.http_headers, record.content_stream().read()


def test_a_crawl_becomes_an_archive_that_is_cleaned_again(crawl, web, tmp_path):
    urls = web.add_articles(12)
    body = gzip.compress(web.pages["/3"][2])
    web.pages["/3"] = (200, {"Content-Encoding": "gzip"}, body)
    crawled = crawl(urls=urls, WINNOW_WARC=str(tmp_path / "crawl-%(time)s.warc.gz"))
    (file,) = tmp_path.glob("crawl-*.warc.gz")
    by_kind = {}
    for kind, *record in _records(file):
        by_kind.setdefault(kind, {})[record[0]["WARC-Target-URI"]] = record
    assert set(by_kind["response"]) == set(by_kind["request"]) == set(by_kind["conversion"]) == set(urls)
    headers, http, page = by_kind["response"][urls[3]]
    assert page == gzip.decompress(body)
    assert http["X-Crawler-Content-Encoding"] == "gzip" or http.get_header("Content-Encoding") is None
    text_headers, _, text = by_kind["conversion"][urls[3]]
    assert text_headers["WARC-Refers-To"] == headers["WARC-Record-ID"]
    assert text.decode() == crawled.item(urls[3])["text"] + "\n"
    assert by_kind["request"][urls[3]][0]["WARC-Concurrent-To"] == headers["WARC-Record-ID"]
    assert crawled.winnow_stats["winnow/warc/written"] == 24

    assert main(["warc", str(file), "-o", str(tmp_path / "out"), "-j", "1"]) == 0
    (rows,) = (tmp_path / "out").glob("*.jsonl.gz")
    found = {row["url"]: row for row in map(json.loads, gzip.decompress(rows.read_bytes()).splitlines())}
    assert set(found) == set(urls)
    assert {row["evidence_pages"] for row in found.values()} == {12}


def test_a_page_that_is_fetched_again_unchanged_is_a_revisit(crawl, web, tmp_path):
    (url,) = web.add_articles(1)
    crawl(urls=[url, url], WINNOW_WARC=str(tmp_path / "crawl.warc.gz"))
    records = list(_records(tmp_path / "crawl.warc.gz"))
    first, again = (next(record for record in records if record[0] == kind) for kind in ("response", "revisit"))
    assert again[1]["WARC-Refers-To-Target-URI"] == url
    assert again[1]["WARC-Refers-To-Date"] == first[1]["WARC-Date"]
    assert again[1]["WARC-Payload-Digest"] == first[1]["WARC-Payload-Digest"]
    assert again[3] == b""


def test_all_but_the_last_record_is_whole_after_a_kill(start_crawls, web, tmp_path):
    urls = web.add_articles(40)
    web.on_request = lambda _: time.sleep(0.02)
    crawl = start_crawls({"urls": urls, "WINNOW_WARC": str(tmp_path / "crawl.warc.gz"), "CONCURRENT_REQUESTS": 1})
    file = tmp_path / "crawl.warc.gz"
    until(lambda: file.exists() and file.stat().st_size > 8_000)
    crawl.process.send_signal(signal.SIGKILL)
    crawl.process.communicate()
    kinds = [kind for kind, *_ in _records(tmp_path / "crawl.warc.gz")]
    assert kinds[:2] == ["response", "request"]
    assert len(kinds) > 5


def test_files_are_begun_anew_by_size_and_never_written_over(tmp_path):
    (tmp_path / "crawl.warc.gz").write_bytes(b"old")
    files = RotatingFiles(str(tmp_path / "crawl.warc.gz"), 10)
    for _ in range(3):
        files.write(b"x" * 10)
    files.close()
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        *("crawl-2.warc.gz", "crawl-3.warc.gz", "crawl-4.warc.gz", "crawl.warc.gz")
    ]
    assert (tmp_path / "crawl.warc.gz").read_bytes() == b"old"


async def test_requests_wait_for_a_disk_that_is_behind_and_the_event_loop_does_not(monkeypatch, tmp_path):
    monkeypatch.setattr(middleware, "_MOST_WAITING", 10_000)
    crawler = get_crawler(settings_dict={"WINNOW_WARC": str(tmp_path / "crawl.warc.gz")})
    archive = CrawlArchive.from_crawler(crawler)
    disk = threading.Event()
    write = RotatingFiles.write
    monkeypatch.setattr(RotatingFiles, "write", lambda files, record: disk.wait() and write(files, record))
    request = Request("http://north.example/")
    await archive.process_request(request)
    for number in range(3):  # what is on its way already is kept, and holds nobody up
        url = f"http://north.example/{number}"
        archive.received(Response(url, body=bytes([number]) * 5_000), Request(url))
    waiting = asyncio.ensure_future(archive.process_request(request))
    for _ in range(20):
        await asyncio.sleep(0.001)
        assert not waiting.done()
    disk.set()
    await asyncio.wait_for(waiting, SECONDS)
    await archive.close()
    assert [kind for kind, *_ in _records(tmp_path / "crawl.warc.gz")] == ["response", "request"] * 3
