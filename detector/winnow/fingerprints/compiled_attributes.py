"""Tokens of attributes by the compiled core: the double of :mod:`~winnow.fingerprints.normalised_attributes`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.fingerprints.normalised_attributes import (
    LABELLED_BY_VALUE,
    LINKS,
    NAMED,
    STATE_BEGINNINGS,
    STATE_ENDINGS,
    STATES,
    TEXTS,
    reader,
)
from winnow.page.text.kinds import character_properties

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from winnow.core import Core
    from winnow.fingerprints.link_targets import LinkTargets
    from winnow.page.attributes.values import AttributeValues
    from winnow.page.page import Page

_NAME, _TEXT, _LINK, _TYPE, _VALUE = range(1, 6)  # as in tokens.c, where 0 does not count
_KINDS: Final = dict.fromkeys(NAMED, _NAME) | dict.fromkeys(TEXTS, _TEXT) | dict.fromkeys(LINKS, _LINK)
_KINDS.update(type=_TYPE, value=_VALUE)

_IS_LEFT: Final = np.uint8(1)


def _lines(words: Iterable[str]) -> bytes:
    return "\n".join(words).encode()


_WORDS: Final = tuple(map(_lines, (sorted(STATES), STATE_BEGINNINGS, STATE_ENDINGS, sorted(LABELLED_BY_VALUE))))


def marked_tokens(
    core: Core, page: Page, values: AttributeValues, links: LinkTargets
) -> tuple[NDArray[np.uint64], NDArray[np.uint8]]:
    """Tokens by first attribute, and what ``node_fingerprints`` of the core is to know of each besides.

    The core leaves to Python what is long, what takes the white space of other scripts, and links with parameters or
    dots in their path: links of one site, which are met again.

    Args:
        core: the compiled core.
        page: the page.
        values: its different attributes.
        links: what its links lead to.
    """
    tokens = np.zeros(len(page.attributes.first), np.uint64)
    marks = np.zeros(len(tokens), np.uint8)
    kinds = np.fromiter((_KINDS.get(name, 0) for name in values.names), np.uint8, len(values.names))
    core.attribute_tokens(
        *(values.data, values.begin, values.name_of, values.place, values.names, kinds),
        *(_WORDS, links.known(), character_properties(), tokens, marks),
    )
    left = np.flatnonzero(marks[values.place] & _IS_LEFT)
    if len(left):
        places = values.place[left]
        names = values.name_of[left].tolist()
        tokens[places] = [
            reader(values.names[name], links)(value) for name, value in zip(names, values.strings(left), strict=True)
        ]
    return tokens, marks
