"""Clients for the address of a Redis: one server, or with ``+cluster`` in its scheme the cluster that it belongs to."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from urllib.parse import SplitResult

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

    class Cluster(RedisCluster):
        """Closes its connections, too, which redis-py's own leaves to the garbage collector."""

        def close(self) -> None:
            if hasattr(self, "nodes_manager"):  # nothing was opened where no server answered
                self.disconnect_connection_pools()  # type: ignore[no-untyped-call]
            super().close()

    address, in_cluster = _address(url)
    client: Any = Cluster if in_cluster else Redis
    opened: Redis = client.from_url(address, **options)
    return opened


def is_cluster(client: object) -> bool:
    """Whether a client is one of a cluster, where keys are on several servers."""
    from redis import RedisCluster  # noqa: PLC0415
    from redis.asyncio.cluster import RedisCluster as AsyncRedisCluster  # noqa: PLC0415

    return isinstance(client, RedisCluster | AsyncRedisCluster)


def check_address(url: str) -> str | None:
    """Return what is wrong with an address, to be read behind its setting's name; ``None`` if nothing is.

    Not a word of the address is in it, for it may hold a password.
    """
    from redis.exceptions import RedisError  # noqa: PLC0415

    try:
        if problem := _what_is_wrong(urlsplit(_address(url)[0]), is_cluster=_address(url)[1]):
            return problem
    except ValueError:  # of urlsplit, and of its result's port; their messages have parts of the address in them
        return "must have a port from 0 to 65535; in a password / ? # @ [ and : have to be percent-encoded"
    try:
        client: Any = asynchronous_client(url)
        if (pool := getattr(client, "connection_pool", None)) is not None:
            pool.make_connection()
    except (RedisError, TypeError, ValueError) as error:
        return f"has options that a client does not take: {error}"
    return None


def _what_is_wrong(parts: SplitResult, *, is_cluster: bool) -> str | None:
    is_socket = parts.scheme == "unix"
    if parts.scheme not in {"redis", "rediss", "unix"} or (is_socket and is_cluster):
        return "must begin with redis://, rediss://, unix://, redis+cluster:// or rediss+cluster://"
    if is_socket and not parts.path:
        return "must name the path of a socket, as in unix:///run/redis.sock"
    if parts.fragment:
        return "must not have a # in it; in a password it has to be percent-encoded"
    _ = parts.port
    if not is_socket and not re.fullmatch(r"/?\d*/?", parts.path):
        return "must have nothing but the number of a database behind its host"
    return None


def _address(url: str) -> tuple[str, bool]:
    scheme, separator, rest = url.partition("://")
    return f"{scheme.removesuffix(_CLUSTER)}{separator}{rest}", scheme.endswith(_CLUSTER)


async def memory_advice(client: AsyncRedis) -> str | None:
    """Say what the server's limit on memory should be where it has none, or refuses to write at it.

    ``None`` where all is well, and where the user may not ask.
    """
    from redis.exceptions import ResponseError  # noqa: PLC0415

    try:
        found: dict[str, Any] = await client.info("memory")
    except ResponseError:
        return None
    about = found if "maxmemory" in found else next((each for each in found.values() if isinstance(each, dict)), {})
    limit, policy = about.get("maxmemory"), about.get("maxmemory_policy")
    advice = "set maxmemory, and maxmemory-policy volatile-lru: the hosts not met for longest are forgotten first then"
    if limit == 0:
        return f"Redis has no limit on its memory: {advice}"
    return f"Redis takes no more counts when its memory is full: {advice}" if policy == "noeviction" else None
