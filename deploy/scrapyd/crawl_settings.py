"""Settings of the crawls that scrapyd starts, in the folder that it is started in."""

from scrapy_tamis.project.settings import *  # noqa: F403  these, and what follows

FEEDS = {"items/%(name)s-%(_job)s.jsonl": {"format": "jsonlines"}}  # scrapyd names the job; it deletes none of these
TAMIS_REPORT = None  # one file for all jobs would be the last one's
