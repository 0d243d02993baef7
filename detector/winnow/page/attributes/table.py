"""The attributes of a page's elements, each different one told apart once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar, overload

import numpy as np
from lxml import etree

from winnow.core import compiled
from winnow.page.attributes.values import AttributeValues
from winnow.page.subtrees import prefix_sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.page.attributes.questions import Question

    Indices = NDArray[np.int32]

Number = TypeVar("Number", bound=np.number[Any])
Pairs = list[tuple[str, str]]

_ITEMS: Final[Any] = etree._Element.items


@dataclass(frozen=True, eq=False)
class AttributeTable(Sequence[Pairs]):
    """Attributes of a page; as a sequence, the name-value pairs of each element.

    Menus, lists and grids repeat their attributes. What is worked out of attributes is worked out once for all equal
    ones, and spread over the elements in numpy: an array *by first attribute* is of length ``a``, and only the places
    of ``first`` count in it.

    Attributes:
        by_name: place of the first of all equal attributes, by name and value.
        first: int32[a], the same for every attribute of the page, in document order.
        begin: int32[n + 1], where the attributes of each element begin.
    """

    by_name: Mapping[str, dict[str, int]]
    first: Indices
    begin: Indices

    @classmethod
    def of(cls, elements: list[etree._Element]) -> Self:
        """Read the attributes of elements."""
        by_name: defaultdict[str, dict[str, int]] = defaultdict(dict)
        first: list[int] = []
        counts: list[int] = []
        for pairs in map(_ITEMS, elements):
            counts.append(len(pairs))
            for name, value in pairs:
                first.append(by_name[name].setdefault(value, len(first)))
        begin = prefix_sums(np.array(counts, np.int32))
        return cls(dict(by_name), np.array(first, np.int32), begin.astype(np.int32))

    def __len__(self) -> int:
        return len(self.begin) - 1

    @overload
    def __getitem__(self, element: int) -> Pairs: ...
    @overload
    def __getitem__(self, element: slice) -> list[Pairs]: ...
    def __getitem__(self, element: int | slice) -> Pairs | list[Pairs]:
        if isinstance(element, slice):
            return [self[index] for index in range(*element.indices(len(self)))]
        own = slice(self.begin[: len(self)][element], self.begin[1:][element])
        return [self._pairs[place] for place in self.first[own].tolist()]

    @cached_property
    def _pairs(self) -> dict[int, tuple[str, str]]:
        """Name and value by place, of the first of all equal attributes."""
        return {place: (name, value) for name, values in self.by_name.items() for value, place in values.items()}

    def __iter__(self) -> Iterator[Pairs]:
        return iter(self[:])

    def values_of(self, name: str, elements: NDArray[np.integer]) -> list[str | None]:
        """Value of one attribute for each of the given elements, ``None`` where it has none."""
        if not len(elements):
            return []
        value_of = {place: value for value, place in self.named(name).items()}
        found: list[str | None] = []
        for begin, end in zip(self.begin[elements].tolist(), self.begin[elements + 1].tolist(), strict=True):
            places = self.first[begin:end].tolist() if value_of else []
            found.append(next((value_of[place] for place in places if place in value_of), None))
        return found

    @cached_property
    def element(self) -> Indices:
        """int32[a], the element that each attribute belongs to."""
        return np.arange(len(self), dtype=np.int32).repeat(np.diff(self.begin))

    def named(self, name: str) -> dict[str, int]:
        """Place of the first attribute of one name by each of its values."""
        return self.by_name.get(name, {})

    def having(self, question: Question) -> list[tuple[int, str]]:
        """Places and values of the different attributes that answer a question."""
        values = self.by_name
        if compiled() is not None and isinstance(values, AttributeValues):
            chosen = values.answering(question)
            if not len(chosen):
                return []
            return list(zip(values.place[chosen].tolist(), values.strings(chosen), strict=True))
        having: list[tuple[int, str]] = []
        for name in question.names:
            named = self.named(name)
            if not question.parts:
                having += [(place, value) for value, place in named.items()]
            elif parts := [part for part in question.parts if part in self._lowered(name)]:
                having += [
                    (place, value) for value, place in named.items() if any(map(value.lower().__contains__, parts))
                ]
        return having

    def _lowered(self, name: str) -> str:
        """All values of attributes of one name, lower-cased, with line feeds between them; made once."""
        known = self._lowered_by_name.get(name)
        if known is None:
            known = self._lowered_by_name[name] = "\n".join(self.named(name)).lower()
        return known

    @cached_property
    def _lowered_by_name(self) -> dict[str, str]:
        return {}

    def bearers(self, places: Sequence[int]) -> list[int]:
        """Elements, in document order, that have one of the attributes at some places of ``first``, or an equal one."""
        chosen = np.zeros(len(self.first), bool)
        chosen[list(places)] = True
        elements: list[int] = self.element[chosen[self.first]].tolist()
        return elements

    def firsts(self, chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Tell by first attribute whether one of the chosen elements (bool[n]) has an equal one; bool[a]."""
        firsts = np.zeros(len(self.first), bool)
        firsts[self.first[chosen[self.element]]] = True
        return firsts

    def sums(self, by_first: NDArray[Number]) -> NDArray[Number]:
        """[n], total over each element's attributes of a number by first attribute, of the same type."""
        sums = np.zeros(len(self.first) + 1, by_first.dtype)
        np.cumsum(by_first[self.first], out=sums[1:])
        return sums[self.begin[1:]] - sums[self.begin[:-1]]

    def markup_length(self) -> NDArray[np.int64]:
        """int64[n], characters of each element's attributes as HTML source: a space, an equals sign and two quotes."""
        lengths = np.zeros(len(self.first), np.int64)
        for name, values in self.by_name.items():
            lengths[list(values.values())] = [len(name) + len(value) + len(' =""') for value in values]
        return self.sums(lengths)
