"""The add-on: ``ADDONS = {"scrapy_tamis.Addon": 500}`` is all that a project needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_tamis.extras import missing_package

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings


class Addon:
    """Enables the extension, the spider middleware and the item pipeline, unless the project names them itself."""

    def update_settings(self, settings: BaseSettings) -> None:
        """Add the components; those that the project names stay as they are, ``None`` included."""
        from scrapy.utils.misc import load_object  # noqa: PLC0415  (`import scrapy_tamis` is cheap for the commands)

        components = [
            ("EXTENSIONS", "extension.Tamis", 0),
            ("SPIDER_MIDDLEWARES", "middleware.CountNodes", 45),
            ("ITEM_PIPELINES", "pipeline.CleanItems", 100),
            ("EXTENSIONS", "report.crawl.CrawlProgress", 10),
        ]
        if settings.get("TAMIS_DUPLICATES", "off") != "off":
            components.append(("ITEM_PIPELINES", "duplicates.MarkDuplicates", 110))
        if settings.get("TAMIS_METRICS"):
            components.append(("EXTENSIONS", "metrics.CrawlMetrics", 10))
        if settings.get("TAMIS_REPORT"):
            components.append(("EXTENSIONS", "report.crawl.CrawlReport", 10))
        for setting, name, order in components:
            try:
                component = load_object(f"scrapy_tamis.{name}")
            except ModuleNotFoundError as error:
                raise ModuleNotFoundError(missing_package(error), name=error.name) from error
            settings.setdefault_in_component_priority_dict(setting, component, order)
