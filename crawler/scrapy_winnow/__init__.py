"""The Scrapy plugin: counts the nodes of each site in Redis and cleans items before they are stored."""

from scrapy_winnow.addon import Addon
from scrapy_winnow.content import Content

__all__ = ["Addon", "Content"]
