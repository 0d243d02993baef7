"""The compiled core: what costs most of a page's time, in C. It is part of every installation."""

from __future__ import annotations

import secrets
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["SEED", "core", "load_from"]

_HOW: Final = (
    "install it anew: pip install --force-reinstall scrapy-winnow (from source: a C compiler, or pip install ziglang)"
)

SEED: Final = secrets.randbits(64)
"""Seed of the core's hash tables, another in every process, so that no page can fill one of their slots."""

VERSION: Final = 24
"""Version of the functions that are called here; ``core.h`` has the same number."""


class _Core:
    """The functions of the compiled module."""

    def __init__(self, module: Any) -> None:
        vars(self).update(vars(module))

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"the compiled core has no {name}: {_HOW}")


def _load() -> _Core:
    try:
        from winnow.core import _compiled  # noqa: PLC0415  (so that what is missing is said)
    except ImportError as error:
        raise ImportError(f"the compiled core of winnow cannot be loaded ({error}): {_HOW}") from error
    if (found := getattr(_compiled, "VERSION", 1)) != VERSION:
        raise ImportError(f"the compiled core of winnow is of version {found}, not {VERSION}: {_HOW}")
    return _Core(_compiled)


core: Final = _load()


def load_from(library: Path) -> None:
    """Take the core from another file from now on: one built with sanitizers, for example.

    Raises:
        ImportError: the file is no such library.
    """
    loader = ExtensionFileLoader("winnow.core._compiled", str(library))
    spec = spec_from_file_location("winnow.core._compiled", library, loader=loader)
    if spec is None:
        raise ImportError(f"{library}: no library")
    module = module_from_spec(spec)
    loader.exec_module(module)
    vars(core).update(vars(module))
