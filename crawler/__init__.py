"""The Scrapy plugin: counts the nodes of each site in Redis and cleans items before they are stored."""

from crawler.addon import Addon

__all__ = ["Addon"]
