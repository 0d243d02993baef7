"""One crawl in a process of its own: a plan in JSON as its argument, what came out in JSON in the plan's ``out``."""

import asyncio
import dataclasses
import gc
import hashlib
import json
import sys
import warnings
from pathlib import Path

import attrs
import pydantic
import scrapy
from itemadapter import ItemAdapter
from itemloaders.processors import TakeFirst
from scrapy.crawler import AsyncCrawlerProcess, Crawler
from scrapy.loader import ItemLoader
from scrapy.utils.trackref import live_refs

from scrapy_tamis import Content, MarkDuplicates, duplicates
from scrapy_tamis.extension import Tamis
from scrapy_tamis.project.site import SiteSpider
from tests.scrapy_tamis.waiting import SECONDS

warnings.filterwarnings("ignore", r"Spider\.log\(\)")  # spidermon 1.27 calls it


class StumblingSpider(SiteSpider):
    """Fails with the pages whose address says so."""

    name = "stumbling"

    def parse(self, response, **known):
        for each in super().parse(response, **known):
            if "stumble" in response.url:
                raise ZeroDivisionError
            yield each


SPIDERS = {spider.name: spider for spider in (SiteSpider, StumblingSpider)}
PLAIN = {"LOG_LEVEL": "INFO", "TELNETCONSOLE_ENABLED": False, "REMOTE_CONTROL_ENABLED": False}


class PydanticItem(pydantic.BaseModel):
    url: str
    html: str
    text: str = ""
    template_share: float = 0.0
    title: str | None = None


class FrozenPydanticItem(PydanticItem, frozen=True):
    pass


def with_fields(name):
    """A plain class with the same fields, to be made an item class."""
    types = {"url": str, "html": str, "text": str, "template_share": float, "title": str}
    defaults = {"text": "", "template_share": 0.0, "title": None}
    return type(name, (), {"__module__": __name__, "__annotations__": types, **defaults})


DataclassItem = dataclasses.dataclass(with_fields("DataclassItem"))
FrozenItem = dataclasses.dataclass(frozen=True, slots=True)(with_fields("FrozenItem"))
AttrsItem = attrs.define(with_fields("AttrsItem"))
FrozenAttrsItem = attrs.frozen(with_fields("FrozenAttrsItem"))


class ScrapyItem(scrapy.Item):
    url = scrapy.Field()
    html = scrapy.Field()
    text = scrapy.Field()
    template_share = scrapy.Field()
    title = scrapy.Field()


class RoomlessItem(scrapy.Item):
    url = scrapy.Field()
    html = scrapy.Field()


class ForbiddingItem(scrapy.Item):
    """Refuses its text with an exception of its own."""

    url = scrapy.Field()
    html = scrapy.Field()
    text = scrapy.Field()

    def __setitem__(self, key, value):
        if key == "text":
            raise ZeroDivisionError
        super().__setitem__(key, value)


class AddressFingerprinter:
    """Fingerprints that are addresses: all begin alike."""

    def fingerprint(self, request):
        return request.url.encode()


class FirstLoader(ItemLoader):
    default_output_processor = TakeFirst()


def load(response, loader, item):
    loading = loader(item, response=response)
    loading.replace_value("url", response.url)
    loading.replace_value("html", response.text)
    return loading.load_item()


ODD_URLS = ["http://[broken", "http://a.example:99999/", "http://a.example/\udc80", "", "http://", "\x00", "a b"]

