"""``scrapy crawl site``: one site or many, in-site links only, robots obeyed, a budget of pages per host."""

import resource
from types import SimpleNamespace
from urllib.parse import urljoin

import pytest
from scrapy import Request
from scrapy.http import HtmlResponse
from scrapy.settings import Settings
from w3lib.url import safe_url_string

from scrapy_tamis.project.feeds import UnbufferedFileStorage
from scrapy_tamis.project.site import MAX_REQUESTS, SiteSpider, new_links, parse_int, shard_of, start_urls
from scrapy_tamis.storage.keys import site_of
from scrapy_tamis.worker import links_of
from tamis import Page
from tests.scrapy_tamis.web import served


def _site(web):
    """A site of 12 pages with every kind of link; the first are too long for Scrapy, and more than go out at a time."""
    too_long = "".join(f"<a href=/{number}{'x' * 2_100}></a>" for number in range(MAX_REQUESTS + 1))
    for number in range(12):
        web.add(
            f"/page/{number}",
            f"<title>Page {number}</title>{too_long}"
            f"<p>This is what page number {number} has to say of number {number}.</p>"
            f'<a href="/page/{(number + 1) % 12}">next</a> <a href="/page/{(number + 5) % 12}#part">other</a>'
            '<a href="/private/diary">private</a> <a href="/picture.png">picture</a> <a href="/plain">plain</a>'
            '<a href="http://elsewhere.invalid/">elsewhere</a> <a href="/gone">gone</a> <a href="/leaves">leaves</a>'
            '<a href="mailto:me@example.org">write</a> <a href="/page/3?b=2&a=1">query</a>'
            '<a href="/home">home</a>',
        )
    web.add("/page/3?b=2&a=1", "<p>A page with a query, which is a page of its own and says so.</p>")
    web.add("/robots.txt", "User-agent: *\nDisallow: /private/\n", Content_Type="text/plain")
    web.add("/private/diary", "<p>private</p>")
    web.add("/plain", "plain words", Content_Type="text/plain")
    web.add("/leaves", b"", status=302, Location="http://elsewhere.invalid/")
    web.add("/home", b"", status=302, Location="/page/0")
    web.add("/start", b"", status=301, Location="/page/0")
    return web.url + "/start"


def _plan(**arguments):
    return {
        "spider": "site",
        "arguments": arguments,
        "ROBOTSTXT_OBEY": True,
        "RETRY_ENABLED": False,
        "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
    }


BUDGETS = [1, 5, 12]


@pytest.fixture(scope="module")
def crawled(shared_web, start_crawls, tmp_path_factory):
    """Crawls of all of a site, of as many pages of it as the budgets say, and of two sites, all in one process."""
    with served() as other:
        url, file = _site(shared_web), tmp_path_factory.mktemp("urls") / "urls.txt"
        file.write_text("\n".join(["# two sites", "", url, _site(other), url]))
        named = {"TAMIS_FIELD_NAMES": {"text": "body"}}
        plans = [_plan(url=url), *({**_plan(url=url, pages=str(pages)), **named} for pages in BUDGETS)]
        whole, *few, many = start_crawls(*plans, _plan(urls_file=str(file), pages=4)).results()
        return whole, few, many, other.host


def test_a_site_is_crawled_as_a_whole_and_nothing_beyond_it(shared_web, crawled):
    whole, *_ = crawled
    paths = sorted(item["url"].removeprefix(shared_web.url) for item in whole.items)
    assert paths == sorted([*(f"/page/{number}" for number in range(12)), "/page/3?b=2&a=1"])
    assert not {"/private/diary", "/picture.png"} & set(shared_web.asked)
    assert all("say" in item["text"] for item in whole.items)


def test_the_fields_of_pages_may_have_other_names(crawled):
    assert all(item["body"] and "text" not in item for each in crawled[1] for item in each.items)


def test_the_budget_of_pages_is_kept_whatever_links_turn_out_to_be(crawled):
    assert [len(each.items) for each in crawled[1]] == BUDGETS


def test_many_sites_from_a_file_each_with_its_own_budget(shared_web, crawled):
    *_, many, other = crawled
    hosts = [item["url"].split("/")[2] for item in many.items]
    assert sorted(hosts) == sorted([shared_web.host] * 4 + [other] * 4)


