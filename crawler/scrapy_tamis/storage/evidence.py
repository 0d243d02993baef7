"""The units of a page that are counted, and on how many pages of its site each of them is."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from scrapy_tamis.stats import PAGES_REPEATED
from tamis.counting import frequency_estimates, spread_frequencies
from tamis.fingerprints import node_fingerprints
from tamis.places import counted_units, main_text_id

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tamis.models import Model
    from tamis.page.page import Page

MAX_PAGES: Final = 32_767
"""Pages that a host can count: an entry has 15 bits for them."""

ENTRY: Final = np.dtype([("seen", "<u2"), ("missed", "<u2"), ("mass", "u1")])
"""One node; see ``storage/lua/count_page.lua``."""

_WAS_TEMPLATE: Final = 0x8000


@dataclass(frozen=True, slots=True)
class SiteEvidence:
    """The counts of a host for the nodes of one page.

    Attributes:
        df: int64, pages of the host that contain each node, in the order of the fingerprints given; on a
            settled host the fraction of pages that was frozen, times ``pages``, and 1 for all other nodes; 0 for nodes
            that are not counted.
        pages: pages of the host counted so far.
        label_version: how often the labels of the host have been frozen; 0 before the first time.
        stat: stat of a crawl's page that says whether this call counted it.
    """

    df: NDArray[np.int64]
    pages: int
    label_version: int = 0
    stat: str = PAGES_REPEATED


@dataclass(frozen=True, slots=True, eq=False)
class HashedUnits:
    """The fingerprints of the counted units of a page: its leaves, and the codes of its places.

    Attributes:
        fingerprints: uint64[k], of the counted units.
        masses: uint8[k], characters of text of each, 255 for more.
        contents_id: fingerprint of the whole page, 8 bytes.
        main_text_id: the same for pages with the same main text, 8 bytes; of pages with little of it ``contents_id``.
    """

    fingerprints: NDArray[np.uint64]
    masses: NDArray[np.uint8]
    contents_id: bytes
    main_text_id: bytes


@dataclass(frozen=True, slots=True, eq=False)
class HashedPage(HashedUnits):
    """A page with the fingerprints of those of its units that are counted.

    Attributes:
        page: the page.
        units: int64[k], those that are counted, see :func:`tamis.places.counted_units`.
        model_version: that of the model whose scores the codes are of; "" without one.
    """

    page: Page
    units: NDArray[np.int64]
    model_version: str

    @classmethod
    def of(cls, page: Page, model: Model | None = None) -> Self:
        """Fingerprint a page; its places and main text only with a page-level model, which finds them."""
        units, fingerprints, masses = counted_units(page, model)
        contents_id = node_fingerprints(page)[:1].astype("<u8").tobytes()
        main_text = main_text_id(page, model) if model is not None and page.m else 0
        main_id = main_text.to_bytes(8, "little") if main_text else contents_id
        model_version = "" if model is None else model.version
        return cls(fingerprints, masses, contents_id, main_id, page, units, model_version)

    def frequencies(self, df: NDArray[np.int64]) -> NDArray[np.int64]:
        """int64, pages of the host that contain each unit and code, from ``df`` of the counted units (int64[k])."""
        return spread_frequencies(self.page, self.units, df)


def look_up(keys: NDArray[np.uint64], values: NDArray[Any], wanted: NDArray[np.uint64]) -> NDArray[Any]:
    """Return the values of some of ascending keys; 0 for wanted keys that are not among them."""
    if not len(keys):
        return np.zeros(len(wanted), values.dtype)
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[place] == wanted, values[place], 0)


def page_id_of(fingerprint: bytes) -> bytes:
    """Return the 8 bytes that stand for a page: a hash of its request's fingerprint, which can be of any form."""
    return hashlib.blake2b(fingerprint, digest_size=8).digest()


def frequencies(entries: bytes, pages: int) -> NDArray[np.int64]:
    """Return the document frequencies (int64) in the packed entries of a host with ``pages`` pages."""
    entry = np.frombuffer(entries, ENTRY)
    missed = (entry["missed"] & ~np.uint16(_WAS_TEMPLATE)).astype(np.int64)
    return frequency_estimates(entry["seen"].astype(np.int64), missed, pages)
