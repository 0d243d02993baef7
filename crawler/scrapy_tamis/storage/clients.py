"""Clients for the address of a Redis: a server, a cluster (``+cluster``), the master of Sentinels (``+sentinel``)."""

from __future__ import annotations

import asyncio
import re
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl, unquote, urlsplit

from redis import Redis, RedisCluster, exceptions, sentinel
from redis.asyncio import Redis as AsyncRedis
from redis.asyncio import RedisCluster as AsyncRedisCluster
from redis.asyncio import sentinel as async_sentinel
from redis.connection import parse_url

from scrapy_tamis.messages import loggable

if TYPE_CHECKING:
    from urllib.parse import SplitResult

CLIENT_ERRORS: Final = (exceptions.RedisError, exceptions.RedisClusterException)
"""What clients raise, those of a cluster too."""

_CLUSTER: Final = "cluster"
_SENTINEL: Final = "sentinel"
_SENTINEL_PORT: Final = 26379
_OF_SENTINELS: Final = re.compile(r"ssl|socket_|retry$")
"""Options of a client that hold for its connections to the Sentinels, too."""
_OPTIONS: Final = re.compile(
    r"client_name|db|health_check_interval|max_connections|(sentinel_)?(password|username)|protocol|socket_keepalive|ssl_.*"
)
"""Options that an address may have; the others are for Tamis to set."""

_SHOWN_CLIENTS: Final = re.compile(r"<redis.*?\)>\)>\)> - ")
"""What redis-py writes of each Sentinel into its errors: all its options, on 500 characters."""

_ECHO: Final = re.compile(r",? *with args beginning with.*", re.DOTALL)
"""What a server repeats of a command that it does not know, which may be the password."""

_MAX_MESSAGE: Final = 500  # characters

_PLAIN: Final[dict[str, Any]] = {"protocol": 2} | (
    {"driver_info": None} if find_spec("redis.driver_info") is not None else {"lib_name": None, "lib_version": None}
)
"""Without it redis-py sends HELLO, CLIENT MAINT_NOTIFICATIONS and CLIENT SETINFO on each connection, which old servers
and many users are refused. Each is a round trip: a Redis 200 ms away would not be reached in time."""


def asynchronous_client(url: str, **options: Any) -> AsyncRedis:
    """Return a client for a crawl; all that this package sends at once has one hash tag, so a cluster takes it, too.

    Args:
        url: ``redis://``, ``rediss://`` or ``unix://``; for any server of a cluster ``redis+cluster://`` or
            ``rediss+cluster://``; ``redis+sentinel://[USER:PASSWORD@]HOST[:PORT],HOST[:PORT]/MASTER[/DATABASE]`` or
            ``rediss+sentinel://`` for the master that Sentinels name, with ``sentinel_username`` and
            ``sentinel_password`` among its options where the Sentinels have a password of their own.
        options: further arguments of the client.

    Raises:
        ValueError: the address has another form.
    """
    kind, servers, _ = _split(url)
    if kind == _SENTINEL:
        name, arguments = _sentinel_options(url, options)
        sentinels: Any = _Sentinels(**arguments)
        master: AsyncRedis = sentinels.master_for(name, connection_pool_class=_SentinelPool)
        return master
    client: Any = AsyncRedisCluster if kind == _CLUSTER else AsyncRedis
    opened: AsyncRedis = client.from_url(servers[0], **_PLAIN, **options)
    return opened


def blocking_client(url: str, **options: Any) -> Redis:
    """Return a client for a command; see :func:`asynchronous_client`."""
    kind, servers, _ = _split(url)
    if kind == _SENTINEL:
        return _blocking_master(url, options)
    client: Any = _Cluster if kind == _CLUSTER else Redis
    opened: Redis = client.from_url(servers[0], **_PLAIN, **options)
    return opened


def is_cluster(url: str) -> bool:
    """Whether an address is that of a cluster, where keys are on several servers."""
    return _split(url)[0] == _CLUSTER


def without_secrets(url: str) -> str:
    """Return an address without its user, password and options, for a log."""
    # An @ after a ? may be in a password whose ? was not percent-encoded.
    found = re.fullmatch(r"([^/]*//)(?:[^?]*@)?([^?@]*)(?:\?[^@]*)?", url)
    return found[1] + found[2] if found else "(set)"