def test_links_that_wait_are_asked_for_where_all_callbacks_under_way_fail(web, crawl):
    links = "".join(f"<a href=/stumble/{number}>{number}</a>" for number in range(MAX_REQUESTS + 2))
    start = web.add("/", f"<p>The front page has links to pages.{links}<a href=/last>last</a>")
    for number in range(MAX_REQUESTS + 2):
        web.add(f"/stumble/{number}", f"<p>The callback fails with page number {number}.")
    last = web.add("/last", "<p>The last page of all that are linked to.")
    crawled = crawl(**_plan(url=start) | {"spider": "stumbling", "TAMIS_ENABLED": False})
    assert [item["url"] for item in crawled.items] == [start, last]
    assert crawled.stats["spider_exceptions/ZeroDivisionError"] == MAX_REQUESTS + 2


def crawl_made_up(spider, pages):
    """Answer the requests of a spider from made-up pages, (links, address that it leads to) by address, first come."""
    spider.crawler = SimpleNamespace(get_extension=lambda _: None)
    spider.settings = Settings()
    items, waiting = [], [Request(url, cb_kwargs={"start": site_of(url)}) for url in spider._start_urls]
    while waiting:
        request = waiting.pop(0)
        links, url = pages(request.url)
        body = "".join(f"<a href={link}>a</a>" for link in links).encode()
        response = HtmlResponse(url, body=body, encoding="utf-8", request=request)
        for each in spider.parse(response, **request.cb_kwargs):
            (waiting if isinstance(each, Request) else items).append(each)
    return items


def test_nothing_but_its_name_is_kept_of_a_host_that_is_finished():
    links = 10 * MAX_REQUESTS

    def pages(url):
        return [f"/{number}" for number in range(links)], url

    for limit in (links // 2, 2 * links):  # the budget is used up, or all links are
        spider = SiteSpider(url="http://a.example/", pages=limit)
        items = crawl_made_up(spider, pages)
        assert len(items) == min(limit, links + 1)
        assert spider.state == {"sites": {}, "finished": {"a.example"}}
        assert not spider._led_to


def test_no_start_address_is_lost_whichever_host_it_leads_to_and_whenever_it_is_answered(tmp_path):
    file = tmp_path / "urls.txt"
    starts = [f"http://{host}.example/{n}" for n in range(3) for host in ("a", "b", "old", "www.old")]
    file.write_text("\n".join(starts))

    def pages(url):
        return [], url.replace("//old", "//www.old").replace("//b.", "//new-b.")

    spider = SiteSpider(urls_file=str(file))
    items = crawl_made_up(spider, pages)
    assert {item["url"] for item in items} == {pages(url)[1] for url in starts}
    assert spider.state == {"sites": {}, "finished": {"a.example", "new-b.example", "www.old.example"}}


@pytest.mark.parametrize("is_read", [False, True])
def test_links_are_followed_whatever_else_a_page_has_for_links(is_read):
    body = "<base href='/b/'><a href='/seen#part'>1</a><a href=' ../a b?c=\u00e9#part '>2</a><area href='/d'>"
    body += "<a>3</a><a href='http://[/e'>4</a><a href='/f.PDF'>5</a><a href='mailto:g@h.example'>6</a>"
    response = HtmlResponse("https://h.example/", body=body.encode("cp1252"), encoding="cp1252")
    links = links_of(Page.parse(response.text, response.url)) if is_read else None
    found = new_links(response, "h.example", {"https://h.example/seen"}, links)
    assert list(found) == ["https://h.example/a%20b?c=%E9", "https://h.example/d"]


@pytest.mark.parametrize("page", ["https://h.example/f/one;v?q=1", "https://h.example/f/two", "https://h.example/"])
def test_relative_links_lead_from_each_page_where_they_would_in_a_browser(page):
    links = ["next", "./next?x=1", "../up", "..", "a/b", ".hidden", "?page=2", ";p", "é", "https:next"]
    found = new_links(HtmlResponse(page, body=b"", encoding="utf-8"), "h.example", set(), links)
    assert list(found) == [safe_url_string(urljoin(page, link)) for link in links]


@pytest.mark.parametrize("pages", [0, -1, "many", "", "1.5"])
def test_a_budget_that_is_no_number_is_a_clear_error(pages):
    with pytest.raises(ValueError, match="-a pages must be a whole number of at least 1"):
        parse_int("pages", pages)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        (None, "nothing to crawl"),
        ("example.org", r"did you mean https://example\.org\?"),
        ("//example.org/", r"did you mean https://example\.org/\?"),
        ("ftp://example.org/", "is not an http or https address"),
        ("https:///path", "is not an http or https address"),
    ],
)
def test_an_address_that_cannot_be_crawled_is_a_clear_error(url, message):
    with pytest.raises(ValueError, match=message):
        start_urls(url, None)


