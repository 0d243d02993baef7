"""How a crawl gets a new model: it asks for a number now and then, and what it fetches is checked before it is used."""

from __future__ import annotations

import asyncio
import logging
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from winnow.models.files import ModelError
from winnow.models.networks import BlockPerceptron

if TYPE_CHECKING:
    from collections.abc import Callable

    from redis.asyncio import Redis

    from scrapy_winnow.storage.connection import Connection
    from scrapy_winnow.storage.keys import LearningKeys
    from winnow.models.scores import StoredModel

MOST_BYTES: Final = 4_000_000
"""Bytes of a model's file; a larger one is not fetched."""

_SHOWN: Final = 40  # characters of a version

PACKAGE: Final = ""
"""Version that stands for the model that a crawl begins with: its own, as if nothing had been learned."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Current:
    """What Redis says of the model in use.

    Attributes:
        serial: grows by one with every change.
        version: the model's version; :data:`PACKAGE` for the crawl's own.
    """

    serial: int
    version: str


class ModelWatch:
    """Fetches the published model when there is a new one.

    Args:
        connection: the way to Redis.
        keys: names of the keys.
        own: the model that the crawl begins with.
        use: called with each model to use from now on.
        refused: called for each model that cannot be used.
    """

    def __init__(
        self,
        connection: Connection,
        keys: LearningKeys,
        own: StoredModel,
        *,
        use: Callable[[StoredModel], object],
        refused: Callable[[], object],
    ) -> None:
        self._connection = connection
        self._keys = keys
        self._own = own
        self._use = use
        self._refused = refused
        self._seen = Current(0, PACKAGE)
        self._model = own

    async def follow(self, current: Current) -> None:
        """Make the model in use the one that Redis names; one that cannot be used is refused once, with a warning."""
        if current == self._seen:
            return
        model: StoredModel | None = None
        if current.version == PACKAGE:
            model = self._own
        elif current.version == self._model.version:
            model = self._model
        else:
            fetched = await self._fetch(current.version)
            if fetched is None:  # Redis is away: the next look finds the change again
                return
            try:
                model = await asyncio.to_thread(checked_model, fetched, current.version)
            except ModelError as error:
                self._refused()
                logger.warning(
                    "The learned model %r is refused, the crawl goes on with %s: %s",
                    current.version[:_SHOWN], self._model.version, error,
                )  # fmt: skip
        self._seen = current
        if model is not None and model is not self._model:
            self._model = model
            self._use(model)
            logger.info("Pages are scored by the model %s from now on", model.version)

    async def _fetch(self, version: str) -> bytes | None:
        async def ask(client: Redis) -> bytes:
            size = await client.hstrlen(self._keys.models, version)
            if not 0 < size <= MOST_BYTES:
                return b""  # no model; what it is not is said when it is read
            model: bytes | None = await client.hget(self._keys.models, version)  # type: ignore[assignment]
            return model or b""

        return await self._connection.call(ask)


def checked_model(data: bytes, version: str) -> BlockPerceptron:
    """Read a model from the bytes of its file. Nothing is executed.

    The version is a hash of all the numbers in it, so a model is the one that was published or it is refused.

    Raises:
        ModelError: it is none, is damaged, is made for other features, or is not of that version.
    """
    if not 0 < len(data) <= MOST_BYTES:
        raise ModelError(f"missing, or larger than {MOST_BYTES:,} bytes")
    with tempfile.TemporaryDirectory(prefix="winnow-model-") as folder:
        file = Path(folder, "model.npz")
        file.write_bytes(data)
        model = BlockPerceptron.load(file)
    if model.version != version:
        raise ModelError(f"its numbers are those of {model.version}")
    return model
