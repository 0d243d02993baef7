"""The Scrapy plugin: counts the nodes of each site in Redis and cleans items before they are stored."""

from scrapy_winnow.addon import Addon

__all__ = ["Addon"]
