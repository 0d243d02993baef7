"""A worker of ``winnow dedup``: has Redis decide the next documents of the stream, and sees what is left to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from redis.exceptions import ResponseError

from scrapy_winnow.duplicates.index import INDEX_SCRIPTS
from scrapy_winnow.duplicates.stream import DOCUMENTS
from scrapy_winnow.storage.scripts import Script

if TYPE_CHECKING:
    from redis import Redis

    from scrapy_winnow.duplicates.index import IndexOptions

VERDICTS: Final = "verdicts"
"""Name of the key of the stream of verdicts within the index."""

GROUP: Final = "dedup"
KEPT: Final = 100_000
BATCH: Final = 100
"""Documents to a script call: while it runs, for some milliseconds, the server answers nobody else."""

CLAIM_AFTER: Final = 60.0

_FORGOTTEN_AFTER: Final = 86_400_000  # milliseconds


@dataclass(frozen=True, slots=True)
class Batch:
    """What became of the entries that one call took off the stream.

    Attributes:
        taken: entries taken.
        near: near-duplicates among them.
        refused: entries that are no documents, or could not be decided; they are passed over.
        claimed: entries that had been delivered before and never acknowledged.
        hot: shingles that are hot now; 0 in a cluster, where nobody knows it.
        is_last: whether nothing was left to decide, if it has none.
    """

    taken: int
    near: int
    refused: int
    claimed: int
    hot: int
    is_last: bool = True


@dataclass(frozen=True, slots=True)
class Backlog:
    """What a group has before it.

    Attributes:
        waiting: entries of the stream that nobody has taken; ``None`` when the server cannot say (before Redis 7).
        pending: entries delivered and never acknowledged.
        lost: entries that were cut off the stream before they were decided; ``None`` when the server cannot say.
    """

    waiting: int | None
    pending: int
    lost: int | None


class Worker:
    """One member of a group of workers on the stream of documents.

    Taking entries, deciding them, writing the verdicts and acknowledging the entries is one script call. So a worker
    can die at any time, and the documents are decided in the order of the stream however many workers there are. An
    entry that a call left unacknowledged, or that another program took in the group's name, is taken over.

    Args:
        client: the way to Redis.
        options: of the index.
        group: name of the group; each group decides every document.
        name: name of this worker, its own in the group.
        verdicts: key of the stream that verdicts go to; ``None`` is the index's own.
        kept: about how many verdicts to keep there.
        batch: documents to a script call.
        claim_after: seconds after which an entry that was never acknowledged is taken over.
    """

    def __init__(
        self,
        client: Redis,
        options: IndexOptions,
        *,
        group: str = GROUP,
        name: str = "worker",
        verdicts: str | None = None,
        kept: int = KEPT,
        batch: int = BATCH,
        claim_after: float = CLAIM_AFTER,
    ) -> None:
        self._client = client
        self._options = options
        self._group = group
        self._name = name
        self._documents = options.key(DOCUMENTS)
        self.verdicts = options.key(VERDICTS) if verdicts is None else verdicts
        self._batch = batch
        self._claim_after = round(1000 * claim_after)  # milliseconds
        self._kept = kept
        self._script = Script(*INDEX_SCRIPTS, "duplicates/decide_documents").of(client)

    def join(self) -> None:
        """Make the group, unless it is there; a new one begins with the oldest document of the stream."""
        try:
            self._client.xgroup_create(self._documents, self._group, "0", mkstream=True)
        except ResponseError as error:
            if "BUSYGROUP" not in str(error):
                raise

        self._sweep()

    def leave(self) -> None:
        """Take this worker off the list of its group; entries that it has left undecided keep it there."""
        self._take_off([about for about in self._members() if about["name"] == self._name.encode()])

    def _sweep(self) -> None:
        """Take workers off the list that were killed a day ago or more: what they left was taken over long since."""
        self._take_off([about for about in self._members() if about["idle"] > _FORGOTTEN_AFTER])

    def _members(self) -> list[dict[str, Any]]:
        return self._client.xinfo_consumers(self._documents, self._group)

    def _take_off(self, members: list[dict[str, Any]]) -> None:
        for about in members:
            if not about["pending"]:
                self._client.xgroup_delconsumer(self._documents, self._group, about["name"])

    def decide(self) -> Batch:
        """Decide the next documents; none are taken when none are there.

        Raises:
            redis.RedisError: the server refused or could not be reached; nothing is lost by it.
        """
        keys = [self._options.key("m"), self._documents, self.verdicts]
        arguments = [*self._options.arguments(None, enter=True)]
        arguments += [self._group, self._name, self._batch, self._claim_after, self._kept]
        taken, near, refused, claimed, hot = self._script(keys, arguments)
        return Batch(taken, near, refused, claimed, hot)

    def wait(self, seconds: float) -> None:
        """Wait for another document, but not for longer than some seconds."""
        self._client.xread({self._documents: "$"}, count=1, block=max(1, round(1000 * seconds)))

    def _decided(self) -> Any:
        """How many entries the group has decided."""
        return self._client.hget(self._options.key("m"), f"decided:{self._group}")

    def backlog(self) -> Backlog:
        """Return what is left to do."""
        # In this order, what other workers decide meanwhile is never taken for lost.
        stream = self._client.xinfo_stream(self._documents)
        groups = self._client.xinfo_groups(self._documents)
        decided = self._decided()
        group = next(about for about in groups if about["name"] == self._group.encode())
        waiting, added = group.get("lag"), stream.get("entries-added")
        lost = None
        if waiting is not None and added is not None:
            lost = max(0, added - int(decided or 0) - waiting - group["pending"])
        return Backlog(waiting, group["pending"], lost)
