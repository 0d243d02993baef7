"""The names of all keys in Redis: ``PREFIX:VERSION:{TAG}:NAME``, where keys that are used together share their tag.

What is in braces decides the slot of a cluster. ``docs/architecture.md`` has the table of what each key holds.
"""

from __future__ import annotations

from typing import Final

HOST_LAYOUT: Final = 2
"""Number of the definition of what a host's keys hold; it stands in their names after the fingerprints' version."""

INDEX_VERSION: Final = 2
"""Version of the layout of the near-duplicate index and of the shingles in it."""


def host_keys(prefix: str, version: int, host: str) -> tuple[str, str, str]:
    """Return the names of a host's state, nodes and guard.

    Args:
        prefix: first part of every key (``WINNOW_REDIS_PREFIX``).
        version: version of the fingerprints.
        host: its name, as :func:`scrapy_winnow.hosts.names.site_of` gives it.
    """
    key = f"{prefix}:{version}.{HOST_LAYOUT}:{{{host}}}"
    return f"{key}:h", f"{key}:n", f"{key}:g"


def index_key(prefix: str, name: str) -> str:
    """Return the name of a key of the near-duplicate index; in a cluster all of them are on one node."""
    return f"{prefix}:{INDEX_VERSION}:{{near-duplicates}}:{name}"


def learning_key(prefix: str, features: str, name: str) -> str:
    """Return the name of a key of learning; examples and models of different feature versions never meet."""
    return f"{prefix}:{{learn}}:{features}:{name}"
