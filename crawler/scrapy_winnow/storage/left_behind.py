"""What another version of this package has left in Redis: keys whose names say that this one does not read them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from redis.exceptions import ResponseError

from scrapy_winnow.storage.keys import HOST_LAYOUT, INDEX_TAG, INDEX_VERSION, PARTS_VERSION, index_key

if TYPE_CHECKING:
    from collections.abc import Iterable

    from redis.asyncio import Redis

_LOOKED_AT: Final = 1_000
"""Keys that are looked at: a sample, so that a crawl on a server with many begins at once."""

_STREAMS: Final = {"documents", "verdicts"}
"""Keys beside the index that a server and a cluster have alike."""

_NAME: Final = re.compile(
    rb":(?P<version>[\d.]+):\{(?P<tag>.*)\}:(?P<name>\w+)[\w.:-]*|:\{learn\}:(?P<features>[^:]+):.*", re.DOTALL
)


def kinds_left_behind(
    names: Iterable[bytes],
    prefix: str,
    *,
    fingerprints: int,
    features: str | None = None,
    in_cluster: bool = False,
) -> list[str]:
    """Say what keys hold that this version does not read.

    Args:
        names: of keys.
        prefix: first part of those that are looked at (``WINNOW_REDIS_PREFIX``).
        fingerprints: version of the fingerprints.
        features: version of the features that learning uses; ``None`` where nothing is learned.
        in_cluster: whether the index of near-duplicates is that of a cluster.

    Returns:
        Sorted, each once: "counts of hosts (layout 1.2, now 1.3)".
    """
    kinds = set()
    for name in names:
        found = _NAME.fullmatch(name.removeprefix(prefix.encode()))
        if found is None:
            continue
        parts = {part: (value or b"").decode("utf-8", "replace") for part, value in found.groupdict().items()}
        if parts["features"]:
            kind, there, here = "examples and models", parts["features"], features or parts["features"]
        elif parts["tag"].startswith(INDEX_TAG):
            is_stream = parts["name"] in _STREAMS
            here = f"{PARTS_VERSION if in_cluster and not is_stream else INDEX_VERSION}"
            kind, there = "near-duplicates", parts["version"]
        else:
            kind, there, here = "counts of hosts", parts["version"], f"{fingerprints}.{HOST_LAYOUT}"
        if there != here:
            kinds.add(f"{kind} (layout {there}, now {here})")
    return sorted(kinds)


async def names_in(client: Redis, prefix: str) -> list[bytes]:
    """Return the names of some keys with a prefix, that of the index of one server among them where there is one.

    Where the user may not ask, there are none.
    """
    index = index_key(prefix, "m")
    try:
        _, names = await client.scan(0, match=f"{_literal(prefix)}:*", count=_LOOKED_AT)
        if await client.exists(index):
            names = [*names, index.encode()]
    except ResponseError:
        return []
    return [name for name in names if isinstance(name, bytes)]


def _literal(text: str) -> str:
    return re.sub(r"([\\*?\[\]^-])", r"\\\1", text)
