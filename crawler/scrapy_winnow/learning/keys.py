"""Names of the keys that learning uses in Redis, all of them in one slot of a cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from scrapy_winnow.learning.examples import FEATURE_VERSION
from scrapy_winnow.storage.keys import learning_key


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of one feature version: examples and models of different features never meet.

    Attributes:
        hosts: sorted set, priority of each host that has examples.
        sizes: hash, bytes of each host's examples.
        state: hash, ``salt`` of the priorities, ``limit`` from which on hosts are refused, ``bytes`` of all examples,
            ``taken`` examples ever.
        examples: what the names of the hosts' own hashes begin with, from page priority to example.
        current: hash, the model in use: ``serial``, ``version``, ``held``; and ``tried``, examples at the last refit.
        models, cards: hashes by version, of the models and of what is known of them as JSON.
        order: sorted set of versions by the serial at which they were published.
        lease: string, token of the learner in charge.
        fence: number, how many learners have been in charge.
    """

    hosts: str
    sizes: str
    state: str
    examples: str
    current: str
    models: str
    cards: str
    order: str
    lease: str
    fence: str

    @classmethod
    def of(cls, prefix: str, features: str = FEATURE_VERSION) -> Self:
        """Names for a prefix (``WINNOW_REDIS_PREFIX``) and a feature version."""
        names = ("hosts", "sizes", "state", "of:", "current", "models", "cards", "order", "lease", "fence")
        return cls(*(learning_key(prefix, features, name) for name in names))
