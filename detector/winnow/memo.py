"""Results of a function by its argument, kept in a dictionary of bounded size: look-ups run without Python code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeVar
from weakref import WeakValueDictionary

if TYPE_CHECKING:
    from collections.abc import Callable

Argument = TypeVar("Argument")
Result = TypeVar("Result")

_LONGEST: Final = 400


class Memo(dict[Argument, Result]):
    """Calls a function for the arguments it has not met: ``list(map(memo.__getitem__, arguments))``.

    Unlike :func:`functools.lru_cache` it forgets all at once when it is full, for which nothing needs to be noted at
    look-ups: they cost a third.

    Args:
        function: a pure function; it must not call its own memo.
        most: results kept.
    """

    def __init__(self, function: Callable[[Argument], Result], most: int) -> None:
        super().__init__()
        self._function = function
        self._most = most
        _memos[id(self)] = self

    def __missing__(self, argument: Argument) -> Result:
        result = self._function(argument)
        if len(self) >= self._most:
            self.clear()
        if not isinstance(argument, str) or len(argument) <= _LONGEST:
            self[argument] = result
        return result


_memos: Final[WeakValueDictionary[int, Memo[Any, Any]]] = WeakValueDictionary()


def forget() -> None:
    """Empty every memo of the process; what is measured after it is what the first page of a site costs."""
    for memo in list(_memos.values()):
        memo.clear()
