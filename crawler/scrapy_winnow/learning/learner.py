"""The learner: takes the examples, refits the model, and publishes it if it is better on hosts that did not teach."""

from __future__ import annotations

import datetime
import logging
import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from redis.exceptions import RedisError

from scrapy_winnow.learning.cards import Card
from scrapy_winnow.learning.collection import Collection, Collector
from scrapy_winnow.learning.handover import PACKAGE
from scrapy_winnow.learning.published import Published
from scrapy_winnow.services.health import EVERY
from scrapy_winnow.services.service import Figure, Service
from winnow.models.files import ModelError
from winnow.training.refitting import STEPS, Comparison, compared, compared_in_turn, refit

if TYPE_CHECKING:
    from redis import Redis

    from scrapy_winnow.learning.collection import Extent
    from scrapy_winnow.storage.keys import LearningKeys
    from scrapy_winnow.storage.lease import Lease
    from winnow.models.networks import BlockPerceptron
    from winnow.progress import Progress
    from winnow.training.refitting import Moving

NEW_SHARE: Final = 0.1
"""Examples that must have come in since the last refit, as a share of all that had come in then."""

_LEAST_HELD_OUT: Final = 2
"""Hosts on which models are compared; where the fifth that never teaches has fewer, all hosts are, in turn."""

_LEAST_IN_TURN: Final = 3

FIGURES: Final = (
    Figure("passes", "Looks at the examples, with a refit or without"),
    Figure("published", "Models published"),
    Figure("in_charge", "Whether this learner is in charge, 1 or 0", counts=False),
)

Pass = Literal["few hosts", "nothing new", "not better", "published", "lost", "held", "changed"]

logger = logging.getLogger(__name__)


class LeaseLost(Exception):  # noqa: N818  what happened
    """Another learner is in charge; what this one has made is of no use."""


@dataclass(frozen=True, slots=True)
class Terms:
    """When a model is refitted and published.

    Attributes:
        min_hosts: hosts with examples that are needed.
        margin: how much the area under the ROC curve must grow on the hosts held out.
        seed: the same seed and examples give the same weights.
        moving: how far the networks move; by default as far as paid on sites that did not teach.
    """

    min_hosts: int
    margin: float
    seed: int
    moving: Moving | None = None


class Learner:
    """One learner on a Redis.

    Args:
        client: Redis.
        keys: names of the keys.
        lease: the right to publish.
        own: the model that the crawls begin with, and the first refit too.
        terms: when to refit and publish.
        progress: told how far a refit has got.
    """

    def __init__(
        self, client: Redis, keys: LearningKeys, lease: Lease, own: BlockPerceptron, terms: Terms, progress: Progress
    ) -> None:
        self._collector = Collector(client, keys)
        self._published = Published(client, keys)
        self._lease = lease
        self._own = own
        self._terms = terms
        self._progress = progress

    def learn(self) -> Pass:
        """Refit once, if there is enough to learn from, and say what came of it; the lease must be held.

        Raises:
            LeaseLost: another learner has taken over meanwhile.
            RedisError: Redis is away.
        """
        terms, in_use = self._terms, self._published.in_use()
        extent = self._collector.extent()
        if extent.hosts < terms.min_hosts:
            logger.info("%d hosts have examples; a refit needs %d", extent.hosts, terms.min_hosts)
            return "few hosts"
        if in_use.held:
            logger.info(
                "A rollback holds %s; winnow learn --resume ends that", in_use.version or "the crawls' own model"
            )
            return "held"
        if in_use.tried <= extent.taken < (1 + NEW_SHARE) * in_use.tried:
            logger.info(
                "%d examples have come in since the last refit, too few for another", extent.taken - in_use.tried
            )
            return "nothing new"
        collection = self._collector.read(lambda done, total: self._step(done, total, "hosts read"))
        if collection.held_out_hosts < _LEAST_HELD_OUT:
            pages = [*collection.fitted, *collection.held_out]
            collection = Collection(pages, pages)
        if collection.fitted_hosts < (_LEAST_IN_TURN if collection.in_turn else 1):
            logger.info("%d hosts can be read; a refit needs %d", collection.fitted_hosts, _LEAST_IN_TURN)
            return "few hosts"
        return self._refit(collection, extent, in_use.version)

    def _refit(self, collection: Collection, extent: Extent, version: str) -> Pass:
        parent = self._parent(version)
        logger.info(
            "Refitting %s to %d pages of %d hosts; %d pages of %d hosts are held out%s",
            parent.version, len(collection.fitted), collection.fitted_hosts,
            len(collection.held_out), collection.held_out_hosts, ", in turn" if collection.in_turn else "",
        )  # fmt: skip
        begun = time.monotonic()
        try:
            seed, moving = self._terms.seed, self._terms.moving
            candidate = refit(
                parent,
                collection.fitted,
                seed=seed,
                moving=moving,
                begins=lambda step: self._step(STEPS.index(step), len(STEPS), step),
            )
            if collection.in_turn:
                comparison = compared_in_turn(parent, collection.fitted, seed=seed, moving=moving)
            else:
                comparison = compared(candidate, parent, collection.held_out)
        except ValueError as error:
            logger.info("No refit: %s", error)
            return "few hosts"
        self._check_lease()
        outcome = self._outcome(candidate, parent, collection, comparison, version, begun)
        self._published.tried(extent.taken)  # what was dropped because the lease was lost has not been tried
        return outcome

    def _outcome(
        self,
        candidate: BlockPerceptron,
        parent: BlockPerceptron,
        collection: Collection,
        comparison: Comparison | None,
        version: str,
        begun: float,
    ) -> Pass:
        """Publish the candidate if it is better, and say what came of it."""
        if comparison is None:
            logger.info("No refit: the hosts held out have no labels of both kinds")
            return "few hosts"
        card = _card(candidate, parent, collection, comparison)
        logger.info("In %.0f s; on the hosts held out: %s", time.monotonic() - begun, card.figures)
        if not comparison.is_better(self._terms.margin):
            logger.info(
                "%s stays: a refit must gain %.4f and more than its standard error", parent.version, self._terms.margin
            )
            return "not better"
        outcome = self._published.publish(candidate, card, token=self._lease.token, compared=version)
        if outcome == "published":
            logger.info("Published %s in place of %s", candidate.version, parent.version)
        elif outcome == "lost":
            raise LeaseLost
        else:
            logger.info("Not published: the model in use was %s meanwhile", outcome)
        return outcome

    def _parent(self, version: str) -> BlockPerceptron:
        if version == PACKAGE:
            return self._own
        try:
            return self._published.model(version)
        except ModelError as error:
            logger.warning("The model in use, %s, cannot be read; the refit begins with %s: %s",
                           version, self._own.version, error)  # fmt: skip
            return self._own

    def _step(self, done: int, total: int, what: str) -> None:
        self._check_lease()
        self._progress(done, total, what)

    def _check_lease(self) -> None:
        if not self._lease.token:
            raise LeaseLost


