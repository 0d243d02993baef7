"""Values of attributes by name, made into strings when they are asked for."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import repeat
from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.core import compiled
from winnow.page.attributes.questions import asked

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from winnow.page.attributes.questions import Question

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
        self._answered = 0  # questions

    def __getitem__(self, name: str) -> dict[str, int]:
        known = self._known.get(name)
        if known is None:
            chosen = np.flatnonzero(self.name_of == self._number[name])
            places = self.place[chosen].tolist()
            known = self._known[name] = dict(zip(self.strings(chosen), places, strict=True))
        return known

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
        self._all = compiled().answer_questions(  # type: ignore[union-attr]
            *(self.data, self.begin, self.name_of, of_name, questions.any_value, questions.parts, questions.of_part),
            self._marks,
        )
        self._answered = questions.number

    def strings(self, chosen: NDArray[np.int64]) -> list[str]:
        """Values of different attributes, by their numbers."""
        bounds = zip(self.begin[chosen].tolist(), self.begin[chosen + 1].tolist(), strict=True)
        return [self.data[begin:end].decode() for begin, end in bounds]

    def __iter__(self) -> Iterator[str]:
        return iter(self._number)

    def __len__(self) -> int:
        return len(self._number)
