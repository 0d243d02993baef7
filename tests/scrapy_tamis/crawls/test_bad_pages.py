"""Pages as bad as they come, over HTTP: every one of them ends as an item, and none as an error."""

import pytest

PAGES = {
    "nothing": b"",
    "blank": b" \n\t ",
    "nul": b"<p>before\x00after, in one and the same paragraph</p>",
    "only nul": b"\x00" * 1000,
    "binary": bytes(range(256)) * 400,
    "no tags": "words without any markup at all".encode("utf-16"),
    "wrong charset": b'<meta charset="utf-8"><p>na\xefve caf\xe9 owners</p>',
    "unknown charset": b'<meta charset="klingon-8"><p>some words</p>',
    "deep": b"<div>" * 10_000 + b"the bottom of it all" + b"</div>" * 10_000,
    "one tag": b"<p>" + b"word " * 40_000,
    "siblings": b"<b></b>" * 150_000,
    "attributes": b"<div " + b"".join(b'a%d="x" ' % number for number in range(5_000)) + b">words</div>",
    "twice": b'<p class="a" class="b" id=x id=y>the same attribute twice</p>',
    "frames": b"<html><frameset cols='1,2'><frame src=a><frame src=b><noframes>no frames</noframes></frameset></html>",
    "xhtml": b'<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><body><p>strict</p></body></html>',
    "comment": b"<!-- never closed <p>words</p>",
    "script": b"<script>while(1){}</script>",
    "control characters": b"<p><a href='x'>\x1d</a>&lt;script&gt; some words <b>\x02</b><del>\x03</del></p>",
    "bold words": b"<b>word</b>\n" * 4_000,
    "links": b"".join(b"<a href=/%d>link</a> " % number for number in range(2_000)),
    "tables in tables": b"<table><tr><td>" * 1_000 + b"words at the bottom" + b"</td></tr></table>" * 1_000,
    "long attribute": b'<div title="' + b"x" * 200_000 + b'">words</div>',
    "surrogates": b"<p>\xed\xa0\x80 words \xed\xb0\x80</p>" * 1_000,
    "after the end": b"<html><body><p>words</p></body></html><p>more words</p>" * 1_000,
    "unclosed quotes": b"<a href=\"x ><p title='" * 1_000,
    "misnested": b"<b><i><p></b></i><table><p><form><td>x</form>" * 1_000,
    "entities": b"<p>&#0; &#xD800; &#x110000; &bogus; &amp;</p>",
}

NO_HTML = {"binary", "only nul"}


@pytest.fixture(scope="module")
def crawled(shared_web, start_crawls):
    urls = [shared_web.add(f"/{name.replace(' ', '-')}", body) for name, body in PAGES.items()]
    outputs = ["clean_html", "markdown", "segments"]
    (result,) = start_crawls({"urls": urls, "TAMIS_OUTPUTS": outputs}).results()
    return shared_web, result


@pytest.mark.parametrize("name", PAGES)
def test_a_bad_page_is_an_item_with_a_status(crawled, name):
    web, result = crawled
    item = result.item(f"{web.url}/{name.replace(' ', '-')}")
    expected = {"binary"} if name in NO_HTML else {"cleaned", "fallback", "empty", "repeated", "too_large"}
    assert item["status"] in expected
    assert 0 <= item["template_share"] <= 1
    assert {"clean_html", "markdown", "segments"} <= set(item)


def test_no_bad_page_is_an_error(crawled):
    _, result = crawled
    assert "Traceback" not in result.log
    assert not {"tamis/pages/failed", "tamis/items/failed"} & set(result.stats)
    assert result.stats["item_scraped_count"] == len(PAGES)
