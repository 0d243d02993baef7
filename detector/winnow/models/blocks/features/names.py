"""What features need of attributes: names of elements as hashes, signatures of classes, and what markup hides."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Final, Self
from zlib import crc32

import numpy as np

from winnow.core import compiled
from winnow.memo import BulkMemo
from winnow.models.blocks.features.hashed_words import NAME_SEED, NUMBER_OF_NAME, name_hashes
from winnow.page.attributes import question
from winnow.page.attributes.values import AttributeValues
from winnow.page.subtrees import within

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.page.attributes.table import AttributeTable
    from winnow.page.page import Page

    Indices = NDArray[np.int64]

_NAMING: Final = question("class", "id", "role", "itemprop", "aria-label", "itemtype", "data-testid", "rel")
_CLASSES: Final = question("class")
_HIDDEN: Final = question("hidden")
_STATES: Final = question("aria-hidden", parts=["true"])
_STYLES: Final = question("style", parts=["none"])
_NUMBER: Final = re.compile(r"\d+")


@dataclass(frozen=True, eq=False, slots=True)
class NameParts:
    """Parts of the values that name what an element is for, of each different one once.

    Attributes:
        place: int64[k], places of the values in the page's table of attributes.
        number: int64[k], how many parts each has.
        hashes: uint32[sum of number], 32-bit hashes of the parts, value after value.
    """

    place: Indices
    number: Indices
    hashes: NDArray[np.uint32]

    @classmethod
    def of(cls, table: AttributeTable) -> Self:
        """Divide the names of a page."""
        core, values = compiled(), table.by_name
        if core is None or not isinstance(values, AttributeValues):
            named = table.having(_NAMING)
            return cls._divided([place for place, _ in named], [value for _, value in named])
        chosen = values.answering(_NAMING)
        number = np.empty(len(chosen), np.int32)
        hashes = core.name_parts(values.data, values.begin, chosen, NAME_SEED, NUMBER_OF_NAME, number)
        plain, place, own_hashes = number >= 0, values.place[chosen].astype(np.int64), np.frombuffer(hashes, np.uint32)
        if plain.all():
            return cls(place, number.astype(np.int64), own_hashes)
        own = cls(place[plain], number[plain].astype(np.int64), own_hashes)
        other = cls._divided(place[~plain].tolist(), values.strings(chosen[~plain]))
        return cls(
            np.concatenate([own.place, other.place]),
            np.concatenate([own.number, other.number]),
            np.concatenate([own.hashes, other.hashes]),
        )

    @classmethod
    def _divided(cls, places: list[int], values: list[str]) -> Self:
        parts = name_hashes(values)
        number = np.fromiter(map(len, parts), np.int64, len(parts))
        return cls(np.array(places, np.int64), number, np.fromiter(chain.from_iterable(parts), np.uint32))


def class_signatures(table: AttributeTable) -> Indices:
    """int64 by first attribute: a checksum of each ``class`` without its numbers (``post-12``), 0 for all others."""
    signatures = np.zeros(len(table.first), np.int64)
    core, values = compiled(), table.by_name
    if core is None or not isinstance(values, AttributeValues):
        classes = table.named("class")
        signatures[list(classes.values())] = _CLASS_SIGNATURES.of(list(classes))
        return signatures
    chosen = values.answering(_CLASSES)
    found = np.empty(len(chosen), np.int64)
    core.class_signatures(values.data, values.begin, chosen, found)
    if not found.all():
        other = np.flatnonzero(found == 0)
        found[other] = _CLASS_SIGNATURES.of(values.strings(chosen[other]))
    signatures[values.place[chosen]] = found
    return signatures


def _class_signatures(values: list[str]) -> list[int]:
    stable = _NUMBER.sub("#", "\0".join(values)).encode("utf-8", "surrogatepass")
    return [crc32(each) + 1 for each in stable.split(b"\0")]


_CLASS_SIGNATURES: Final = BulkMemo(_class_signatures, 16_384)


@dataclass(frozen=True, eq=False, slots=True)
class Naming:
    """Names that attributes give to the elements of a page.

    Attributes:
        parts: of the values of the attributes that name what an element is for.
        signature: int64[n], equal for elements of the same tag and classes, numbers apart (``post-12``, ``post-13``).
        hidden: bool[n], inside an element that markup hides: ``hidden``, ``aria-hidden``, inline ``display: none``.
    """

    parts: NameParts
    signature: NDArray[np.int64]
    hidden: NDArray[np.bool_]

    @classmethod
    def of(cls, page: Page) -> Self:
        """Gather the names of a page."""
        table = page.attributes
        hiding = np.zeros(len(table.first), np.int64)
        hiding[hiding_places(table)] = 1
        return cls(
            parts=NameParts.of(table),
            signature=table.sums(class_signatures(table)) * 257 + page.tag,
            hidden=within(page, table.sums(hiding) > 0),
        )


def hiding_places(table: AttributeTable) -> list[int]:
    """Places of the attributes that hide the element that has one of them."""
    hidden = (place for place, _ in table.having(_HIDDEN))
    states = (place for place, state in table.having(_STATES) if state == "true")
    styles = (place for place, style in table.having(_STYLES) if "display:none" in style.replace(" ", ""))
    return [*hidden, *states, *styles]