def keep_learning(
    learner: Learner, lease: Lease, *, interval: float, patience: float, service: Service | None = None
) -> None:
    """Learn again and again while in charge, until told to end; wait for the lease while another learner is.

    Args:
        learner: the learner.
        lease: its lease.
        interval: seconds from the end of one pass to the next.
        patience: seconds between attempts to take the lease.
        service: how it is looked after, with :data:`FIGURES`; by default it is not.
    """
    service = service or Service(figures=FIGURES)
    state = ""
    while not service.is_ended:
        before = state
        try:
            if lease.take():
                state = "This learner is in charge"
            else:
                state = "Another learner is in charge; this one takes over when it has gone"
        except RedisError as error:
            state = f"Redis is away: {error}"
        if state != before:
            logger.info("%s", state)
        service.put("in_charge", bool(lease.token))
        if not lease.token:
            _rest(service, patience, "standing by")
            continue
        service.beat("looking")
        try:
            outcome = learner.learn()
        except LeaseLost:
            logger.warning("The lease was lost: another learner may be in charge, and this refit is dropped")
            continue
        except RedisError as error:
            logger.warning("Redis is away, and this refit is dropped: %s", error)
            _rest(service, patience, "Redis is away")
            continue
        service.add("passes")
        service.add("published", outcome == "published")
        until = time.monotonic() + interval
        while lease.token and not service.is_ended and (left := until - time.monotonic()) > 0:
            _rest(service, min(left, patience), "waiting")


def _rest(service: Service, seconds: float, state: str) -> None:
    """Wait, and say all along that the learner is alive."""
    until = time.monotonic() + seconds
    while not service.is_ended and (left := until - time.monotonic()) > 0:
        service.beat(state)
        service.wait(min(left, EVERY))


def _card(candidate: BlockPerceptron, parent: BlockPerceptron, collection: Collection, comparison: Comparison) -> Card:
    def number(value: float) -> float:
        return 0.0 if math.isnan(value) else round(value, 4)

    new, old = comparison.candidate, comparison.parent
    return Card(
        version=candidate.version,
        parent=parent.version,
        made=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        hosts=collection.fitted_hosts,
        pages=len(collection.fitted),
        blocks=int(sum(page.labelled.sum() for page in collection.fitted)),
        held_out_hosts=collection.held_out_hosts,
        auc=number(new.auc),
        parent_auc=number(old.auc),
        f_measure=number(new.content_f_measure),
        parent_f_measure=number(old.content_f_measure),
        recall=number(new.recall_at_precision_90),
        parent_recall=number(old.recall_at_precision_90),
        gain=number(comparison.gain),
        error=number(comparison.error),
    )
