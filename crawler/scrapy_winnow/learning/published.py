"""The models that were published, in Redis: the one in use, those before it, and what is known of each."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, cast

from scrapy_winnow.learning.cards import Card
from scrapy_winnow.learning.handover import PACKAGE, checked_model
from scrapy_winnow.storage.scripts import Script

if TYPE_CHECKING:
    from redis import Redis

    from scrapy_winnow.storage.keys import LearningKeys
    from winnow.models.networks import BlockPerceptron

VERSIONS_KEPT: Final = 10

Outcome = Literal["published", "lost", "held", "changed"]


@dataclass(frozen=True, slots=True)
class InUse:
    """Which model is in use.

    Attributes:
        version: its version; :data:`PACKAGE` for the crawls' own.
        serial: number of changes so far.
        held: whether learners may not publish, after a rollback.
        tried: examples that had ever come in at the last refit.
    """

    version: str
    serial: int
    held: bool
    tried: int


class Published:
    """The published models of one feature version."""

    def __init__(self, client: Redis, keys: LearningKeys) -> None:
        self._client = client
        self._keys = keys
        self._publish = Script("learning/publish_model").of(client)
        self._switch = Script("learning/switch_model").of(client)

    def in_use(self) -> InUse:
        """Return which model is in use."""
        names = ("version", "serial", "held", "tried")
        version, serial, held, tried = cast("list[bytes | None]", self._client.hmget(self._keys.current, names))
        return InUse((version or b"").decode("utf-8", "replace"), int(serial or 0), held == b"1", int(tried or 0))

    def model(self, version: str) -> BlockPerceptron:
        """Read a model.

        Raises:
            ModelError: it is not there, or not what it should be.
        """
        model = cast("bytes | None", self._client.hget(self._keys.models, version))
        return checked_model(model or b"", version)

    def publish(self, model: BlockPerceptron, card: Card, *, token: str, compared: str) -> Outcome:
        """Make a model the one in use.

        Args:
            model: the model.
            card: what is known of it.
            token: that of the learner's lease.
            compared: version that was in use when the two were compared.

        Returns:
            ``"published"``, or why not: the lease was ``"lost"``, a rollback is ``"held"``, or the model in use was
            ``"changed"`` meanwhile.
        """
        keys = self._keys
        names = [keys.lease, keys.current, keys.models, keys.cards, keys.order]
        reply = self._publish(names, [token, model.version, _bytes_of(model), card.to_json(), compared, VERSIONS_KEPT])
        return cast("Outcome", cast("bytes", reply).decode())

    def tried(self, examples: int) -> None:
        """Note how many examples had ever come in when a refit was tried."""
        self._client.hset(self._keys.current, "tried", examples)

    def roll_back(self, version: str) -> bool:
        """Use an earlier model, or with :data:`PACKAGE` the crawls' own, and hold it; false if there is none such."""
        return bool(self._switch([self._keys.current, self._keys.models], ["hold", version]))

    def resume(self) -> None:
        """Let learners publish again."""
        self._switch([self._keys.current, self._keys.models], ["resume", PACKAGE])

    def history(self) -> list[Card]:
        """Return the cards of the models kept, the latest last; one of another layout is left out."""
        versions = cast("list[bytes]", self._client.zrange(self._keys.order, 0, -1))
        cards = self._client.hmget(self._keys.cards, versions) if versions else []
        return [card for data in cards if data and (card := Card.from_json(data)) is not None]


def _bytes_of(model: BlockPerceptron) -> bytes:
    with tempfile.TemporaryDirectory(prefix="winnow-model-") as folder:
        file = Path(folder, "model.npz")
        model.save(file)
        return file.read_bytes()
