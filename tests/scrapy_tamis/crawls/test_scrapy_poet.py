"""Content asked for by callbacks and page objects, with the real scrapy-poet over real HTTP."""

import json
from dataclasses import fields

from scrapy_tamis import Content
from scrapy_tamis.fields import FIELDS
from tests.scrapy_tamis.forked import Forked

PROGRAM = """
import json, sys
import attrs, scrapy
from scrapy.crawler import AsyncCrawlerProcess
from scrapy_tamis import Content
from web_poet import WebPage

@attrs.define
class Story(WebPage):
    content: Content

    def to_item(self):
        return {"url": str(self.response.url), "text": self.content.text, "kind": "page object"}

class Spider(scrapy.Spider):
    name = "poet"

    async def start(self):
        for url in sys.argv[2:]:
            yield scrapy.Request(url, callback=self.parse)
            yield scrapy.Request(url + "?page", callback=self.parse_page)
        yield scrapy.Request(sys.argv[2] + "?alone", callback=self.parse, meta={"tamis": False})
        yield scrapy.Request(sys.argv[2] + "?model", callback=self.parse, meta={"tamis": {"model": "logistic"}})

    async def parse(self, response, content: Content):
        yield content

    async def parse_page(self, response, page: Story):
        yield page.to_item()

process = AsyncCrawlerProcess({
    "ADDONS": {"scrapy_tamis.Addon": 500, "scrapy_poet.Addon": 300},
    "SCRAPY_POET_PROVIDERS": {"scrapy_tamis.providers.ContentProvider": 500},
    "TAMIS_OUTPUTS": ["markdown", "metadata"],
    "TAMIS_DUPLICATES": "mark",
    "FEEDS": {sys.argv[1]: {"format": "jsonlines"}},
    "TAMIS_STATE_DIR": sys.argv[1] + ".state",
    "TAMIS_REDIS_TIMEOUT": 60,  # of a busy machine
    "CONCURRENT_REQUESTS": 1,
    "TELNETCONSOLE_ENABLED": False,
})
crawler = process.create_crawler(Spider)
process.crawl(crawler)
process.start()
print(json.dumps({key: value for key, value in crawler.stats.get_stats().items() if key.startswith("tamis/")}))
"""


def test_callbacks_and_page_objects_get_the_content_they_ask_for(web, forks, tmp_path):
    urls = web.add_articles(12)
    web.pages |= {f"{path}?{query}": page for path, page in web.pages.items() for query in ("page", "alone", "model")}
    (tmp_path / "poet.py").write_text(PROGRAM)
    out = tmp_path / "items.jsonl"
    done = Forked(forks, "poet", str(out), *urls, folder=tmp_path).end()
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    items = [json.loads(line) for line in out.read_text().splitlines()]
    contents = [item for url in urls for item in items if item.get("kind") != "page object" and item["url"] == url]
    assert len(contents) == len(urls)
    alone, by_model = (
        next(item for item in items if item.get("url") == f"{urls[0]}?{key}") for key in ("alone", "model")
    )
    assert alone.pop("url")
    assert not any(alone.values())
    assert by_model["model_version"].startswith("logistic-")
    assert all(item["text"].startswith("Story") for item in items if item is not alone)
    assert contents[-1]["label_source"] == "site"
    assert contents[0]["markdown"].startswith("# Story 0\n\n")
    assert contents[0]["metadata"]["headline"] == "Story 0"
    page_objects = {item["url"]: item["duplicate_of"] for item in items if item.get("kind") == "page object"}
    assert page_objects == {f"{url}?page": url for url in urls}
    stats = json.loads(done.stdout.splitlines()[-1])
    assert stats["tamis/pages/counted"] + stats.get("tamis/pages/repeated", 0) == 25
    assert stats["tamis/items/without_html"] == 12, "those of the page object"
    assert stats["tamis/items/opted_out"] == 1
    assert stats["tamis/items/cleaned"] == 13
    assert stats["tamis/content/provided"] == 25


def test_items_made_of_the_content_of_pages_as_documented_are_no_reason_for_a_warning(web, forks, tmp_path):
    yielded = '{"url": content.url, "words": len(content.text.split())}'
    (tmp_path / "poet.py").write_text(PROGRAM.replace("yield content", f"yield {yielded}").replace("?page", ""))
    done = Forked(forks, "poet", str(tmp_path / "items.jsonl"), *web.add_articles(2), folder=tmp_path).end()
    assert done.returncode == 0, done.stderr
    assert "None of the" not in done.stderr


def test_the_item_class_has_every_field_that_is_written():
    assert [field.name for field in fields(Content)][2:] == [field.name for field in FIELDS]
