"""The attributes of a page's elements: equal attributes are stored once, and values are decoded only on request.

Predicates on every page's attributes (:func:`attribute_predicate`) are evaluated in one scan of the core over all
values: a cheap filter before values are parsed, which on most pages no attribute passes.
"""

from __future__ import annotations

import re
from array import array
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import pairwise, repeat
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from tamis.core import core
from tamis.page.tree import prefix_sums

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence, Set

    from numpy.typing import NDArray

    from tamis.arrays import Indices, Integers


NAME_WORD: Final = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+")
"""A word of a class or id, as of ``author-info`` and ``authorInfo``."""
_MAX_PREDICATES: Final = 32  # one bit each of a uint32
_MAX_PARTS: Final = 64  # different substrings of all predicates together, one bit each of a uint64
_predicates: Final[list[tuple[tuple[str, ...], tuple[str, ...]]]] = []
"""Names of the attributes and substrings of their values, of each predicate."""


def attribute_predicate(*names: str, parts: Sequence[str]) -> int:
    """Register a predicate that is evaluated on every page; call it at module level.

    It says whether the value of one of these attributes contains one of these substrings.

    Args:
        names: names of the attributes.
        parts: substrings in lower case, matched ASCII case-insensitively.

    Returns:
        The number of the predicate.

    Raises:
        RuntimeError: more than 32 predicates are registered, or more than 64 different substrings.
    """
    known = {part for _, parts_of_one in _predicates for part in parts_of_one}
    if len(_predicates) == _MAX_PREDICATES or len(known.union(parts)) > _MAX_PARTS:
        raise RuntimeError(f"more than {_MAX_PREDICATES} attribute predicates, or {_MAX_PARTS} parts of them")
    _predicates.append((names, tuple(parts)))
    return len(_predicates) - 1


def token_pattern(*names: str, flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str]:
    """Pattern that finds a token, such as a class, in a value of several; each name is a regular expression."""
    return re.compile(rf"(?<!\S)(?:{'|'.join(names)})(?!\S)", flags)


@lru_cache(maxsize=1)
def _predicate_tables(number: int) -> tuple[dict[str, int], bytes, NDArray[np.uint32]]:
    """Return the first ``number`` predicates as the core takes them; cached until another is registered.

    These are the bits of the predicates on each attribute, all substrings joined by line feeds, and the bits of those
    that each substring belongs to.
    """
    name_bits: defaultdict[str, int] = defaultdict(int)
    part_bits: defaultdict[str, int] = defaultdict(int)
    for predicate, (names, parts) in enumerate(_predicates[:number]):
        for name in names:
            name_bits[name] |= 1 << predicate
        for part in parts:
            part_bits[part] |= 1 << predicate
    bits = np.fromiter(part_bits.values(), np.uint32, len(part_bits))
    return dict(name_bits), "\n".join(part_bits).encode(), bits


@lru_cache(maxsize=256)
def _tables_of_one(parts: tuple[str, ...], names: tuple[str, ...]) -> tuple[dict[str, int], bytes, NDArray[np.uint32]]:
    """Return one predicate as :func:`_predicate_tables` does."""
    return dict.fromkeys(names, 1), "\n".join(parts).encode(), np.ones(len(parts), np.uint32)


Value = TypeVar("Value")
Number = TypeVar("Number", bound=np.number[Any])
Pair = tuple[str, str]
Pairs = list[Pair]
Matches = list[tuple[int, str]]


