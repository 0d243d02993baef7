"""The Scrapy plugin: counts the nodes of each site in Redis and cleans items before they are stored."""

from scrapy_tamis.addon import Addon
from scrapy_tamis.content import Content

__all__ = ["Addon", "Content"]