def test_a_file_of_addresses_is_checked_line_by_line(tmp_path):
    file = tmp_path / "urls.txt"
    file.write_text("https://a.example/\nb.example\n")
    with pytest.raises(ValueError, match=r"urls\.txt, line 2: 'b\.example' is not"):
        start_urls(None, str(file))
    with pytest.raises(ValueError, match="cannot read"):
        start_urls(None, str(tmp_path / "missing.txt"))
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match="cannot read"):
        start_urls(None, str(file))
    file.write_text("# nothing\n")
    with pytest.raises(ValueError, match="nothing to crawl"):
        start_urls(None, str(file))


def test_shards_part_the_hosts_among_them():
    urls = [f"https://{host}.example/{path}" for host in range(30) for path in "ab"]
    shards = [shard_of(urls, f"{number}/4") for number in range(4)]
    assert sorted(url for shard in shards for url in shard) == sorted(urls)
    hosts = [{url.split("/")[2] for url in shard} for shard in shards]
    assert all(hosts)
    assert sum(map(len, hosts)) == 30
    assert shard_of(urls, None) == shard_of(urls, "0/1") == urls


def test_a_shard_without_a_host_says_so(caplog):
    SiteSpider(url="https://example.org/", shard="0/2")
    SiteSpider(url="https://example.org/", shard="1/2")
    (record,) = caplog.records
    assert record.getMessage() == "Nothing to crawl: all of the hosts given are in other shards than 0/2"


def test_an_argument_that_the_spider_does_not_have_is_warned_of(caplog):
    SiteSpider(url="https://example.org/", page="20", name="mine", _job="scrapyd's")
    (record,) = caplog.records
    assert record.getMessage() == "This spider has no argument -a page"


@pytest.mark.parametrize("shard", ["", "4/4", "1", "a/b", "-1/4", "1/0"])
def test_a_shard_of_another_form_is_a_clear_error(shard):
    with pytest.raises(ValueError, match="-a shard must be K/N"):
        shard_of([], shard)


@pytest.mark.parametrize(
    ("before", "kept"),
    [
        *((b'{"a": 1}\n{"a": 2}\n', b'{"a": 1}\n{"a": 2}\n'), (b'{"a": 1}\n{"a": "ha', b'{"a": 1}\n')),
        *((b'{"a": "' + b"x" * 3_000_000, b""), (b'{"a": 1}\n{"a": "' + b"x" * 3_000_000, b'{"a": 1}\n'), (b"", b"")),
    ],
)
def test_half_a_line_is_cut_off(tmp_path, before, kept):
    file = tmp_path / "items.jsonl"
    file.write_bytes(before)
    with UnbufferedFileStorage(str(file), feed_options={"overwrite": False}).open(None) as stream:
        stream.write(b'{"a": 3}\n')
    assert file.read_bytes() == kept + b'{"a": 3}\n'


def test_other_files_are_appended_to_as_they_are(tmp_path):
    file = tmp_path / "items.csv"
    file.write_bytes(b"a\n1")
    with UnbufferedFileStorage(str(file), feed_options={"overwrite": False}).open(None) as stream:
        stream.write(b"\n2\n")
    assert file.read_bytes() == b"a\n1\n2\n"


def test_an_item_that_a_full_disk_has_no_room_for_is_an_error_and_leaves_nothing(tmp_path):
    file, (soft, hard) = tmp_path / "items.jsonl", resource.getrlimit(resource.RLIMIT_FSIZE)
    with UnbufferedFileStorage(str(file), feed_options={"overwrite": True}).open(None) as stream:
        stream.write(b'{"a": 1}\n')
        resource.setrlimit(resource.RLIMIT_FSIZE, (12, hard))
        try:
            with pytest.raises(OSError, match="File too large"):
                stream.write(b'{"a": 2}\n')
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        stream.write(b'{"a": 3}\n')
    assert file.read_bytes() == b'{"a": 1}\n{"a": 3}\n'
