"""Settings of the project's own spider: polite, with cleaning on (``docs/reference/settings.md``)."""

from scrapy import squeues

BOT_NAME = "tamis"
SPIDER_MODULES = ["scrapy_tamis.project"]
NEWSPIDER_MODULE = "scrapy_tamis.project"
ADDONS = {"scrapy_tamis.Addon": 500}

USER_AGENT = "tamis (+https://pypi.org/project/tamis/)"
ROBOTSTXT_OBEY = True
COOKIES_ENABLED = False

# AutoThrottle keeps about two requests under way per host and goes as slow as the host answers.
AUTOTHROTTLE_ENABLED = True
AUTOTHROTTLE_START_DELAY = 0.25
AUTOTHROTTLE_MAX_DELAY = 30
AUTOTHROTTLE_TARGET_CONCURRENCY = 2.0
CONCURRENT_REQUESTS = 32
# Scrapy starts as many tasks for every response, and its default of 100 costs 4 ms: one for the item of a page, and one
# for its links meanwhile.
CONCURRENT_ITEMS = 2
# Scrapy would read and parse the source of the callbacks again whenever no request with them is held.
WARN_ON_GENERATOR_RETURN_VALUE = False
CONCURRENT_REQUESTS_PER_DOMAIN = 4
DOWNLOAD_TIMEOUT = 60
DOWNLOAD_MAXSIZE = 32 * 1024 * 1024

# Links are requested in the order of their finding. With JOBDIR set, a crawl that is stopped goes on where it was.
SCHEDULER_MEMORY_QUEUE = "scrapy.squeues.FifoMemoryQueue"
# The one in SQLite, of Scrapy 2.19, loses nothing when it is killed.
_KIND = "SQLite" if hasattr(squeues, "PickleFifoSQLiteQueue") else "Disk"
SCHEDULER_DISK_QUEUE = f"scrapy.squeues.PickleFifo{_KIND}Queue"
SCHEDULER_START_DISK_QUEUE = SCHEDULER_DISK_QUEUE
del _KIND, squeues
# Items are in their file as soon as they are scraped.
FEED_STORAGES = {
    "": "scrapy_tamis.project.feeds.UnbufferedFileStorage",
    "file": "scrapy_tamis.project.feeds.UnbufferedFileStorage",
}

FEED_EXPORT_ENCODING = "utf-8"
TELNETCONSOLE_ENABLED = False
REMOTE_CONTROL_ENABLED = False
LOG_LEVEL = "INFO"

TAMIS_KEEP_HTML = False
TAMIS_DUPLICATES = "mark"
TAMIS_REPORT = "report.html"
