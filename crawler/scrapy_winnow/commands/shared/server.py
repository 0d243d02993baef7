"""Which Redis a command works with: a server of its own, or the private one of a project."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy_winnow.commands.shared.failures import CommandError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from redis import Redis

_TIMEOUT = 30.0  # seconds; a command may wait longer than a page


def add_server_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say where the data of the crawls is."""
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument(
        "--redis-url", metavar="URL", help="redis://, rediss://, unix:// or redis+cluster://, as WINNOW_REDIS_URL"
    )
    where.add_argument(
        "--state-dir", type=Path, metavar="DIR", help="folder of the private server, .scrapy/winnow in a project"
    )
    parser.add_argument(
        "--prefix", default="winnow", help="first part of every key, as WINNOW_REDIS_PREFIX (default: %(default)s)"
    )


def connected(options: argparse.Namespace) -> AbstractContextManager[Redis]:
    """Connect to the server that the options of :func:`add_server_options` name."""
    return connected_to(options.redis_url, options.state_dir)


@contextmanager
def connected_to(url: str | None, state_dir: Path | None = None) -> Iterator[Redis]:
    """Connect to the server of an address, or to the private one of a folder, which is started if need be.

    Raises:
        CommandError: there is no such server.
    """
    from redis.exceptions import RedisError  # noqa: PLC0415  (help and usage errors need not wait for it)

    from scrapy_winnow.storage.embedded import EmbeddedServer, EmbeddedServerError  # noqa: PLC0415

    server = None
    if state_dir is not None:
        server = EmbeddedServer(state_dir)
        if not server.has_data:
            raise CommandError(f"--state-dir: no private server has kept its data in {state_dir}")
    try:
        if server is not None:
            server.start()
        with _client(str(url) if server is None else server.url) as client:
            client.ping()
            yield client
    except RedisError as error:
        raise CommandError(f"Redis: {error}") from error
    except EmbeddedServerError as error:
        raise CommandError(f"--state-dir: {error}") from error
    finally:
        if server is not None:
            server.stop()


def _client(url: str) -> Redis:
    from scrapy_winnow.storage.clients import blocking_client  # noqa: PLC0415

    try:
        return blocking_client(url, socket_timeout=_TIMEOUT, socket_connect_timeout=_TIMEOUT)
    except ValueError as error:
        raise CommandError(f"not the address of a Redis: {error}") from error
