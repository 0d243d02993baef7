"""What the counts of a site would be after its first pages, for a page of it."""

from __future__ import annotations

import random
import threading
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from scrapy_winnow.inspector.documents import DocumentError
from scrapy_winnow.storage.evidence import HashedPage, SiteEvidence
from winnow.models import load_model
from winnow.page.page import Page, PageTooLarge

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from scrapy_winnow.inspector.documents import Documents
    from scrapy_winnow.storage.hosts import HostLabels

    Hashes = NDArray[np.uint64]

MAX_PAGES: Final = 100
"""Pages of a site that are used."""


class Replay(Protocol):
    """The counts of a site for one of its pages after some of them were counted."""

    @property
    def seen(self) -> int:
        """How many pages can be counted by now, the page itself included."""
        ...

    @property
    def total(self) -> int:
        """How many there will be when all are read."""
        ...

    def frequencies(self, name: str, page: HashedPage, pages: int) -> NDArray[np.int64]:
        """Return how many of ``pages`` pages, this page included, have each unit of it, and each code of its places."""
        ...


class FolderReplay:
    """The pages of a folder, shuffled the same way each time, and read in a thread.

    Args:
        documents: the pages of one site.
    """

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        order = list(range(len(documents)))
        random.Random(0).shuffle(order)  # noqa: S311  neighbours in a folder are alike
        self._order = order[: MAX_PAGES + 1]
        self._pages: list[tuple[str, Hashes]] = []
        self._skipped = 0
        self._done = threading.Event()
        self._found: tuple[tuple[str, int], NDArray[np.bool_]] | None = None

    @property
    def seen(self) -> int:
        """See :class:`Replay`."""
        return max(1, min(len(self._pages), MAX_PAGES))

    @property
    def total(self) -> int:
        """See :class:`Replay`."""
        return max(1, min(len(self._order) - self._skipped, MAX_PAGES))

    def start(self) -> None:
        """Read the pages in a thread of their own."""
        threading.Thread(target=self.read, daemon=True).start()

    def read(self) -> None:
        """Read all pages now; skip those that cannot be read."""
        for number in self._order:
            try:
                document = self._documents.read(number)
                page = HashedPage.of(Page.parse(document.html, document.url, encoding=document.encoding), load_model())
            except (DocumentError, OSError, PageTooLarge):
                self._skipped += 1
                continue
            self._pages.append((document.name, np.unique(page.fingerprints)))
        self._done.set()

    def wait(self, seconds: float) -> bool:
        """Wait until all pages are read; return whether they are."""
        return self._done.wait(seconds)

    def frequencies(self, name: str, page: HashedPage, pages: int) -> NDArray[np.int64]:
        """See :class:`Replay`."""
        others = [fingerprints for other, fingerprints in self._pages if other != name]
        key = (name, len(others))
        if self._found is None or self._found[0] != key:
            self._found = key, _pages_with(page.fingerprints, others)
        df = 1 + self._found[1][: max(pages - 1, 0)].sum(axis=0, dtype=np.int64)
        return page.frequencies(SiteEvidence(df, pages, 0, counted=False))


class CountedReplay:
    """What a crawl has counted of a host: as it is now, and scaled to fewer pages.

    Args:
        labels: all that is counted of the host.
        contents: fingerprints of the pages that were counted, 8 bytes each; not known of a host that has settled.
    """

    def __init__(self, labels: HostLabels, contents: frozenset[bytes] = frozenset()) -> None:
        self._labels = labels
        self._contents = contents
        self.seen = self.total = labels.pages

    def frequencies(self, name: str, page: HashedPage, pages: int) -> NDArray[np.int64]:  # noqa: ARG002  see Replay
        """See :class:`Replay`."""
        own = int(page.contents_id in self._contents)
        others = np.maximum(self._labels.df(page.fingerprints) - own, 0)
        df = 1 + np.rint(others * ((pages - 1) / max(self._labels.pages - own, 1))).astype(np.int64)
        return page.frequencies(SiteEvidence(df, pages, 0, counted=False))


def _pages_with(fingerprints: Hashes, others: Sequence[Hashes]) -> NDArray[np.bool_]:
    """Return bool[len(others), k], which of the other pages have each fingerprint."""
    found = np.zeros((len(others), len(fingerprints)), bool)
    for row, known in zip(found, others, strict=True):
        row[:] = np.isin(fingerprints, known)
    return found
