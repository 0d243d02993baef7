"""Values of attributes by name, made into strings when they are asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray


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

    def __getitem__(self, name: str) -> dict[str, int]:
        known = self._known.get(name)
        if known is None:
            chosen = np.flatnonzero(self.name_of == self._number[name])
            places = self.place[chosen].tolist()
            known = self._known[name] = dict(zip(self.strings(chosen), places, strict=True))
        return known

    def of_names(self, names: Iterable[str]) -> NDArray[np.int64]:
        """int64[k], numbers of the different attributes that have one of the names."""
        numbers = [self._number[name] for name in names if name in self._number]
        if not numbers:
            return np.empty(0, np.int64)
        wanted = np.zeros(len(self._number), bool)
        wanted[numbers] = True
        return np.flatnonzero(wanted[self.name_of])

    def strings(self, chosen: NDArray[np.int64]) -> list[str]:
        """Values of different attributes, by their numbers."""
        bounds = zip(self.begin[chosen].tolist(), self.begin[chosen + 1].tolist(), strict=True)
        return [self.data[begin:end].decode() for begin, end in bounds]

    def __iter__(self) -> Iterator[str]:
        return iter(self._number)

    def __len__(self) -> int:
        return len(self._number)
