"""The two ways of going from a key page to its template: the paper's, and one that heeds what it left open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

AGREEING: Final = "agreeing"
PAPER: Final = "paper"


@dataclass(frozen=True, slots=True)
class Variant:
    """What is done beside the search for pages that link to each other, and the mapping of their trees.

    Attributes:
        front_last: load the front page after all others, since most are of a template of their own. (In the paper a
            front page in the subdigraph is what makes two of twenty templates nearly empty; its links come first.)
        agreement: end the search at a smaller subdigraph, of two pages at least, when what the key page shares with all
            of its pages is at least this part of what it shares with each, on average; ``None`` for never.
        least_characters: an element or block with so much text that another page has, too, with the very same markup
            and text, is mapped wherever it stands: a footer under a wrapper that only some pages have. ``None`` for
            never: the exact top-down mapping ends at every ancestor that differs.
    """

    front_last: bool
    agreement: float | None
    least_characters: int | None


VARIANTS: Final = {AGREEING: Variant(True, 0.95, 10), PAPER: Variant(False, None, None)}


def variant_of(name: str) -> Variant:
    """Return one of :data:`VARIANTS` by its name.

    Raises:
        ValueError: there is none of that name.
    """
    if name not in VARIANTS:
        raise ValueError(f"variant must be one of {', '.join(VARIANTS)}: {name!r}")
    return VARIANTS[name]
