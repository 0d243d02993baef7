"""``tamis.compat.trafilatura`` takes the arguments of trafilatura and gives its formats."""

import importlib
import inspect
import json
from types import ModuleType

import pytest
from lxml import html

from tamis.compat import trafilatura

PAGE = """<html lang=en><head><title>Storm - The Bay</title><meta property="og:site_name" content="The Bay">
<meta name=author content="Ann Lee"><meta property="article:published_time" content="2024-05-06T07:00:00Z"></head>
<body><nav><a href="/">Home</a> <a href="/news">News</a></nav><article><h1>Storm closes the harbour</h1>
<p>Winds of up to 130 km/h hit the <b>coast</b> on Monday, and the <a href="/ferry">ferries</a> stayed in port.</p>
<p class=aside>The mayor asked everybody to stay at home until the storm is over on Tuesday evening.</p>
<table><tr><th>Day<th>Wind<tr><td>Monday<td>130</table></article><footer>Copyright 2024</footer></body></html>"""
URL = "https://bay.example/storm"


def test_arguments_and_defaults_are_those_of_trafilatura() -> None:
    def arguments_of(module: ModuleType, name: str) -> dict[str, object]:
        found = inspect.signature(getattr(module, name)).parameters
        # None and False mean the same, and versions differ in them
        return {name: each.default or None for name, each in found.items() if name not in {"config", "arguments"}}

    theirs = importlib.import_module("trafilatura")
    for name in ("bare_extraction", "extract", "extract_metadata"):
        assert list(arguments_of(trafilatura, name).items()) == list(arguments_of(theirs, name).items())


def test_every_format_holds_the_content_and_not_the_template() -> None:
    out = {
        kind: trafilatura.extract(PAGE, url=URL, output_format=kind, with_metadata=True, include_links=True) or ""
        for kind in ("txt", "markdown", "json", "html")
    }
    for text in out.values():
        assert "Winds of up to 130 km/h" in text
        assert "Copyright" not in text
    document = json.loads(out["json"])
    facts = [document[name] for name in ("author", "date", "source-hostname", "hostname")]
    assert facts == ["Ann Lee", "2024-05-06", "The Bay", "bay.example"]
    fingerprint = importlib.import_module("trafilatura.deduplication").content_fingerprint
    assert document["fingerprint"] == fingerprint(f"{document['title']} {document['raw_text']}")
    assert "[ferries](https://bay.example/ferry)" in out["markdown"]
    tree = html.document_fromstring(out["html"])
    assert tree.find("body//a").get("href") == "https://bay.example/ferry"
    assert tree.find("body//tr/th").text == "Day"
    assert '<meta name="author" content="Ann Lee">' in out["html"]
    comment = "<div class=comment><b>Bo</b> <time>May 6, 2024</time><p>So it&#12;is on the coast.</div>"
    page = PAGE.replace("Ann", "An&#1;n").replace("<footer>", f"<div id=comments>{comment * 3}</div><footer>")
    text = trafilatura.extract(page, output_format="html", with_metadata=True) or ""
    assert all(part in text for part in ('content="Ann Lee"', "So it is on the coast."))  # no control characters


@pytest.mark.parametrize(
    "condition",
    [{"target_language": "de"}, {"url_blacklist": {URL}}, {"max_tree_size": 3}, {"prune_xpath": "//body/*"}],
)
def test_the_result_is_none_if_a_condition_is_not_met(condition: dict[str, object]) -> None:
    assert trafilatura.extract(PAGE, url=URL, **condition) is None  # type: ignore[arg-type]
    assert trafilatura.extract("") is None
    assert trafilatura.extract(None) is None


def test_parts_can_be_left_out() -> None:
    text = trafilatura.extract(PAGE, prune_xpath=["//*[@class='aside']"], include_tables=False)
    assert "Storm closes the harbour" in (text or "")
    assert not {"mayor", "Monday|130"} & set((text or "").split())
    assert trafilatura.bare_extraction(PAGE, as_dict=True, author_blacklist={"Ann Lee"})["author"] is None
    assert trafilatura.extract_metadata(PAGE, URL).sitename == "The Bay"


def test_missing_features_and_formats_are_errors() -> None:
    for kind in ("csv", "xml", "xmltei"):
        with pytest.raises(NotImplementedError, match=f"does not write {kind}: take html, .* json, markdown or txt"):
            trafilatura.extract(PAGE, output_format=kind)
    with pytest.raises(NotImplementedError, match="no options"):
        trafilatura.extract(PAGE, options=object())
    with pytest.raises(AttributeError, match=r"no fetch_url.*Scrapy"):
        trafilatura.fetch_url(URL)
    with pytest.raises(ValueError, match="no such output_format"):
        trafilatura.extract(PAGE, output_format="pdf")
