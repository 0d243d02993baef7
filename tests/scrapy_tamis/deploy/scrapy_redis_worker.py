"""One worker on the queue of scrapy-redis: a plan in JSON as its argument, a line of output for each item stored."""

import json
import logging
import sys

import scrapy
from scrapy.crawler import AsyncCrawlerProcess


class Stories(scrapy.Spider):
    """Stores every page, and follows the links of the first one."""

    name = "stories"

    def parse(self, response):
        for link in response.css("a.story::attr(href)").getall():
            yield response.follow(link)
        yield {"url": response.url, "html": response.text}

    @staticmethod
    def stored(item):
        print(json.dumps({"url": item["url"], "status": item["status"], "text": item["text"]}), flush=True)


if __name__ == "__main__":
    plan = json.loads(sys.argv[1])
    logging.basicConfig(level=logging.WARNING)
    process = AsyncCrawlerProcess(plan["settings"], install_root_handler=False)
    crawler = process.create_crawler(Stories)
    crawler.signals.connect(Stories.stored, scrapy.signals.item_scraped)
    process.crawl(crawler, start_urls=[plan["url"]])
    process.start()
    print(json.dumps(crawler.stats.get_stats(), default=str), file=sys.stderr)
