"""A report of a crawl in one HTML file: what was cut where, how it changed over time, and what should be checked.

A :class:`~scrapy_winnow.report.records.CrawlRecord` is collected by :class:`~scrapy_winnow.report.crawl.CrawlReport`
during a crawl, or read from its items; :func:`~scrapy_winnow.report.document.render_report` writes it.
"""
