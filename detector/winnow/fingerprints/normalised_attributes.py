"""Attributes as a site's template has them: without what changes from page to page or from visit to visit."""

# ruff: noqa: SIM905 - lists of words are read as text

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.hashing import hash_text
from winnow.memo import Memo

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from winnow.fingerprints.link_targets import LinkTargets
    from winnow.page.attributes.table import AttributeTable

LINKS: Final = frozenset("href src action poster data background longdesc cite data-src data-href data-url".split())
TEXTS: Final = frozenset("alt title placeholder label value summary aria-label".split())
NAMED: Final = frozenset("class id name for type role rel".split())
LABELLED_BY_VALUE: Final = frozenset({"submit", "button", "reset"})
"""Types of controls that show their value; what is typed into others is not counted."""
_COUNTED: Final = LINKS | TEXTS | NAMED

STATES: Final = frozenset(
    """
    active current selected open opened closed expanded collapsed on off here first last odd even hover visited self
    selflink is-open is-expanded
    """.split()
)
STATE_BEGINNINGS: Final = ("current", "active", "is-active", "is-current", "is-selected", "in-active", "leaf-active")
STATE_ENDINGS: Final = ("-active", "_active", "-current", "_current", "-selected", "_selected")

_DIGITS: Final = re.compile(r"[0-9]+")
_HEXADECIMAL: Final = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|(?<![0-9a-f])[0-9a-f]{12,}")
_REMEMBERED: Final = 8_192  # values of each name


def attribute_tokens(
    table: AttributeTable, links: LinkTargets, wanted: NDArray[np.bool_] | None = None
) -> NDArray[np.uint64]:
    """uint64 by first attribute: a 64-bit token of each, 0 for those that do not count.

    Counted are names (``class``, ``id``, ``name``, ``type``...), links, and texts (``alt``, ``title``...); styles,
    sizes, event handlers, ``data-*``, ``aria-*`` states, nonces and the like are not. In names, numbers and long
    hexadecimal tokens become ``#``, and words of a class that say a state (``active``, ``current-menu-item``) are
    left out.

    Args:
        table: attributes of the page.
        links: what the page's links lead to.
        wanted: bool by first attribute, those whose token is asked for, all by default; the others have 0.
    """
    tokens = np.zeros(len(table.first), np.uint64)
    asked = [True] * len(tokens) if wanted is None else wanted.tolist()
    for name in _COUNTED.intersection(table.by_name):
        read = reader(name, links)
        places, values = [], []
        for value, place in table.by_name[name].items():
            if asked[place]:
                places.append(place)
                values.append(read(value))
        tokens[places] = values
    return tokens


def reader(name: str, links: LinkTargets) -> Callable[[str], int]:
    """Return what makes tokens of the values of an attribute that counts."""
    return links.token if name in LINKS else _TOKENS[name].__getitem__


def _token(name: str, value: str) -> int:
    stable = " ".join(value.split()) if name in TEXTS else _stable_name(value)
    return hash_text(f"{name}={stable}") if stable else 0


def _stable_name(value: str) -> str:
    """Put ``#`` for numbers and long hexadecimals, and leave out words that say a state."""
    stable = value if value.isalpha() else _DIGITS.sub("#", value)
    if stable.count("#") > 2:
        stable = _DIGITS.sub("#", _HEXADECIMAL.sub("#", value))
    words = stable.split()
    if "curren" in value or "activ" in value or "select" in value:
        beginnings, endings = STATE_BEGINNINGS, STATE_ENDINGS
        words = [word for word in words if not word.startswith(beginnings) and not word.endswith(endings)]
    return " ".join(words if STATES.isdisjoint(words) else [word for word in words if word not in STATES])


_TOKENS: Final = {name: Memo(partial(_token, name), _REMEMBERED) for name in sorted(_COUNTED - LINKS)}
