"""One process in charge: a lease in Redis that is renewed while it is held, and runs out when its holder dies."""

from __future__ import annotations

import os
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final, Protocol

from redis.exceptions import RedisError

from scrapy_winnow.storage.scripts import Script

if TYPE_CHECKING:
    from redis import Redis


class LeaseKeys(Protocol):
    """Names of the keys of a lease; they have one hash tag."""

    @property
    def lease(self) -> str:
        """String, the token of the holder."""

    @property
    def fence(self) -> str:
        """Number, how often it was taken."""


_RENEWALS: Final = 3
"""Renewals in the life of a lease."""


class Lease:
    """The right to do what only one process may.

    Expiry alone would not do: a process that was stopped for longer than the lease would go on as if it held it. So
    what it was taken for is done by a script that compares the token with the one in Redis, at once and on the server.

    Args:
        client: Redis.
        keys: names of the keys: ``lease``, and ``fence``, which counts how often it was taken.
        seconds: life of the lease since it was renewed last.
    """

    def __init__(self, client: Redis, keys: LeaseKeys, seconds: float) -> None:
        self._script = Script("lease").of(client)
        self._names = [keys.lease, keys.fence]
        self._seconds = seconds
        self._token = ""
        self._ended = threading.Event()
        self._renewing: threading.Thread | None = None

    @property
    def token(self) -> str:
        """The token that what it is for needs; empty while the lease is not held."""
        return self._token

    def take(self) -> bool:
        """Try to come to be in charge; from then on the lease is renewed by a thread.

        Raises:
            RedisError: Redis is away.
        """
        if self._token:
            return True
        if self._renewing is not None:
            self._renewing.join()
        self._token = self._ask("take", os.urandom(8).hex())
        if self._token:
            self._ended = threading.Event()
            self._renewing = threading.Thread(target=self._renew, args=(self._ended,), daemon=True)
            self._renewing.start()
        return bool(self._token)

    def leave(self) -> None:
        """Give the lease back, so that another process need not wait until it runs out."""
        self._ended.set()
        if self._token:
            with suppress(RedisError, OSError):
                self._ask("leave", self._token)
        self._token = ""

    def _renew(self, ended: threading.Event) -> None:
        renewed = time.monotonic()
        while not ended.wait(self._seconds / _RENEWALS):
            asked = time.monotonic()
            try:
                if not self._ask("keep", self._token):
                    self._token = ""
                    return
                renewed = asked
            except (RedisError, OSError):
                if time.monotonic() - renewed > self._seconds:
                    self._token = ""
                    return

    def _ask(self, what: str, token: str) -> str:
        reply = self._script(self._names, [what, token, int(1000 * self._seconds)])
        return bytes(reply).decode()