@dataclass(eq=False)
class AttributeTable:
    """Attributes of a page; ``table[element]`` gives the name-value pairs of an element.

    Menus, lists and grids repeat their attributes. A function of an attribute is computed once per distinct attribute
    and spread over the elements in numpy: an array *by first attribute* has length ``a``, and only its entries at
    ``first`` are used. A distinct attribute is known by the index of its first occurrence.

    Attributes:
        names: number of each name of attributes, in this order.
        name_of: int32[d], number of the name of each distinct attribute.
        first_index: int32[d], index of its first occurrence among all attributes of the page, ascending.
        data: the values in UTF-8, concatenated.
        value_begin: int64[d + 1], where each value begins.
        first: int32[a], index of the first equal attribute, for every attribute of the page in document order.
        begin: int32[n + 1], where the attributes of each element begin.
    """

    names: dict[str, int]
    name_of: Indices
    first_index: Indices
    data: bytes
    value_begin: Integers
    first: Indices
    begin: Indices
    _by_value: dict[str, dict[str, int]] = field(default_factory=dict, init=False)
    _evaluated: int = field(default=0, init=False)  # number of predicates
    _matches: dict[int, Matches] = field(default_factory=dict, init=False)

    @cached_property
    def arrays(self) -> object:
        """The attributes as the compiled core takes them, checked once."""
        return core.checked_attributes(
            self.data, self.value_begin, self.name_of, self.first_index, self.begin, self.first
        )

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what the core holds, which is computed again."""
        return {name: value for name, value in vars(self).items() if name != "arrays"}

    def __getitem__(self, element: int) -> Pairs:
        numbers = np.searchsorted(self.first_index, self.first[self.begin[element] : self.begin[element + 1]])
        return self._names_and_values(numbers)

    def of_elements(
        self,
        elements: NDArray[np.intp],
        names: Set[str] | None = None,
        change: Callable[[Pair], Pair | None] | None = None,
    ) -> list[Pairs]:
        """Attributes of each of the given elements: faster than one element after the other.

        Args:
            elements: the elements.
            names: names of the attributes that are wanted.
            change: what to give instead of a pair, ``None`` for nothing; called once for each distinct one.
        """
        if not len(elements):
            return []
        begin = self.begin[elements]
        counts = self.begin[elements + 1] - self.begin[elements]
        bounds = prefix_sums(counts)
        numbers = self.first_index.searchsorted(
            self.first[np.arange(bounds[-1]) + (begin - bounds[:-1]).repeat(counts)]
        )
        if names is not None:
            is_wanted = np.fromiter(map(names.__contains__, self.names), bool, len(self.names))[self.name_of[numbers]]
            numbers, bounds = numbers[is_wanted], prefix_sums(is_wanted)[bounds]
        pairs = self._names_and_values(numbers, change)
        if change is not None and None in pairs:
            is_left = np.fromiter(map(bool, pairs), bool, len(pairs))
            pairs, bounds = list(filter(None, pairs)), prefix_sums(is_left)[bounds]
        return [pairs[first:end] for first, end in pairwise(bounds.tolist())]

    def _names_and_values(self, numbers: Integers, change: Callable[[Pair], Any] | None = None) -> Pairs:
        """Names and values of distinct attributes, by their numbers, each read once."""
        is_used = np.zeros(len(self.first_index), bool)
        is_used[numbers] = True
        used = is_used.nonzero()[0]
        pairs = zip(map(list(self.names).__getitem__, self.name_of[used].tolist()), self.strings(used), strict=True)
        pair_of = dict(zip(used.tolist(), pairs if change is None else map(change, pairs), strict=True))
        return list(map(pair_of.__getitem__, numbers.tolist()))

    def strings(self, numbers: Integers) -> list[str]:
        """Values of distinct attributes, by their numbers."""
        bounds = zip(self.value_begin[numbers].tolist(), self.value_begin[numbers + 1].tolist(), strict=True)
        return [self.data[begin:end].decode() for begin, end in bounds]

    def first_index_by_value(self, name: str) -> dict[str, int]:
        """Index of the first attribute with this name, by value."""
        if name not in self.names:  # as on most pages, for most names
            return {}
        if name not in self._by_value:
            self._by_value[name] = core.values_of_name(self.arrays, self.names[name])
        return self._by_value[name]

    def _match(self, name_bits: dict[str, int], parts: bytes, part_bits: NDArray[np.uint32]) -> dict[int, Matches]:
        """Evaluate predicates that are given as by :func:`_predicate_tables`."""
        bits_of_names = array("I", map(name_bits.get, self.names, repeat(0)))
        matches: dict[int, Matches] = core.match_predicates(self.arrays, bits_of_names, parts, part_bits)
        return matches

    def containing(self, parts: Collection[str], *names: str) -> Matches:
        """First indices and values of the distinct attributes with one of some names whose values contain a substring.

        For predicates that few pages need: nothing is evaluated on the others.

        Args:
            parts: up to 64 substrings in lower case, matched ASCII case-insensitively.
            names: names of the attributes.
        """
        if self.names.keys().isdisjoint(names):
            return []
        return self._match(*_tables_of_one(tuple(parts), names)).get(0, [])

    def matching(self, predicate: int) -> Matches:
        """First indices and values of the distinct attributes that match a predicate."""
        if predicate >= self._evaluated:
            number = len(_predicates)
            self._matches = self._match(*_predicate_tables(number))
            self._evaluated = number  # once complete, as other threads may read them
        return self._matches.get(predicate, [])

    def elements_matching(self, predicate: int, pattern: re.Pattern[str] | None = None) -> list[int]:
        """Elements, in document order, with an attribute that matches a predicate, and whose value a pattern finds."""
        found = self.matching(predicate)
        if not found:  # as on most pages, for most predicates
            return []
        return self.elements_with([index for index, value in found if pattern is None or pattern.search(value)])

    def elements_with(self, indices: list[int]) -> list[int]:
        """Elements, in document order, that have one of the attributes with these first indices."""
        elements: list[int] = core.elements_with(self.arrays, indices) if indices else []  # none on most pages
        return elements

    def elements_having(self, *names: str) -> list[int]:
        """Elements, in document order, that have an attribute with one of some names."""
        numbers = [self.names[name] for name in names if name in self.names]
        elements: list[int] = core.elements_with_attributes(self.arrays, numbers) if numbers else []
        return elements

    def elements_and_values(self, by_index: dict[int, Value]) -> list[tuple[int, Value]]:
        """Elements, in document order, that have one of the attributes with some first indices, and its value."""
        if not by_index:  # as on most pages, for most attributes
            return []
        found: list[tuple[int, Value]] = core.elements_with(self.arrays, by_index)
        return found

    def sum_per_element(self, by_first: NDArray[Number]) -> NDArray[Number]:
        """[n], sum over each element's attributes of a number by first attribute, of the same dtype."""
        sums = np.zeros(len(self.first) + 1, by_first.dtype)
        np.cumsum(by_first.take(self.first), out=sums[1:])
        bounds = sums.take(self.begin)
        return bounds[1:] - bounds[:-1]
