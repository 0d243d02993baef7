"""What Scrapy runs: the extension that holds all together, the spider middleware, and the item pipeline."""
