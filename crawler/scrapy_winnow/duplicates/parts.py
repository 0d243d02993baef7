"""The parts of the near-duplicate index of a cluster: which of them holds what, and operations on many in one go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from scrapy_winnow.storage.keys import PARTS, part_key

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

FIELDS_PER_HASH: Final = 70
"""Entries of a hash of buckets when the index is full; Redis and Valkey pack hashes of up to 128 and more."""

LIVES: Final = 3
"""Times to live of a document after which a hash goes that was begun then; it is read for two at most."""


class Layout(NamedTuple):
    """What every call has to know of the index as it is now.

    Attributes:
        generation: the one that is written to.
        hashes: of buckets, in each part and generation.
    """

    generation: int
    hashes: int


class Operation(NamedTuple):
    """One operation of ``storage/lua/duplicates/parts/part.lua``.

    Attributes:
        name: ``look``, ``enter``, ``leave``, ``read`` or ``write``.
        field: 6 bytes of a shingle or a digest, or 8 of a document's id.
        value: what the operation writes.
    """

    name: str
    field: bytes
    value: bytes = b""

    @property
    def part(self) -> int:
        """Number of the part that holds the field."""
        return self.field[-1] % PARTS


class Operations:
    """Operations that go to the parts together: one script call for each part that they concern.

    Each operation is sent once; those on one part are carried out in the order in which they were added.
    """

    def __init__(self, operations: Sequence[Operation] = ()) -> None:
        self._places: dict[Operation, tuple[int, int]] = {}
        self._of_part: dict[int, list[Operation]] = {}
        self._replies: dict[int, list[Any]] = {}
        for operation in operations:
            self.add(operation)

    def __iter__(self) -> Iterator[Operation]:
        return iter(self._places)

    def __bool__(self) -> bool:
        return bool(self._places)

    def add(self, operation: Operation) -> None:
        """Add an operation, unless it is there."""
        if operation not in self._places:
            part = self._of_part.setdefault(operation.part, [])
            self._places[operation] = (operation.part, len(part))
            part.append(operation)

    def calls(self, prefix: str, layout: Layout, life: int, room: int) -> list[tuple[list[str], list[Any]]]:
        """Return the keys and arguments of the script call of each part."""
        calls = []
        for part, operations in self._of_part.items():
            begin = part_key(prefix, part, "")
            arguments: list[Any] = [begin, layout.generation, layout.hashes, life, room]
            for operation in operations:
                arguments += operation
            calls.append(([part_key(prefix, part, "m")], arguments))
        return calls

    def take(self, replies: Sequence[list[Any]]) -> None:
        """Take what the calls have returned."""
        self._replies = dict(zip(self._of_part, replies, strict=True))

    def reply(self, operation: Operation) -> Any:
        """Return what became of an operation."""
        part, place = self._places[operation]
        return self._replies[part][place]
