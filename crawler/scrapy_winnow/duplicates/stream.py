"""The stream of documents: what a crawl cleans, for the workers of ``winnow dedup`` to decide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scrapy_winnow.hosts.names import site_of
from winnow.duplicates.documents import document_id

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from redis.asyncio import Redis

    from scrapy_winnow.duplicates.index import IndexOptions
    from scrapy_winnow.storage.connection import Connection

DOCUMENTS: Final = "documents"
"""Name of the stream's key within the index."""

LENGTH: Final = 100_000
"""About how many documents the stream holds, by default."""


LIVES: Final = 3
"""Times to live of a document after which the stream goes, when nothing was added to it; as the index itself."""


class DocumentStream:
    """Feeds the stream: id, address, host, shingles and model version of each document.

    The stream is cut to about ``length`` entries as it grows, those that nobody has decided among them: a crawl is
    never held up, and Redis never filled, by workers that are not there.

    Args:
        connection: the way to Redis.
        options: of the index that the documents are for.
        length: about how many entries to keep.
    """

    def __init__(self, connection: Connection, options: IndexOptions, *, length: int = LENGTH) -> None:
        self._connection = connection
        self._keep = options.keep
        self._key = options.key(DOCUMENTS)
        self._length = length
        self._life = LIVES * options.ttl

    async def add(self, url: str, shingles: NDArray[np.uint64], label: str) -> bool:
        """Add a document; ``False`` when Redis is away.

        Args:
            url: address of the document.
            shingles: uint64, ascending, of its clean text.
            label: version of the model that cleaned it.
        """
        fields: dict[str | bytes, str | bytes | int] = {
            "id": document_id(url),
            "url": url.encode("utf-8", "surrogatepass"),
            "host": site_of(url) or "",
            "shingles": shingles.astype(">u8").tobytes(),
            "complete": int(len(shingles) < self._keep),
            "label": label,
        }

        async def feed(client: Redis) -> bool:
            pipeline = client.pipeline(transaction=False)
            pipeline.xadd(self._key, fields, maxlen=self._length, approximate=True)  # type: ignore[arg-type]
            pipeline.expire(self._key, self._life)
            await pipeline.execute()
            return True

        return bool(await self._connection.call(feed))
