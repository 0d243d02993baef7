"""The compiled core: what costs most of a page's time, in C. It is part of every installation.

What each function takes and gives stands above it in ``source/``.
"""

from __future__ import annotations

import secrets
from importlib import import_module
from typing import Any, Final

__all__ = ["core"]

_HOW: Final = "reinstall it: pip install --force-reinstall tamis (from source: a C compiler, or pip install ziglang)"

VERSION: Final = 51
"""Version of the functions that are called here; ``core.h`` has the same number."""


def _load() -> Any:
    try:
        compiled = import_module("tamis.core._compiled")
    except ImportError as error:
        raise ImportError(f"the compiled core of tamis cannot be loaded ({error}): {_HOW}") from error
    found = getattr(compiled, "VERSION", 1)
    if found != VERSION:
        raise ImportError(f"the compiled core of tamis is of version {found}, not {VERSION}: {_HOW}")
    compiled.set_seed(secrets.randbits(64))  # of hash tables: no page can fill one of their slots
    return compiled


core: Final = _load()