def options_of(url: str) -> dict[str, str]:
    """Return the options of an address, as they are written."""
    return dict(parse_qsl(url.partition("?")[2], keep_blank_values=True))


def words_of(error: BaseException) -> str:
    """Return the kind and the words of an error, without what a server repeats of the arguments that it was sent."""
    return f"{type(error).__name__}: {_SHOWN_CLIENTS.sub('', _ECHO.sub('', str(error)))}"


def message_of(error: BaseException, url: str) -> str:
    """Return an error of a connection for a log; every message about one is made here.

    No part of the user and password in the address is in it, nothing that a server repeats of what it was sent, and
    nothing that steers a terminal.
    """
    words = loggable(words_of(error))
    for secret in sorted(_secrets_of(url), key=len, reverse=True):
        begin, end = (r"(?<!\w)" if secret[0].isalnum() else "", r"(?!\w)" if secret[-1].isalnum() else "")
        words = re.sub(begin + re.escape(secret) + end, "***", words)
    return words[:_MAX_MESSAGE]


def _secrets_of(url: str) -> set[str]:
    """Return users and passwords, whole and in the parts that a parser makes of one that is not percent-encoded."""
    before, at, _ = url.partition("://")[2].rpartition("@")
    given = [value for name, value in options_of(url).items() if name.endswith(("username", "password"))]
    if at:
        given += [before, *before.split(":", 1), *re.split(r"[]\[/?#@:&=]+", before)]
    return {each for secret in given for each in (secret, unquote(secret)) if each}


def check_address(url: str) -> str | None:
    """Return what is wrong with an address, to be written after the name of its setting; ``None`` if nothing is.

    No part of its user and password is in it.
    """
    try:
        kind, servers, name = _split(url)
        for server in servers:
            if problem := _what_is_wrong(server.partition("://")[0], urlsplit(server), kind):
                return problem
        if kind == _SENTINEL and not name:
            return "must name the master behind the Sentinels, as in redis+sentinel://HOST:26379,HOST:26379/mymaster"
    except ValueError:  # of urlsplit, and of its result's port; their messages have parts of the address in them
        return "must have a port from 0 to 65535; in a password / ? # @ [ and : have to be percent-encoded"
    return _wrong_options(url)


def _wrong_options(url: str) -> str | None:
    if "@" in url.partition("?")[2]:
        return "must have no @ in its options; in a password / ? # @ [ and : have to be percent-encoded"
    if unknown := [name for name in options_of(url) if not _OPTIONS.fullmatch(name)]:
        return f"has options that are unknown, or for Tamis to set: {', '.join(unknown)}"
    try:
        client: Any = asynchronous_client(url)
        if (pool := getattr(client, "connection_pool", None)) is not None:
            pool.make_connection()
    except (exceptions.RedisError, AttributeError, TypeError, UnboundLocalError, ValueError) as error:  # redis-py's own
        return f"has options that a client does not take: {message_of(error, url)}"
    return None


def _what_is_wrong(scheme: str, parts: SplitResult, kind: str) -> str | None:
    is_socket = scheme == "unix"
    schemes = {"redis", "rediss", *(() if kind else ("unix",))}
    if scheme not in schemes or kind not in {"", _CLUSTER, _SENTINEL}:
        return "must begin with redis://, rediss:// or unix://, or have +cluster or +sentinel after redis or rediss"
    if is_socket and not parts.path:
        return "must name the path of a socket, as in unix:///run/redis.sock"
    if parts.fragment:
        return "must not have a # in it; in a password it has to be percent-encoded"
    _ = parts.port
    if not is_socket and not re.fullmatch(r"/?\d*/?", parts.path):
        return "must have nothing but the number of a database after its host, or after the name of its master"
    return None


