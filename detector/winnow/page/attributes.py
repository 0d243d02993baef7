"""The attributes of a page's elements: equal attributes are stored once, and values are decoded only on request.

Predicates on every page's attributes (:func:`attribute_predicate`) are evaluated in one scan of the core over all
values: a cheap filter before values are parsed, which on most pages no attribute passes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import repeat
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar, overload

import numpy as np

from winnow.core import core

if TYPE_CHECKING:
    import re

    from numpy.typing import NDArray

    Indices = NDArray[np.int32]

_MAX_PREDICATES: Final = 32  # one bit each of a uint32


class AttributePredicate(NamedTuple):
    """A predicate on attributes: does the value of one of these contain one of these substrings?

    Attributes:
        number: index of the predicate, in the order of registration.
        names: names of the attributes.
        parts: substrings in lower case, matched ASCII case-insensitively; without any, every value matches.
    """

    number: int
    names: tuple[str, ...]
    parts: tuple[str, ...]


_predicates: Final[list[AttributePredicate]] = []


def attribute_predicate(*names: str, parts: Sequence[str] = ()) -> AttributePredicate:
    """Register a predicate that is evaluated on every page; call it at module level.

    Raises:
        RuntimeError: more than 32 predicates are registered.
    """
    if len(_predicates) == _MAX_PREDICATES:
        raise RuntimeError(f"more than {_MAX_PREDICATES} attribute predicates")
    _predicates.append(AttributePredicate(len(_predicates), names, tuple(parts)))
    return _predicates[-1]


class PredicateTables(NamedTuple):
    """The registered predicates, as the compiled core takes them: bit ``k`` stands for predicate ``k``.

    Attributes:
        name_bits: bits of the predicates on each attribute name.
        any_value: bits of the predicates that every value matches.
        parts: all substrings, joined by line feeds.
        part_bits: uint32, bits of the predicates that each substring belongs to.
    """

    name_bits: dict[str, int]
    any_value: int
    parts: bytes
    part_bits: NDArray[np.uint32]


@lru_cache(maxsize=1)
def _predicate_tables(number: int) -> PredicateTables:
    """Return the tables of the first ``number`` predicates; cached until another is registered."""
    name_bits: defaultdict[str, int] = defaultdict(int)
    part_bits: defaultdict[str, int] = defaultdict(int)
    for predicate in _predicates[:number]:
        for name in predicate.names:
            name_bits[name] |= 1 << predicate.number
        for part in predicate.parts:
            part_bits[part] |= 1 << predicate.number
    any_value = sum(1 << predicate.number for predicate in _predicates[:number] if not predicate.parts)
    bits = np.fromiter(part_bits.values(), np.uint32, len(part_bits))
    return PredicateTables(dict(name_bits), any_value, "\n".join(part_bits).encode(), bits)


_NONE: Final = np.empty(0, np.int64)


class AttributeValues(Mapping[str, dict[str, int]]):
    """The distinct attributes of a page: a mapping from name to value to the place of its first occurrence.

    Args:
        names: names of attributes.
        name_of: int32[d], index into ``names`` of each distinct attribute.
        place: int32[d], place of its first occurrence among all attributes of the page.
        data: the values in UTF-8, concatenated.
        begin: int64[d + 1], where each value begins.
    """

    def __init__(
        self,
        names: list[str],
        name_of: NDArray[np.int32],
        place: NDArray[np.int32],
        data: bytes,
        begin: NDArray[np.int64],
    ) -> None:
        self.names = names
        self.name_of = name_of
        self.place = place
        self.data = data
        self.begin = begin
        self._number = {name: number for number, name in enumerate(names)}
        self._known: dict[str, dict[str, int]] = {}
        self._matching: dict[int, list[tuple[int, str]]] = {}
        self._ascii = data.decode("ascii") if data.isascii() else None
        self._evaluated = 0  # number of predicates

    @property
    def arrays(self) -> tuple[bytes, NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
        """The arrays in the order in which the compiled core takes them."""
        return self.data, self.begin, self.name_of, self.place

    def __getitem__(self, name: str) -> dict[str, int]:
        known = self._known.get(name)
        if known is None:
            if name not in self._number:
                raise KeyError(name)
            chosen = self.numbers_of(name)
            places = self.place[chosen].tolist()
            known = self._known[name] = dict(zip(self.strings(chosen), places, strict=True))
        return known

    def numbers_of(self, name: str) -> NDArray[np.int64]:
        """int64[k], numbers of the distinct attributes of one name."""
        return np.flatnonzero(self.name_of == self._number.get(name, -1))

    def numbers_matching(self, predicate: AttributePredicate) -> NDArray[np.int64]:
        """int64[k], numbers of the distinct attributes that match a predicate."""
        if self._evaluated <= predicate.number:
            self._evaluate()
        if not self._all >> predicate.number & 1:
            return _NONE
        return (self._marks & np.uint32(1 << predicate.number)).nonzero()[0]

    def _evaluate(self) -> None:
        """Evaluate all registered predicates in the core."""
        tables = _predicate_tables(number := len(_predicates))
        self._marks = np.empty(len(self.place), np.uint32)
        name_bits = np.fromiter(map(tables.name_bits.get, self.names, repeat(0)), np.uint32, len(self.names))
        self._all = core.match_predicates(
            self.arrays, name_bits, tables.any_value, tables.parts, tables.part_bits, self._marks
        )
        self._evaluated = number

    def matching(self, predicate: AttributePredicate) -> list[tuple[int, str]]:
        """Places and values of the distinct attributes that match a predicate."""
        if predicate.number not in self._matching:
            chosen = self.numbers_matching(predicate)
            self._matching[predicate.number] = self.pairs(chosen) if len(chosen) else []
        return self._matching[predicate.number]

    def pairs(self, chosen: NDArray[np.int64]) -> list[tuple[int, str]]:
        """Places and values of distinct attributes, by their numbers."""
        return list(zip(self.place[chosen].tolist(), self.strings(chosen), strict=True))

    def strings(self, chosen: NDArray[np.int64]) -> list[str]:
        """Values of distinct attributes, by their numbers."""
        bounds = zip(self.begin[chosen].tolist(), self.begin[chosen + 1].tolist(), strict=True)
        if self._ascii is not None:
            return [self._ascii[begin:end] for begin, end in bounds]
        return [self.data[begin:end].decode() for begin, end in bounds]

    def __iter__(self) -> Iterator[str]:
        return iter(self._number)

    def __len__(self) -> int:
        return len(self._number)


Number = TypeVar("Number", bound=np.number[Any])
Pairs = list[tuple[str, str]]


@dataclass(frozen=True, eq=False)
class AttributeTable(Sequence[Pairs]):
    """Attributes of a page; as a sequence, the name-value pairs of each element.

    Menus, lists and grids repeat their attributes. A function of an attribute is computed once per distinct attribute
    and spread over the elements in numpy: an array *by first attribute* has length ``a``, and only its entries at
    ``first`` are used.

    Attributes:
        by_name: place of the first of all equal attributes, by name and value.
        first: int32[a], place of the first equal attribute, for every attribute of the page in document order.
        begin: int32[n + 1], where the attributes of each element begin.
    """

    by_name: AttributeValues
    first: Indices
    begin: Indices

    def __len__(self) -> int:
        return len(self.begin) - 1

    @overload
    def __getitem__(self, element: int) -> Pairs: ...
    @overload
    def __getitem__(self, element: slice) -> list[Pairs]: ...
    def __getitem__(self, element: int | slice) -> Pairs | list[Pairs]:
        if isinstance(element, slice):
            return self.of_elements(np.arange(len(self))[element])
        places = self.first[self.begin[: len(self)][element] : self.begin[1:][element]]
        if "_pairs" in vars(self):
            return [self._pairs[place] for place in places.tolist()]
        values = self.by_name
        numbers = np.searchsorted(values.place, places)
        names = [values.names[name] for name in values.name_of[numbers].tolist()]
        return list(zip(names, values.strings(numbers), strict=True))

    def of_elements(self, elements: NDArray[np.intp]) -> list[Pairs]:
        """Attributes of each of the given elements: faster than one element after the other."""
        begins, ends, firsts = self.begin[elements].tolist(), self.begin[1:][elements].tolist(), self.first.tolist()
        pairs = self._pairs
        return [[pairs[place] for place in firsts[begin:end]] for begin, end in zip(begins, ends, strict=True)]

    @cached_property
    def _pairs(self) -> dict[int, tuple[str, str]]:
        """Name and value of each distinct attribute, by the place of its first occurrence."""
        return {place: (name, value) for name, values in self.by_name.items() for value, place in values.items()}

    def __iter__(self) -> Iterator[Pairs]:
        return iter(self[:])

    def values_of(self, name: str, elements: NDArray[np.integer]) -> list[str | None]:
        """Value of one attribute for each of the given elements, ``None`` where it has none."""
        if not len(elements):
            return []
        value_of = {place: value for value, place in self.places_by_value(name).items()}
        found: list[str | None] = []
        for begin, end in zip(self.begin[elements].tolist(), self.begin[elements + 1].tolist(), strict=True):
            places = self.first[begin:end].tolist() if value_of else []
            found.append(next((value_of[place] for place in places if place in value_of), None))
        return found

    @cached_property
    def element(self) -> Indices:
        """int32[a], the element that each attribute belongs to."""
        return np.arange(len(self), dtype=np.int32).repeat(np.diff(self.begin))

    def places_by_value(self, name: str) -> dict[str, int]:
        """Place of the first attribute with this name, by value."""
        return self.by_name.get(name, {})

    def matching(self, predicate: AttributePredicate) -> list[tuple[int, str]]:
        """Places and values of the distinct attributes that match a predicate."""
        return self.by_name.matching(predicate)

    def elements_matching(self, predicate: AttributePredicate, pattern: re.Pattern[str] | None = None) -> list[int]:
        """Elements, in document order, with an attribute that matches a predicate, and whose value a pattern finds."""
        if pattern is None:
            return self.elements_with(self.by_name.place[self.by_name.numbers_matching(predicate)])
        return self.elements_with([place for place, value in self.matching(predicate) if pattern.search(value)])

    def elements_with(self, places: Sequence[int] | Indices) -> list[int]:
        """Elements, in document order, that have one of the attributes at these places of ``first``."""
        if not len(places):
            return []
        chosen = np.zeros(len(self.first), bool)
        chosen[places] = True
        elements: list[int] = self.element[chosen.take(self.first)].tolist()
        return elements

    def firsts(self, chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """bool[a], by first attribute, whether one of the chosen elements (bool[n]) has the attribute."""
        firsts = np.zeros(len(self.first), bool)
        firsts[self.first[chosen.take(self.element)]] = True
        return firsts

    def sum_per_element(self, by_first: NDArray[Number]) -> NDArray[Number]:
        """[n], sum over each element's attributes of a number by first attribute, of the same dtype."""
        sums = np.zeros(len(self.first) + 1, by_first.dtype)
        np.cumsum(by_first.take(self.first), out=sums[1:])
        return sums[self.begin[1:]] - sums[self.begin[:-1]]

    def markup_length(self) -> NDArray[np.int64]:
        """int64[n], characters of each element's attributes as HTML source: a space, an equals sign and two quotes."""
        lengths = np.zeros(len(self.first), np.int64)
        for name, values in self.by_name.items():
            lengths[list(values.values())] = [len(name) + len(value) + len(' =""') for value in values]
        return self.sum_per_element(lengths)
