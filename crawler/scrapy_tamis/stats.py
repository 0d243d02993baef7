"""The stats of a crawl: names and meanings. There are no others, and no name holds a host."""

from __future__ import annotations

from typing import Final

STATS: Final[list[str]] = []
"""All names. ``make docs`` writes the table of ``docs/reference/stats.md`` from the text below each, in Markdown."""


def _stat(name: str) -> str:
    STATS.append(f"tamis/{name}")
    return STATS[-1]


PAGES_COUNTED: Final = _stat("pages/counted")
"""pages counted for their site"""
PAGES_REPLACED: Final = _stat("pages/replaced")
"""pages whose new content [replaced](../guides/sites.md#pages-that-change) what had been counted"""
PAGES_SETTLED: Final = _stat("pages/settled")
"""pages of [settled hosts](../guides/sites.md#settled-hosts), which need no counting"""
PAGES_REPEATED: Final = _stat("pages/repeated")
"""pages counted before, at this address or with the same content at another, or after the 1,024th of their host"""
PAGES_UNCOUNTED: Final = _stat("pages/uncounted")
"""pages not counted: Redis was unreachable or refused, site evidence is off, or `TAMIS_DOMAIN_HOSTS` was reached"""
PAGES_READ: Final = _stat("pages/read")
"""pages whose counts were read and not written (`TAMIS_READ_ONLY`)"""
PAGES_SKIPPED: Final = _stat("pages/skipped")
"""responses that are not HTML, have an error status, no host, or `meta={"tamis": False}`. HTML that a server calls text
or XML is counted"""
PAGES_TOO_LARGE: Final = _stat("pages/too_large")
"""pages above the `limits` of `TAMIS_CLEAN` or those of the parser"""
PAGES_FAILED: Final = _stat("pages/failed")
"""pages not read because of an error, which is in the log"""

HOSTS_SETTLED: Final = _stat("hosts/settled")
"""times that a host settled with a page of this crawl"""
HOSTS_REOPENED: Final = _stat("hosts/reopened")
"""times that a host reopened, because its pages lacked its template"""

ITEMS_CLEANED: Final = _stat("items/cleaned")
"""items cleaned"""
ITEMS_WITH_EVIDENCE: Final = _stat("items/with_site_evidence")
"""items where the counts of the site took part in the decision"""
ITEMS_WITH_COMMENTS: Final = _stat("items/with_comments")
"""items of pages with [comments](fields.md#comments)"""
ITEMS_FALLBACK: Final = _stat("items/fallback")
"""items that would have lost all text, so that their best section was kept"""
ITEMS_EMPTY: Final = _stat("items/empty")
"""items of pages without any text"""
ITEMS_TOO_LARGE: Final = _stat("items/too_large")
"""items of pages above the limits, without text"""
ITEMS_IN_PROCESS: Final = _stat("items/in_process")
"""items cleaned in one of the `TAMIS_PROCESSES`"""
ITEMS_IN_THREAD: Final = _stat("items/in_thread")
"""items cleaned in a thread: those of pages with more than 3,000 tags; in free-threaded Python all"""
ITEMS_WITHOUT_HTML: Final = _stat("items/without_html")
"""items without the HTML field, passed unchanged"""
ITEMS_NOT_HTML: Final = _stat("items/not_html")
"""items whose HTML field holds something else: a picture, JSON, a feed, XML, an object; they get no text"""
ITEMS_OPTED_OUT: Final = _stat("items/opted_out")
"""items that their request or a field `tamis` of their own [leaves alone](settings.md#per-request)"""
ITEMS_FAILED: Final = _stat("items/failed")
"""items passed unchanged because of an error, which is in the log; and items without text whose page killed or hung
cleaning processes (`status`: `crashed`, `timed_out`)"""
ITEMS_INCOMPLETE: Final = _stat("items/incomplete")
"""steps that failed after an item was cleaned, such as the near-duplicate look-up; the log has the first failure of
each"""
ITEMS_WITHOUT_FIELD: Final = _stat("items/without_field")
"""items that took no content, so are not counted as cleaned, or whose class refused a field that it declares"""
ITEMS_REPEATED: Final = _stat("items/repeated")
"""items of [repeated pages](../guides/near-duplicates.md#repeated-pages)"""
ITEMS_DUPLICATE: Final = _stat("items/duplicate")
"""near-duplicates found"""
ITEMS_DROPPED: Final = _stat("items/dropped")
"""near-duplicates dropped"""
ITEMS_UNCOMPARED: Final = _stat("items/uncompared")
"""items not looked up for near-duplicates because Redis was unreachable or refused"""

CONTENT_PROVIDED: Final = _stat("content/provided")
"""pages cleaned for [callbacks](../guides/items.md#with-scrapy-poet)"""

ITEMS_DONE: Final = (ITEMS_CLEANED, ITEMS_FALLBACK, ITEMS_EMPTY, ITEMS_TOO_LARGE)  # that got their text

PROCESSES_DIED: Final = _stat("processes/died")
"""cleaning processes replaced because they died or hung"""

REDIS_FAILURES: Final = _stat("redis/failures")
"""calls to Redis that failed"""
REDIS_OUTAGES: Final = _stat("redis/outages")
"""times that Redis became unreachable"""