FALSY = {"comments": 0, "status": 0, "confidence": False, "template_share": 0.0, "title": "", "kind": [], "text": None}
MAKERS = {
    "odd": lambda response: [{"url": url, "html": response.text} for url in ODD_URLS],
    "frozen dataclass": lambda response: FrozenItem(response.url, response.text),
    "frozen attrs": lambda response: FrozenAttrsItem(response.url, response.text),
    "frozen pydantic": lambda response: FrozenPydanticItem(url=response.url, html=response.text),
    "roomless": lambda response: RoomlessItem(url=response.url, html=response.text),
    "forbidding": lambda response: ForbiddingItem(url=response.url, html=response.text),
    "dict": lambda response: {"url": response.url, "html": response.text},
    "dataclass": lambda response: DataclassItem(response.url, response.text),
    "attrs": lambda response: AttrsItem(response.url, response.text),
    "pydantic": lambda response: PydanticItem(url=response.url, html=response.text),
    "content": lambda response: Content(url=response.url, html=response.text),
    "object": lambda _: object(),
    "item": lambda response: ScrapyItem(url=response.url, html=response.text),
    "bytes": lambda response: {"url": response.url, "html": response.body},
    "copy": lambda response: {"url": response.url, "html": response.text + " "},
    "raw": lambda response: {"url": response.url, "raw": response.text, "text": "mine", "status": 200},
    "falsy": lambda response: {"url": response.url, "html": response.text} | FALSY,
    "number": lambda response: {"url": response.url, "html": 7},
    "none": lambda response: {"url": response.url},
    "linked": lambda response: [{"link": f"https://shop.example/{n}", "html": response.text} for n in range(2)],
    "unwanted": lambda response: {"url": response.url, "html": response.text, "tamis": False},
    "of news": lambda response: {
        "url": response.url,
        "html": response.text,
        "tamis": {"site": "news.example", "count": False},
    },
    "listing first": lambda response: [{"url": response.url}, {"url": response.url, "html": response.text}],
    "nameless": lambda response: {"html": response.text},
    "loaded": lambda response: load(response, ItemLoader, item={}),
    "loaded to a dataclass": lambda response: load(response, FirstLoader, item=DataclassItem("", "")),
    "unruled": lambda response: [
        {"url": response.url, "html": response.text, **more} for more in ({}, {"tamis": {"rules": False}})
    ],
    "twice": lambda response: [{"url": response.url, "html": response.text} for _ in range(2)],
    "kinds": lambda response: [MAKERS[kind](response) for kind in ("bytes", "copy", "dataclass", "dict", "dict")],
}


class PlannedSpider(scrapy.Spider):
    """Asks for the addresses of the plan, with its meta, and makes items of its kind."""

    name = "planned"
    on_error = None

    async def start(self):
        tamis = self.crawler.get_extension(Tamis)
        while self.when_ready and len(tamis.cleaner.pool._processes) < self.when_ready:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        for url in self.urls:
            yield scrapy.Request(url, meta=dict(self.meta), errback=self.on_error, dont_filter=True)

    def parse(self, response):
        if not isinstance(response, scrapy.http.TextResponse):
            return
        made = MAKERS[self.item](response)
        yield from made if isinstance(made, list) else [made]


class ListSpider(PlannedSpider):
    """Takes the tree of a page apart, and returns a list."""

    def parse(self, response):
        for element in response.css("div.story"):
            element.drop()
        return [{"url": response.url, "html": response.text}]


class ErrbackSpider(PlannedSpider):
    """Makes items of error pages."""

    def on_error(self, failure):
        return self.parse(failure.value.response)


class CarryingSpider(PlannedSpider):
    """Carries the item of each page to a second one, whose callback yields it."""

    def parse(self, response):
        item = MAKERS[self.item](response)
        yield scrapy.Request(
            self.second, self.finish, meta=self.second_meta, cb_kwargs={"item": item}, dont_filter=True
        )

    def finish(self, _, item):
        yield item


class FetchingSpider(PlannedSpider):
    """Fetches a second page in the callback of each, and makes an item of that."""

    async def parse(self, _):
        yield MAKERS[self.item](await self.crawler.engine.download_async(scrapy.Request(self.second)))


class FedSpider(PlannedSpider):
    """Asks for further addresses whenever it is idle, and so once those before have been stored."""

    @classmethod
    def from_crawler(cls, crawler, *args, **kwargs):
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.feed, scrapy.signals.spider_idle)
        return spider

    def feed(self):
        if self.later:
            for url in self.later.pop(0):
                self.crawler.engine.crawl(scrapy.Request(url, dont_filter=True))
            raise scrapy.exceptions.DontCloseSpider


