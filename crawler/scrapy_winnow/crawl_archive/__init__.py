"""``WINNOW_WARC``: what a crawl fetches, kept in WARC files with the clean text beside it."""

from scrapy_winnow.crawl_archive.middleware import CrawlArchive

__all__ = ["CrawlArchive"]
