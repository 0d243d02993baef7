"""The add-on: ``ADDONS = {"scrapy_winnow.Addon": 500}`` is all that a project needs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings


class Addon:
    """Enables the extension, the spider middleware and the item pipeline, unless the project names them itself."""

    def update_settings(self, settings: BaseSettings) -> None:
        """Add the components; those that the project names stay as they are, ``None`` included."""
        # Imported late, so that `import scrapy_winnow` is cheap for the command line.
        from scrapy_winnow.extension import Winnow  # noqa: PLC0415
        from scrapy_winnow.middleware import CountNodes  # noqa: PLC0415
        from scrapy_winnow.pipeline import CleanItems  # noqa: PLC0415

        settings.setdefault_in_component_priority_dict("EXTENSIONS", Winnow, 0)
        settings.setdefault_in_component_priority_dict("SPIDER_MIDDLEWARES", CountNodes, 45)
        settings.setdefault_in_component_priority_dict("ITEM_PIPELINES", CleanItems, 100)
        if sys.stderr is not None and sys.stderr.isatty():
            from scrapy_winnow.report.crawl import CrawlProgress  # noqa: PLC0415

            settings.setdefault_in_component_priority_dict("EXTENSIONS", CrawlProgress, 10)
        if settings.get("WINNOW_METRICS"):
            from scrapy_winnow.metrics import CrawlMetrics  # noqa: PLC0415

            settings.setdefault_in_component_priority_dict("EXTENSIONS", CrawlMetrics, 10)
        if settings.get("WINNOW_REPORT"):
            from scrapy_winnow.report.crawl import CrawlReport  # noqa: PLC0415

            settings.setdefault_in_component_priority_dict("EXTENSIONS", CrawlReport, 10)
