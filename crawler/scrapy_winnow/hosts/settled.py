"""Settled hosts as a worker holds them: the labels that were frozen, and whether the pages still look like them."""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from winnow.counting import MIN_DF, THETA

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Hashes = NDArray[np.uint64]

REFRESH: Final = 60.0
"""Seconds after which a worker asks whether the labels it holds are still those of the host."""

HOSTS_HELD: Final = 1_000
"""Settled hosts that a worker holds; beyond that, the one not met for longest is forgotten."""

REOPEN_BELOW: Final = 1 / 3
"""A host opens again when the recent pages have less than this share of the template text that is expected."""

RECENT: Final = 16
"""Pages that the running mean of that share goes back over: a redesign of all pages is noticed after 18."""

WINDOW: Final = 32
"""Pages after which a worker looks what they have in common that is not among the labels."""

_COMMON: Final = max(int(np.ceil(THETA * WINDOW)), MIN_DF)
_KEPT: Final = 256  # unlabelled nodes of a page that are looked at: those of most text

LABEL: Final = np.dtype([("fingerprint", "<u8"), ("share", "u1")])
"""One label, as ``settling.lua`` packs it."""


@dataclass(slots=True, eq=False)
class SettledHost:
    """The frozen labels of one host.

    Attributes:
        stamp: what Redis knows these labels by.
        version: how often the labels of the host have been frozen.
        pages: pages that had been counted by then.
        expected: characters of template text per page by then, each weighted with its share of pages.
        fingerprints: uint64[k], the nodes that are template, sorted.
        shares: uint8[k], share of the pages that has each, 255 for all.
        recent: running mean over the pages met here of the share of ``expected`` that they have, each at most 1.
        outgrown: whether ``WINDOW`` pages met here had more template text in common that is not labelled than is.
        confirmed: time of the last word from Redis, monotonic, in seconds.
    """

    stamp: bytes
    version: int
    pages: int
    expected: float
    fingerprints: Hashes
    shares: NDArray[np.uint8]
    recent: float = 1.0
    outgrown: bool = False
    confirmed: float = field(default_factory=time.monotonic)
    _window: dict[bytes, tuple[Hashes, NDArray[np.uint8]]] = field(default_factory=dict)
    _labelled: int = 0

    @classmethod
    def unpack(cls, stamp: bytes, version: int, pages: int, labels: bytes, expected: float) -> Self:
        """Read labels as ``settling.lua`` packs them: 8 bytes of fingerprint and one for the share each.

        Raises:
            ValueError: they are of another length, or the expected text is no number.
        """
        if not 0 <= expected < float("inf"):
            raise ValueError(f"the text expected of a page cannot be {expected}")
        packed = np.sort(np.frombuffer(labels, LABEL), order="fingerprint")
        return cls(
            *(stamp, version, pages, expected),
            packed["fingerprint"].astype(np.uint64),
            packed["share"].copy(),
        )

    @property
    def has_drifted(self) -> bool:
        """Whether the recent pages lack most of the template, or have more of another one."""
        return self.recent < REOPEN_BELOW or self.outgrown

    def frequencies(self, fingerprints: Hashes) -> NDArray[np.int64]:
        """Estimate on how many of the ``pages`` each node was: by its share for template, 1 for all others."""
        shares = self._shares_of(fingerprints)
        least = max(int(np.ceil(THETA * self.pages)), MIN_DF)  # the share is rounded, the label is not
        return np.where(shares > 0, np.maximum(np.rint(shares * self.pages), least), 1).astype(np.int64)

    def observe(self, contents_id: bytes, fingerprints: Hashes, masses: NDArray[np.uint8]) -> None:
        """Look at a page for signs that the labels are no longer those of the host.

        Args:
            contents_id: stands for what is on the page; one that was met a few pages ago says nothing new.
            fingerprints: uint64[k], distinct, of its nodes.
            masses: uint8[k], characters of text of each.
        """
        if not len(fingerprints) or contents_id in self._window:
            return
        shares = self._shares_of(fingerprints)
        if self.expected > 0:
            matched = float(shares @ masses)
            self.recent += (min(matched / self.expected, 1.0) - self.recent) / RECENT
        unlabelled = np.flatnonzero(shares == 0)
        self._labelled += int(masses.sum(dtype=np.int64) - masses[unlabelled].sum(dtype=np.int64))
        longest = unlabelled[np.argsort(masses[unlabelled], kind="stable")[-_KEPT:]]
        self._window[contents_id] = fingerprints[longest], masses[longest]
        if len(self._window) == WINDOW:
            self.outgrown = self._unlabelled_template() > self._labelled
            self._window, self._labelled = {}, 0

    def _unlabelled_template(self) -> int:
        """Characters of text on the pages of the window that several of them have, and that are not labelled."""
        fingerprints = np.concatenate([nodes for nodes, _ in self._window.values()])
        masses = np.concatenate([masses for _, masses in self._window.values()])
        _, first, pages = np.unique(fingerprints, return_index=True, return_counts=True)
        return int((pages * masses[first].astype(np.int64))[pages >= _COMMON].sum())

    def _shares_of(self, fingerprints: Hashes) -> NDArray[np.float64]:
        """float64, the frozen share of each node, 0 for those that are not template."""
        if not len(self.fingerprints):
            return np.zeros(len(fingerprints))
        place = np.minimum(np.searchsorted(self.fingerprints, fingerprints), len(self.fingerprints) - 1)
        return np.where(self.fingerprints[place] == fingerprints, self.shares[place] / 255, 0.0)


class SettledHosts:
    """The settled hosts that a worker has met last.

    Args:
        held: most hosts.
    """

    def __init__(self, held: int = HOSTS_HELD) -> None:
        self._held = held
        self._hosts: OrderedDict[str, SettledHost] = OrderedDict()

    def get(self, name: str) -> SettledHost | None:
        """Return a host, which is then the one met last."""
        if name in self._hosts:
            self._hosts.move_to_end(name)
        return self._hosts.get(name)

    def put(self, name: str, host: SettledHost) -> None:
        """Hold a host."""
        self._hosts[name] = host
        self._hosts.move_to_end(name)
        if len(self._hosts) > self._held:
            self._hosts.popitem(last=False)

    def drop(self, name: str) -> None:
        """Forget a host."""
        self._hosts.pop(name, None)
