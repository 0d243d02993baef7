"""The Scrapy plugin: counts the nodes of each site in Redis and cleans items before they are stored."""

from typing import TYPE_CHECKING

from scrapy_tamis.addon import Addon
from scrapy_tamis.content import Content

if TYPE_CHECKING:
    from scrapy_tamis.duplicates import MarkDuplicates

__all__ = ["Addon", "Content", "MarkDuplicates"]


def __getattr__(name: str) -> object:
    """Import what imports Scrapy and Redis on first use: commands start at once."""
    if name == "MarkDuplicates":
        from scrapy_tamis.duplicates import MarkDuplicates  # noqa: PLC0415

        return MarkDuplicates
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
