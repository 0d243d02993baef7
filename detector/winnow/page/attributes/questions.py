"""What is asked of the attributes of every page, answered for all who ask in one scan over their values.

A question is a first look, before values are read with more care: as a rule it tells that a page has nothing of it.
"""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_MOST: Final = 32  # bits of a mark


class Question(NamedTuple):
    """Which attributes of some names have one of some parts in their values, case of ASCII aside.

    Attributes:
        number: of the question, in the order in which they were asked first.
        names: of attributes.
        parts: in small letters of ASCII; without any, every value is an answer.
    """

    number: int
    names: tuple[str, ...]
    parts: tuple[str, ...]


_asked: Final[list[Question]] = []


def question(*names: str, parts: Sequence[str] = ()) -> Question:
    """Ask something of every page from now on; a module does it when it is loaded.

    Raises:
        RuntimeError: more is asked than a mark has bits.
    """
    if len(_asked) == _MOST:
        raise RuntimeError(f"more than {_MOST} questions are asked of attributes")
    _asked.append(Question(len(_asked), names, tuple(parts)))
    return _asked[-1]


class Asked(NamedTuple):
    """All questions so far, as the compiled core takes them.

    Attributes:
        number: how many there are.
        of_name: bits of the questions that are asked of each name.
        any_value: bits of those that every value answers.
        parts: all parts with line feeds between them.
        of_part: uint32, bits of the questions that each part answers.
    """

    number: int
    of_name: dict[str, int]
    any_value: int
    parts: bytes
    of_part: NDArray[np.uint32]


def asked() -> Asked:
    """Return all questions so far."""
    return _first(len(_asked))


@lru_cache(maxsize=1)
def _first(number: int) -> Asked:
    of_name: defaultdict[str, int] = defaultdict(int)
    of_part: defaultdict[str, int] = defaultdict(int)
    for each in _asked[:number]:
        for name in each.names:
            of_name[name] |= 1 << each.number
        for part in each.parts:
            of_part[part] |= 1 << each.number
    any_value = sum(1 << each.number for each in _asked[:number] if not each.parts)
    parts = np.fromiter(of_part.values(), np.uint32, len(of_part))
    return Asked(number, dict(of_name), any_value, "\n".join(of_part).encode(), parts)
