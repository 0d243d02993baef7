"""Finding the compiled core, and doing without it."""

from __future__ import annotations

import os
import secrets
import warnings
from contextlib import contextmanager
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Core: TypeAlias = Any  # the module winnow.core._compiled

VARIABLE: Final = "WINNOW_CORE"
"""Environment variable; ``0`` leaves the compiled core out."""

SEED: Final = secrets.randbits(64)
"""Seed of the core's hash tables, another in every process, so that no page can fill one of their slots."""

VERSION: Final = 12
"""Version of the functions that are called here; ``core.h`` has the same number."""


def _load() -> tuple[Core | None, str]:
    if os.environ.get(VARIABLE) == "0":
        return None, f"numpy ({VARIABLE}=0)"
    try:
        from winnow.core import _compiled  # noqa: PLC0415  (it may not be there)
    except ImportError as error:
        missing = isinstance(error, ModuleNotFoundError) or "cannot import name" in str(error)
        return None, "numpy (built without a compiler)" if missing else f"numpy ({error})"
    if (found := getattr(_compiled, "VERSION", 1)) != VERSION:
        stale = f"the compiled core is of version {found}, not {VERSION}"
        warnings.warn(f"{stale}: numpy does its work until the package is installed anew", RuntimeWarning, stacklevel=2)
        return None, f"numpy ({stale})"
    return _compiled, "compiled"


_core, _description = _load()


def compiled() -> Core | None:
    """Return the compiled core, ``None`` where numpy does its work."""
    return _core


def description() -> str:
    """``"compiled"``, or ``"numpy"`` with the reason in parentheses."""
    return _description


def load_from(library: Path) -> None:
    """Take the core from another file from now on: one built with sanitizers, for example."""
    global _core, _description
    loader = ExtensionFileLoader("winnow.core._compiled", str(library))
    spec = spec_from_file_location("winnow.core._compiled", library, loader=loader)
    if spec is None:
        raise ImportError(f"{library}: no library")
    module = module_from_spec(spec)
    loader.exec_module(module)
    _core, _description = module, f"compiled ({library})"


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
