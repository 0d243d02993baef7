"""The Scrapy plugin: counts the nodes of each site in Redis and cleans items before they are stored."""
