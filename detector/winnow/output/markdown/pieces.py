"""What the inside of a paragraph is made of, before it is written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

BREAK: Final = "\\\n"
"""A line break within a paragraph."""

DELIMITERS: Final = {"em": "*", "strong": "**", "del": "~~"}
"""What stands on both sides of emphasis, by its kind."""


@dataclass(eq=False, slots=True)
class Mark:
    """Emphasis of a kind of :data:`DELIMITERS`, or a link; the same one in every block that its element reaches over.

    Attributes:
        kind: ``em``, ``strong``, ``del`` or ``a``.
        href: target of a link; ``None`` for a name that others link to.
        title: title of a link.
        used: whether something stood in it.
    """

    kind: str
    href: str | None = None
    title: str = ""
    used: bool = False


@dataclass(eq=False, slots=True)
class Piece:
    """A piece of the line: text as it will be written, or the border of a mark."""

    text: str
    mark: Mark | None = None
    opens: bool = False
    plain: bool = False
    code: bool = False
    formula: bool = False
