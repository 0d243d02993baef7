"""Caps on the size of pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


class PageTooLarge(ValueError):  # noqa: N818  what happened, as its callers read it; most of them expect it
    """The page is above one of the caps of :class:`Limits`; ``reason`` is ``"bytes"``, ``"nodes"`` or ``"depth"``."""

    def __init__(self, reason: str, size: int, limit: int) -> None:
        self.reason = reason
        self.size = size
        self.limit = limit
        super().__init__(f"page has {size:,} {reason}, the limit is {limit:,}")


@dataclass(frozen=True, slots=True)
class Limits:
    """Caps above which a page is not worked on.

    Attributes:
        max_bytes: size of the HTML, in bytes (in characters where it is a string).
        max_nodes: elements and comments of the tree.
        max_depth: levels of the tree. libxml2 stops at 2,048 without a word and drops the rest of the document, so a
            tree of so many may be a torso.
    """

    max_bytes: int = 16_000_000
    max_nodes: int = 100_000
    max_depth: int = 2_047

    def check(self, what: str, size: int) -> None:
        """Raise :class:`PageTooLarge` where a page has more ``"bytes"``, ``"nodes"`` or ``"depth"`` than it may."""
        limit = getattr(self, f"max_{what}")
        if size > limit:
            raise PageTooLarge(what, size, limit)


DEFAULT_LIMITS: Final = Limits()
