"""A report of a crawl in one HTML file: what was cut where, how it came about, and what to look at.

A :class:`~scrapy_winnow.report.records.CrawlRecord` is gathered by :class:`~scrapy_winnow.report.crawl.CrawlReport`
while a crawl runs, or read from what one has left; :func:`~scrapy_winnow.report.document.report` writes it down.
"""
