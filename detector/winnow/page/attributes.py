"""The attributes of a page's elements: each different one is told apart once, its value a string only when asked for.

What every page is searched for (:func:`question`) is answered in one scan of the core over all values: a first look,
before values are read with more care, which as a rule tells that a page has nothing of it.
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
    from numpy.typing import NDArray

    Indices = NDArray[np.int32]

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


_NONE: Final = np.empty(0, np.int64)


class AttributeValues(Mapping[str, dict[str, int]]):
    """The different attributes of a page: for each name the place of the first attribute that has it, by its value.

    Args:
        names: names of attributes.
        name_of: int32[d], number of the name of each different attribute.
        place: int32[d], its place among all attributes of the page.
        data: the values in UTF-8, behind each other.
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
        self._ascii = data.decode("ascii") if data.isascii() else None
        self._answered = 0  # questions

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
        """int64[k], numbers of the different attributes of one name."""
        return np.flatnonzero(self.name_of == self._number.get(name, -1))

    def answering(self, question: Question) -> NDArray[np.int64]:
        """int64[k], numbers of the different attributes that answer a question, by the compiled core."""
        if self._answered <= question.number:
            self._answer()
        if not self._all >> question.number & 1:
            return _NONE
        return (self._marks & np.uint32(1 << question.number)).nonzero()[0]

    def _answer(self) -> None:
        """Have all questions so far answered."""
        questions = asked()
        self._marks = np.empty(len(self.place), np.uint32)
        of_name = np.fromiter(map(questions.of_name.get, self.names, repeat(0)), np.uint32, len(self.names))
        self._all = core.answer_questions(
            *(self.data, self.begin, self.name_of, of_name, questions.any_value, questions.parts, questions.of_part),
            self._marks,
        )
        self._answered = questions.number

    def strings(self, chosen: NDArray[np.int64]) -> list[str]:
        """Values of different attributes, by their numbers."""
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

    Menus, lists and grids repeat their attributes. What is worked out of attributes is worked out once for all equal
    ones, and spread over the elements in numpy: an array *by first attribute* is of length ``a``, and only the places
    of ``first`` count in it.

    Attributes:
        by_name: place of the first of all equal attributes, by name and value.
        first: int32[a], the same for every attribute of the page, in document order.
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
            return [self[index] for index in range(*element.indices(len(self)))]
        own = self.first[self.begin[: len(self)][element] : self.begin[1:][element]]
        if "_pairs" in vars(self):
            return [self._pairs[place] for place in own.tolist()]
        values = self.by_name
        numbers = np.searchsorted(values.place, own)
        return list(
            zip([values.names[of] for of in values.name_of[numbers].tolist()], values.strings(numbers), strict=True)
        )

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
        chosen = values.answering(question)
        if not len(chosen):
            return []
        return list(zip(values.place[chosen].tolist(), values.strings(chosen), strict=True))

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
