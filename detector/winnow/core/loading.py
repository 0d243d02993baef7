"""Finding the compiled core, and doing without it."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

Core: TypeAlias = Any  # the module winnow.core._compiled

VARIABLE: Final = "WINNOW_CORE"
"""Environment variable; ``0`` leaves the compiled core out."""


def _load() -> tuple[Core | None, str]:
    if os.environ.get(VARIABLE) == "0":
        return None, f"numpy ({VARIABLE}=0)"
    try:
        from winnow.core import _compiled  # noqa: PLC0415  (it may not be there)
    except ImportError as error:
        missing = isinstance(error, ModuleNotFoundError) or "cannot import name" in str(error)
        return None, "numpy (built without a compiler)" if missing else f"numpy ({error})"
    return _compiled, "compiled"


_core, _description = _load()


def compiled() -> Core | None:
    """Return the compiled core, ``None`` where numpy does its work."""
    return _core


def description() -> str:
    """``"compiled"``, or ``"numpy"`` with the reason in parentheses."""
    return _description


@contextmanager
def numpy_only() -> Iterator[None]:
    """Leave the core out for a while, in all threads: for tests and measurements that compare the two."""
    global _core, _description
    before = _core, _description
    _core, _description = None, "numpy (asked for)"
    try:
        yield
    finally:
        _core, _description = before
