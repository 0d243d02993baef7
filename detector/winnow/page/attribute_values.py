"""Values of attributes by name, made into strings when they are asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

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
        self._number = {name: number for number, name in enumerate(names)}
        self._name_of = name_of
        self._place = place
        self._data = data
        self._begin = begin
        self._known: dict[str, dict[str, int]] = {}

    def __getitem__(self, name: str) -> dict[str, int]:
        known = self._known.get(name)
        if known is None:
            chosen = np.flatnonzero(self._name_of == self._number[name])
            bounds = zip(self._begin[chosen].tolist(), self._begin[chosen + 1].tolist(), strict=True)
            data = self._data
            values = [data[begin:end].decode() for begin, end in bounds]
            known = self._known[name] = dict(zip(values, self._place[chosen].tolist(), strict=True))
        return known

    def __iter__(self) -> Iterator[str]:
        return iter(self._number)

    def __len__(self) -> int:
        return len(self._number)