def _split(url: str) -> tuple[str, list[str], str]:
    """Return what follows the ``+`` of the scheme, a plain address for each server, and the name of the master.

    The address of a Sentinel has all the rest of the master's: user, password, database, options.
    """
    scheme, separator, rest = url.partition("://")
    scheme, _, kind = scheme.partition("+")
    if kind != _SENTINEL:
        return kind, [f"{scheme}{separator}{rest}"], ""
    rest, mark, options = rest.partition("?")
    authority, _, path = rest.partition("/")
    user, at, hosts = authority.rpartition("@")
    name, slash, database = path.partition("/")
    end = f"{slash}{database}{mark}{options}"
    return kind, [f"{scheme}://{user}{at}{host}{end}" for host in hosts.split(",")], unquote(name)


def _sentinel_options(url: str, options: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the name of the master, and the arguments of redis-py's ``Sentinel``."""
    _, servers, name = _split(url)
    places, given = [], _PLAIN | options
    for server in servers:
        given |= parse_url(server)  # type: ignore[no-untyped-call]
        places.append((given.pop("host", "localhost"), given.pop("port", _SENTINEL_PORT)))
    if given.pop("connection_class", None) is not None:
        given["ssl"] = True
    own = {key: given.pop(f"sentinel_{key}") for key in ("username", "password") if f"sentinel_{key}" in given}
    shared = {key: value for key, value in given.items() if key in _PLAIN or _OF_SENTINELS.match(key)}
    return name, {"sentinels": places, "sentinel_kwargs": shared | own, **given}


class _Cluster(RedisCluster):
    """Closes its connections, too, which redis-py's own leaves to the garbage collector."""

    def close(self) -> None:
        if hasattr(self, "nodes_manager"):  # nothing was opened where no server answered
            self.disconnect_connection_pools()  # type: ignore[no-untyped-call]
        super().close()


class _Sentinels(async_sentinel.Sentinel):
    """Asks one connection after the other, for redis-py changes the order of its Sentinels while it asks."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)  # type: ignore[no-untyped-call]
        self._asking = asyncio.Lock()

    async def discover_master(self, service_name: str) -> Any:
        async with self._asking:
            try:
                return await super().discover_master(service_name)
            except BaseException:  # cancelled, too: a Sentinel that hangs is not the first again
                self.sentinels.append(self.sentinels.pop(0))
                raise


class _SentinelPool(async_sentinel.SentinelConnectionPool):
    """Closes the connections to the Sentinels with its own."""

    async def disconnect(self, inuse_connections: bool = True) -> None:
        await super().disconnect(inuse_connections)
        if inuse_connections:
            for each in self.sentinel_manager.sentinels:
                await each.connection_pool.disconnect()


def _blocking_master(url: str, options: dict[str, Any]) -> Redis:
    """Ask the Sentinels for the master, once: a command is over before there is another one."""
    name, arguments = _sentinel_options(url, options)
    manager = sentinel.Sentinel(**arguments)  # type: ignore[no-untyped-call]
    known: list[str] = []
    errors = []
    for each in manager.sentinels:
        with each:
            try:
                masters: Any = each.sentinel_masters()
            except (exceptions.ConnectionError, exceptions.TimeoutError) as error:
                errors.append(f"{type(error).__name__}: {error}")
                continue
        known += masters
        if name in masters and manager.check_master_state(masters[name], name):  # type: ignore[no-untyped-call]
            return Redis(host=masters[name]["ip"], port=masters[name]["port"], **manager.connection_kwargs)
    if known and name not in known:
        raise sentinel.MasterNotFoundError(f"the Sentinels watch {sorted({*known})}, not {name!r}")
    raise sentinel.MasterNotFoundError("; ".join(errors) or f"{name!r} is down")


async def memory_advice(client: AsyncRedis) -> str | None:
    """Say what the server's limit on memory should be where it has none, or refuses to write at it.

    ``None`` where all is well, and where the user may not ask.
    """
    try:
        found: dict[str, Any] = await client.info("memory")
    except exceptions.ResponseError:
        return None
    about = found if "maxmemory" in found else next((each for each in found.values() if isinstance(each, dict)), {})
    limit, policy = about.get("maxmemory"), about.get("maxmemory_policy")
    advice = "set maxmemory, and maxmemory-policy volatile-lru: the hosts not met for longest are forgotten first then"
    if limit == 0:
        return f"Redis has no limit on its memory: {advice}"
    return f"Redis takes no more counts when its memory is full: {advice}" if policy == "noeviction" else None
