"""What has to be true of a disturbed crawl when it has ended, against one that nothing has disturbed."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from scrapy import Request
from scrapy.utils.request import RequestFingerprinter

from benchmarks.faults.long_crawl.crawl import urls_of
from demo.accuracy import words
from scrapy_winnow.storage.evidence import page_id_of
from scrapy_winnow.storage.keys import HostKeys, host_keys, site_of
from winnow.fingerprints import FINGERPRINT_VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import redis

    from benchmarks.faults.long_crawl.crawl import Crawl

Samples = list[dict[str, Any]]
_PREFIX: Final = "winnow"


@dataclass(frozen=True, slots=True)
class Stored:
    """Pages of the web that have no item, and items beyond the first of a page or of no page at all."""

    missing: int
    too_many: int

    @classmethod
    def of(cls, crawl: Crawl, urls: Sequence[str]) -> Stored:
        """Look through the items of all workers."""
        found = Counter(url for worker in crawl.workers for url in urls_of(worker.items))
        return cls(len(set(urls) - found.keys()), found.total() - len(found.keys() & set(urls)))


def text_f1(crawl: Crawl, truth: Path) -> float:
    """F1 of the words of all texts against those that are content."""
    with truth.open(encoding="utf-8") as lines:
        content = {page["url"]: words(page["content"]) for page in map(json.loads, lines)}
    common = kept = 0
    for worker in crawl.workers:
        with worker.items.open(encoding="utf-8") as lines:
            for item in map(json.loads, lines):
                found = words(item.get("text") or "")
                common += (found & content[item["url"]]).total()
                kept += found.total()
    return 2 * common / (kept + sum(each.total() for each in content.values()))


def uncounted(client: redis.Redis, urls: Sequence[str]) -> list[str]:
    """The pages that are not among those counted: Redis was away when they came, or another had the same contents."""
    fingerprint = RequestFingerprinter().fingerprint
    counted: dict[str, set[bytes]] = {}
    for host in {str(site_of(url)) for url in urls}:
        ids: Any = client.get(_keys(host).guard) or b""
        counted[host] = {ids[at : at + 8] for at in range(0, len(ids), 16)}
    return [url for url in urls if page_id_of(fingerprint(Request(url))) not in counted[str(site_of(url))]]


def counts_differing(here: redis.Redis, there: redis.Redis, hosts: Sequence[str]) -> tuple[int, int]:
    """Nodes that are counted, and those whose counts differ between two servers; a host's pages count as a node."""
    nodes = differing = 0
    for host in hosts:
        one, other = (dict(_counts(client, host)) for client in (here, there))
        nodes += len(one.keys() | other.keys())
        differing += sum(one.get(key) != other.get(key) for key in one.keys() | other.keys())
    return nodes, differing


def _counts(client: redis.Redis, host: str) -> Iterator[tuple[bytes, bytes]]:
    _, nodes, _, _, *singles = _keys(host)
    found: Any = client.hgetall(nodes)
    yield from found.items()
    for key in singles:
        numbers: Any = client.smembers(key)
        yield from ((number, b"1") for number in numbers)
    pages: Any = client.hget(_keys(host).state, "pages")
    yield b"pages", pages or b"0"


def memory_growth(samples: Samples) -> float:
    """By how much the largest memory of a worker has grown from the second quarter of the pages to the last."""
    last = samples[-1]["pages"]

    def largest(begin: float, end: float) -> float:
        return max(
            (
                max(sample["workers"], default=0.0)
                for sample in samples
                if begin * last <= sample["pages"] <= end * last
            ),
            default=0.0,
        )

    before = largest(0.25, 0.5)
    return largest(0.75, 1) / before if before else float("nan")


def samples_of(crawl: Crawl) -> Samples:
    """The samples of a crawl's memory, in the order of time."""
    with (crawl.folder / "memory.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _keys(host: str) -> HostKeys:
    return host_keys(_PREFIX, FINGERPRINT_VERSION, host)
