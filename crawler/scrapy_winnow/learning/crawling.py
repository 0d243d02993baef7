"""The crawl's part in learning: pages of settled hosts become examples, and new models are taken over between pages."""

from __future__ import annotations

import asyncio
import logging
import os
from typing import TYPE_CHECKING, Final

from scrapy_winnow import stats
from scrapy_winnow.learning.examples import FEATURE_VERSION, MOST_BLOCKS
from scrapy_winnow.learning.handover import Current, ModelWatch
from scrapy_winnow.learning.priorities import SALT_BYTES
from scrapy_winnow.learning.reservoir import Bounds, Reservoir
from scrapy_winnow.learning.teaching import example_of, ready_to_teach
from scrapy_winnow.storage.keys import LearningKeys
from winnow.training.marked import MarkedPage

if TYPE_CHECKING:
    from collections.abc import Callable

    from redis.asyncio import Redis

    from scrapy_winnow.config import Config
    from scrapy_winnow.storage.connection import Connection
    from scrapy_winnow.storage.evidence import HashedPage, SiteEvidence
    from winnow.models.scores import StoredModel

_MOST_UNDER_WAY: Final = 8
"""Examples being made at a time; each holds a page in memory, so further ones are left out."""

logger = logging.getLogger(__name__)


class CrawlLearning:
    """Gives examples and takes models over, in the background: no page waits for either.

    Args:
        connection: the way to Redis.
        config: the settings.
        own: the model that the crawl begins with.
        use: called with each model to use from now on.
        count: called with each stat to add one to.
    """

    def __init__(
        self,
        connection: Connection,
        config: Config,
        own: StoredModel,
        *,
        use: Callable[[StoredModel], object],
        count: Callable[[str], object],
    ) -> None:
        self._connection = connection
        self._teaches = config.teaches
        self._refresh = config.model_refresh
        self._patience = 2 * config.redis_timeout
        self._ttl = config.host_ttl
        self._count = count
        self._keys = LearningKeys.of(config.redis_prefix, FEATURE_VERSION)
        bounds = Bounds(config.learn_pages, config.learn_hosts, config.learn_bytes, config.host_ttl)
        self._reservoir = Reservoir(connection, self._keys, bounds)
        self._tasks: set[asyncio.Task[None]] = set()
        self._watching: asyncio.Task[None] | None = None
        self._watch: ModelWatch | None = None
        if config.follows:

            def take_over(model: StoredModel) -> None:
                count(stats.LEARNING_MODELS)
                use(model)

            self._watch = ModelWatch(
                connection, self._keys, own, use=take_over, refused=lambda: count(stats.LEARNING_REFUSED)
            )

    async def start(self) -> None:
        """Take the published model over, so that the first page has it, and look for others from time to time."""
        await self._look()
        self._watching = asyncio.create_task(self._keep_looking())

    async def stop(self) -> None:
        """Wait a little for the examples under way, so that a short crawl teaches too."""
        if self._watching is not None:
            self._watching.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=self._patience)
        for task in [*self._tasks]:
            task.cancel()

    def offer(self, host: str, hashed: HashedPage, evidence: SiteEvidence) -> None:
        """Let a page teach if its host is ready for it and it has a place; the work is done in the background."""
        if not self._teaches or not ready_to_teach(evidence):
            return
        if not self._reservoir.has_place(host, hashed.contents_id):
            return
        if len(self._tasks) >= _MOST_UNDER_WAY:
            self._count(stats.LEARNING_LEFT_OUT)
            return
        # What is read from lxml's tree, which the callback may change while the thread is at work.
        _ = hashed.page.title
        marked = MarkedPage.of(hashed.page) if hashed.page.m <= MOST_BLOCKS else None  # others give no example
        task = asyncio.create_task(self._teach(host, hashed, evidence, marked))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _teach(self, host: str, hashed: HashedPage, evidence: SiteEvidence, marked: MarkedPage | None) -> None:
        taken = False
        try:
            example = await asyncio.to_thread(example_of, hashed, evidence, marked)
            taken = example is not None and await self._reservoir.add(host, hashed.contents_id, example)
        except Exception:
            # What a page teaches is worth less than the crawl.
            logger.exception("A page of %s could not be made an example", host)
        self._count(stats.LEARNING_EXAMPLES if taken else stats.LEARNING_LEFT_OUT)

    async def _keep_looking(self) -> None:
        while True:
            await asyncio.sleep(self._refresh)
            await self._look()

    async def _look(self) -> None:
        try:
            await self._ask()
        except Exception:
            logger.exception("What Redis says of learning cannot be used")

    async def _ask(self) -> None:
        """One round trip: the salt and the limit of the reservoir, and which model is in use."""
        keys, teaches = self._keys, self._teaches

        async def ask(client: Redis) -> list[list[bytes | None]]:
            if teaches and not await client.hexists(keys.state, "salt"):
                await client.hsetnx(keys.state, "salt", os.urandom(SALT_BYTES))
                await client.expire(keys.state, self._ttl)
            pipeline = client.pipeline(transaction=False)
            pipeline.hmget(keys.state, ["salt", "limit"])
            pipeline.hmget(keys.current, ["serial", "version"])
            return await pipeline.execute()

        replies = await self._connection.call(ask)
        if replies is None:
            return
        (salt, limit), (serial, version) = replies
        self._reservoir.update(salt, limit)
        if self._watch is not None and serial is not None and version is not None:
            await self._watch.follow(Current(int(serial), version.decode("utf-8", "replace")))
