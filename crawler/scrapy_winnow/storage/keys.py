"""The names of all keys in Redis: ``PREFIX:VERSION:{TAG}:NAME``, where keys that are used together share their tag.

What is in braces decides the slot of a cluster. ``docs/architecture.md`` has the table of what each key holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple, Self

HOST_LAYOUT: Final = 3
"""Number of the definition of what a host's keys hold; it stands in their names after the fingerprints' version."""

INDEX_VERSION: Final = 2
"""Version of the layout of the near-duplicate index of one server, and of the shingles in it."""

PARTS_VERSION: Final = 3
"""Version of the layout of the near-duplicate index of a cluster, and of the shingles in it."""

INDEX_TAG: Final = "near-duplicates"
"""Hash tag of the near-duplicate index; its parts in a cluster have this and a number."""

PARTS: Final = 16
"""Parts of the near-duplicate index of a cluster, and so the most servers that can share its work."""

_PART_TAGS: Final = (13, 39, 79, 40, 12, 38, 78, 41, 11, 9, 68, 42, 10, 8, 69, 43)
"""Numbers in the tags of the parts: with these, each part lies in the middle of another sixteenth of the slots."""


class HostKeys(NamedTuple):
    """The keys of one host.

    Attributes:
        state: hash, what is known of it as a whole.
        nodes: hash, the counts.
        guard: string, the ids of the pages counted and of their contents.
        contents: hash, the fingerprints that were counted of each page.
    """

    state: str
    nodes: str
    guard: str
    contents: str


def host_keys(prefix: str, version: int, host: str) -> HostKeys:
    """Return the names of a host's keys.

    Args:
        prefix: first part of every key (``WINNOW_REDIS_PREFIX``).
        version: version of the fingerprints.
        host: its name, as :func:`scrapy_winnow.hosts.names.site_of` gives it.
    """
    key = f"{prefix}:{version}.{HOST_LAYOUT}:{{{host}}}"
    return HostKeys(f"{key}:h", f"{key}:n", f"{key}:g", f"{key}:p")


def index_key(prefix: str, name: str) -> str:
    """Return the name of a key of the near-duplicate index, and of the streams beside it: one tag for all of them."""
    return f"{prefix}:{INDEX_VERSION}:{{{INDEX_TAG}}}:{name}"


def parts_key(prefix: str, name: str) -> str:
    """Return the name of a key that the parts of a cluster's index have in common; it lies beside the streams."""
    return f"{prefix}:{PARTS_VERSION}:{{{INDEX_TAG}}}:{name}"


class DecidingKeys(NamedTuple):
    """The keys of a group of workers that decides documents in a cluster; they lie beside the streams.

    Attributes:
        lease: string, token of the worker in charge.
        fence: number, how many have been in charge.
        batch: string, what was decided and is not written to the end.
        decided: number of entries that the group has decided.
    """

    lease: str
    fence: str
    batch: str
    decided: str

    @classmethod
    def of(cls, prefix: str, group: str) -> Self:
        """Names for a prefix and the name of a group."""
        return cls(*(parts_key(prefix, f"{name}:{group}") for name in cls._fields))


def part_key(prefix: str, part: int, name: str) -> str:
    """Return the name of a key of a part of a cluster's index; each part has a tag of its own."""
    return f"{prefix}:{PARTS_VERSION}:{{{INDEX_TAG}-{_PART_TAGS[part]}}}:{name}"


@dataclass(frozen=True, slots=True)
class LearningKeys:
    """The keys that learning uses with one feature version: examples and models of different features never meet.

    Attributes:
        hosts: sorted set, priority of each host that has examples.
        sizes: hash, bytes of each host's examples.
        state: hash, ``salt`` of the priorities, ``limit`` from which on hosts are refused, ``bytes`` of all examples,
            ``taken`` examples ever.
        examples: what the names of the hosts' own hashes begin with, from page priority to example.
        current: hash, the model in use: ``serial``, ``version``, ``held``; and ``tried``, examples at the last refit.
        models, cards: hashes by version, of the models and of what is known of them as JSON.
        order: sorted set of versions by the serial at which they were published.
        lease: string, token of the learner in charge.
        fence: number, how many learners have been in charge.
    """

    hosts: str
    sizes: str
    state: str
    examples: str
    current: str
    models: str
    cards: str
    order: str
    lease: str
    fence: str

    @classmethod
    def of(cls, prefix: str, features: str) -> Self:
        """Names for a prefix (``WINNOW_REDIS_PREFIX``) and a feature version."""
        base = f"{prefix}:{{learn}}:{features}"
        names = ("hosts", "sizes", "state", "of:", "current", "models", "cards", "order", "lease", "fence")
        return cls(*(f"{base}:{name}" for name in names))
