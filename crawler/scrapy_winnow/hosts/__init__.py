"""The hosts of a crawl: their names, their counts in Redis, and the labels of those that have settled."""
