"""TODO."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from winnow.evidence.draft import Draft


def move_by_site_counts(draft: Draft) -> None:
    """TODO."""
