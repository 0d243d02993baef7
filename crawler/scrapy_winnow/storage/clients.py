"""Clients for the address of a Redis: one server, or with ``+cluster`` in its scheme the cluster that it belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from redis import Redis
    from redis.asyncio import Redis as AsyncRedis

_CLUSTER: Final = "+cluster"


def asynchronous_client(url: str, **options: Any) -> AsyncRedis:
    """Return a client for a crawl; all that this package sends at once has one hash tag, so a cluster takes it, too.

    Args:
        url: ``redis://``, ``rediss://`` or ``unix://``; for any server of a cluster ``redis+cluster://`` or
            ``rediss+cluster://``.
        options: further arguments of the client.

    Raises:
        ValueError: it is no such address.
    """
    from redis.asyncio import Redis  # noqa: PLC0415  (help and usage errors need not wait for it)
    from redis.asyncio.cluster import RedisCluster  # noqa: PLC0415

    address, in_cluster = _address(url)
    client: Any = RedisCluster if in_cluster else Redis
    opened: AsyncRedis = client.from_url(address, **options)
    return opened


def blocking_client(url: str, **options: Any) -> Redis:
    """Return a client for a command; see :func:`asynchronous_client`.

    Raises:
        ValueError: it is no such address.
        redis.RedisError: no server of the cluster answers.
    """
    from redis import Redis, RedisCluster  # noqa: PLC0415

    address, in_cluster = _address(url)
    client: Any = RedisCluster if in_cluster else Redis
    opened: Redis = client.from_url(address, **options)
    return opened


def _address(url: str) -> tuple[str, bool]:
    scheme, separator, rest = url.partition("://")
    return f"{scheme.removesuffix(_CLUSTER)}{separator}{rest}", scheme.endswith(_CLUSTER)
