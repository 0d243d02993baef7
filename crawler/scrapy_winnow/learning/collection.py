"""The learner's side of the reservoir: all examples, split into hosts to learn from and hosts to measure on."""

from __future__ import annotations

import hashlib
import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from scrapy_winnow.learning.examples import CONTENT, UNLABELLED, Example, ExampleError
from scrapy_winnow.storage.scripts import Script
from winnow.training.examples import BlockPage

if TYPE_CHECKING:
    from collections.abc import Callable

    from redis import Redis

    from scrapy_winnow.storage.keys import LearningKeys

HELD_OUT: Final = 5
"""One of so many hosts never teaches; models are compared on these."""

_HOSTS_AT_A_TIME: Final = 20

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Collection:
    """The examples of all hosts.

    Attributes:
        fitted: pages of hosts to learn from.
        held_out: pages of hosts to measure on; the same list where hosts are so few that each is held out in turn.
    """

    fitted: list[BlockPage] = field(default_factory=list)
    held_out: list[BlockPage] = field(default_factory=list)

    @property
    def in_turn(self) -> bool:
        """Whether each host is held out in turn, and all of them teach in the end."""
        return self.held_out is self.fitted

    @property
    def fitted_hosts(self) -> int:
        """Hosts to learn from."""
        return len({page.source for page in self.fitted})

    @property
    def held_out_hosts(self) -> int:
        """Hosts to measure on."""
        return len({page.source for page in self.held_out})


@dataclass(frozen=True, slots=True)
class Extent:
    """How much there is: hosts with examples, bytes of them, and examples that ever came in."""

    hosts: int
    bytes: int
    taken: int


class Collector:
    """Reads the reservoir.

    Args:
        client: Redis.
        keys: names of the keys.
    """

    def __init__(self, client: Redis, keys: LearningKeys) -> None:
        self._client = client
        self._keys = keys
        self._tend = Script("learning/tend_reservoir").of(client)

    def extent(self) -> Extent:
        """Return how much there is, without reading it."""
        hosts = self._client.zcard(self._keys.hosts)
        size, taken = cast("list[bytes | None]", self._client.hmget(self._keys.state, ("bytes", "taken")))
        return Extent(hosts, int(size or 0), int(taken or 0))

    def read(self, progress: Callable[[int, int], object] = lambda _done, _total: None) -> Collection:
        """Read all examples; those that cannot be read are left out and said, hosts that have none are taken off.

        Args:
            progress: called with how many hosts are read, of how many.
        """
        collection = Collection()
        empty: list[bytes] = []
        damaged = 0
        hosts = cast("list[bytes]", self._client.zrange(self._keys.hosts, 0, -1))
        for at in range(0, len(hosts), _HOSTS_AT_A_TIME):
            some = hosts[at : at + _HOSTS_AT_A_TIME]
            pipeline = self._client.pipeline(transaction=False)
            for host in some:
                pipeline.hvals(self._keys.examples + host.decode())
            for host, examples in zip(some, pipeline.execute(), strict=True):
                if not examples:
                    empty.append(host)
                side = collection.held_out if is_held_out(host) else collection.fitted
                for data in sorted(examples):
                    try:
                        side.append(block_page(Example.from_bytes(data), host.decode()))
                    except ExampleError:
                        damaged += 1
            progress(min(at + _HOSTS_AT_A_TIME, len(hosts)), len(hosts))
        if damaged:
            logger.warning("%d examples are damaged and left out", damaged)
        for at in range(0, len(empty), _HOSTS_AT_A_TIME):
            names = (self._keys.hosts, self._keys.sizes, self._keys.state)
            self._tend(names, [self._keys.examples, *empty[at : at + _HOSTS_AT_A_TIME]])
        return collection


def is_held_out(host: bytes) -> bool:
    """Whether a host is one of the fifth that never teaches, now and in all refits to come."""
    return int.from_bytes(hashlib.blake2b(host, digest_size=8).digest(), "big") % HELD_OUT == 0


def block_page(example: Example, host: str) -> BlockPage:
    """Turn an example into what training takes."""
    content = np.where(example.content == UNLABELLED, np.nan, example.content == CONTENT).astype(np.float32)
    return BlockPage(host, example.static, example.tokens, example.words, content, marked=example.marked)