CALLBACKS = {
    "generator": PlannedSpider,
    "list": ListSpider,
    "errback": ErrbackSpider,
    "fed": FedSpider,
    "carrying": CarryingSpider,
    "fetching": FetchingSpider,
}


class FailingListener:
    """Fails with each item that was cleaned, as what writes to a full disk does."""

    @classmethod
    def from_crawler(cls, crawler):
        def listen():
            crawler.get_extension(Tamis).on_cleaned.append(lambda *_: Path("/no such folder/file").touch())

        crawler.signals.connect(listen, scrapy.signals.spider_opened, weak=False)
        return cls()


class LosingPipeline:
    """Stores slowly, and loses the first item that it gets in the way that the setting LOSES names."""

    def __init__(self, how):
        self.how = how

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler.settings["LOSES"])

    async def process_item(self, item, spider=None):  # noqa: ARG002
        how, self.how = self.how, None
        await asyncio.sleep(0.3)
        if how == "drop":
            raise scrapy.exceptions.DropItem("lost")
        if how == "error":
            raise ZeroDivisionError
        return dict(item)


class HashedNames(MarkDuplicates):
    """Knows documents by hashes of their addresses."""

    def original_name(self, url):
        return hashlib.sha256(url.encode()).hexdigest()


class ReplacingPipeline:
    """Makes a dataclass of each item, before ours sees it."""

    async def process_item(self, item, spider=None):  # noqa: ARG002
        await asyncio.sleep(0)
        return DataclassItem("http://elsewhere.example/", item["html"])


def prepare(process, plan):
    """Make the crawl of a plan; return its crawler and the list that its items will be in."""
    settings = {"ADDONS": {"scrapy_tamis.Addon": 500}, **plan["settings"]}
    if plan.get("spider") in SPIDERS:
        spider, arguments = SPIDERS[plan["spider"]], plan["arguments"]
    else:
        spider = type(
            "Planned", (CALLBACKS[plan.get("callback", "generator")],), {"custom_settings": plan.get("custom_settings")}
        )
        arguments = {
            "urls": plan["urls"],
            "later": plan.get("later", []),
            "meta": plan.get("meta", {}),
            "when_ready": plan.get("when_ready", 0),
            "item": plan.get("item", "dict"),
            "second": plan.get("second"),
            "second_meta": plan.get("second_meta", {}),
        }
    crawler = process.create_crawler(Crawler(spider, {**PLAIN, **settings}))
    items = []

    def scraped(item, response):
        fields = ItemAdapter(item).asdict() if ItemAdapter.is_item(item) else {}
        if not plan.get("with_html"):
            fields.pop("html", None)
        items.append({name: value for name, value in fields.items() if not isinstance(value, bytes)})

    crawler.signals.connect(scraped, scrapy.signals.item_scraped, weak=False)
    process.crawl(crawler, **arguments)
    return crawler, items


def main(plans):
    duplicates.STORE_TIMEOUT_S = SECONDS
    before = gc.get_freeze_count()
    process = AsyncCrawlerProcess(PLAIN)
    prepared = [prepare(process, plan) for plan in plans["crawls"]]
    process.start()
    for crawler, _ in prepared:
        del crawler.engine.scraper.slot
    gc.collect()
    alive = sum(len(refs) for kind, refs in live_refs.items() if issubclass(kind, scrapy.http.Response))
    results = []
    for crawler, items in prepared:
        stats = crawler.stats.get_stats()
        plain = {name: value for name, value in stats.items() if isinstance(value, int | float | str)}
        plain |= {"responses_alive": alive, "frozen": gc.get_freeze_count() - before}
        results.append({"items": items, "stats": plain})
    with open(plans["out"], "w") as out:  # noqa: PTH123
        json.dump(results, out, default=repr)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
