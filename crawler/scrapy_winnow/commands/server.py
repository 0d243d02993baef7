"""The Redis that a command works with: one with an address, or the private server of a project."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scrapy_winnow.commands.common import CommandError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from redis import Redis

_TIMEOUT_S: Final = 30.0  # a command may wait longer than a crawl


def add_server_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that name the server of the crawls; inside a project its settings name it."""
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--redis-url",
        metavar="URL",
        help="redis://, rediss://, unix://, redis+cluster:// or redis+sentinel:// (default: WINNOW_REDIS_URL, of the "
        "environment or of the project)",
    )
    where.add_argument(
        "--state-dir",
        type=Path,
        metavar="DIR",
        help="folder of the private server (default: WINNOW_STATE_DIR of the project)",
    )
    parser.add_argument(
        "--prefix", help="first part of every key (default: WINNOW_REDIS_PREFIX of the project, or winnow)"
    )


def connect(options: argparse.Namespace, *, create: bool = False) -> AbstractContextManager[Redis]:
    """Connect to the server that the options of :func:`add_server_options` name, or else the project's settings.

    It sets ``options.prefix``. With ``create`` a private server may start without data.

    Raises:
        CommandError: neither does.
    """
    if options.redis_url is None and options.state_dir is None:
        options.redis_url = os.environ.get("WINNOW_REDIS_URL", "").strip() or None
    if options.redis_url is None and options.state_dir is None:
        _read_project_settings(options)
    options.prefix = options.prefix or "winnow"
    return connect_to(options.redis_url, options.state_dir, create=create)


def _read_project_settings(options: argparse.Namespace) -> None:
    from scrapy.utils.project import get_project_settings, inside_project  # noqa: PLC0415

    from scrapy_winnow.config import checked_setting  # noqa: PLC0415

    if not inside_project():
        raise CommandError("not inside a Scrapy project: give --redis-url or --state-dir")
    try:
        settings = get_project_settings()
        options.redis_url = checked_setting(settings, "WINNOW_REDIS_URL")
        if options.redis_url is None:
            options.state_dir = checked_setting(settings, "WINNOW_STATE_DIR")
        options.prefix = options.prefix or checked_setting(settings, "WINNOW_REDIS_PREFIX")
    except Exception as error:  # the project's own code
        raise CommandError(f"the settings of the project cannot be read: {error}") from error


@contextmanager
def connect_to(url: str | None, state_dir: Path | None = None, *, create: bool = False) -> Iterator[Redis]:
    """Connect to the server at an address, or to the private one of a folder, which is started if need be.

    Raises:
        CommandError: there is no such server.
    """
    from redis.exceptions import RedisError  # noqa: PLC0415  (help and usage errors need not wait for it)

    from scrapy_winnow.storage.embedded import EmbeddedServer, EmbeddedServerError  # noqa: PLC0415

    server = None
    if state_dir is not None:
        server = EmbeddedServer(state_dir)
        if not server.has_data and not create:
            raise CommandError(f"--state-dir: no private server has stored data in {state_dir.resolve()}")
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
        return blocking_client(url, socket_timeout=_TIMEOUT_S, socket_connect_timeout=_TIMEOUT_S)
    except ValueError as error:
        raise CommandError(f"not a Redis address: {error}") from error
