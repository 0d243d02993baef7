"""What benchmarks and tests of counting share: counts with the limits of a crawl, and what is held of a host."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy_tamis.config import SETTINGS
from scrapy_tamis.storage.counts import NodeCounts
from scrapy_tamis.storage.keys import host_keys

if TYPE_CHECKING:
    import redis

    from scrapy_tamis.storage.connection import Connection

MAX_PAGES = NodeCounts.max_pages
SETTLE_AFTER = int(str(SETTINGS["TAMIS_SETTLE_PAGES"].default))


def counts_on(connection: Connection, prefix: str, settle_after: int = SETTLE_AFTER) -> NodeCounts:
    """Return counts with the limits that a crawl has by default; with 0 for the last no host settles."""
    budget, ttl = (int(str(SETTINGS[f"TAMIS_{name}"].default)) for name in ("HOST_BUDGET", "TTL"))
    return NodeCounts(connection, prefix=prefix, budget=budget, ttl=ttl, settle_after=settle_after)


def bytes_of(client: redis.Redis, counts: NodeCounts, host: str) -> int:
    """Return what the keys of a host take."""
    keys: Any = host_keys(counts.prefix, host)
    return sum(int(client.memory_usage(key, samples=0) or 0) for key in keys)


def counted_pages(client: redis.Redis, host: str, prefix: str = "tamis") -> list[bytes]:
    """Return the ids of the pages that are in the counts of a host."""
    ids: Any = client.get(host_keys(prefix, host).guard) or b""
    return [ids[at : at + 8] for at in range(0, len(ids), 16)]


def counted_nodes(client: redis.Redis, host: str, prefix: str = "tamis") -> dict[bytes, bytes]:
    """Return what the counts of a host hold of each node: nothing but that it is there where one page has it."""
    _, nodes, _, _, *singles = host_keys(prefix, host)
    server: Any = client
    return {**server.hgetall(nodes), **{number: b"" for key in singles for number in server.smembers(key)}}
