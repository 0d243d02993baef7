"""The names of all keys in Redis.

The keys of a host are ``PREFIX:VERSION:{HOST}:NAME``: what is in braces decides the slot of a cluster.
Those of the near-duplicate index have no braces and spread over all slots. ``docs/architecture.md`` has the table of
what each key holds.
"""

from __future__ import annotations

import hashlib
import re
from binascii import b2a_base64
from contextlib import suppress
from functools import lru_cache
from ipaddress import IPv6Address
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import urlsplit

from tamis.fingerprints import FINGERPRINT_VERSION

if TYPE_CHECKING:
    from collections.abc import Iterable

HOST_LAYOUT: Final = 1
"""Number of the definition of what a host's keys hold; it stands in their names after the fingerprints' version."""

MAX_TTL_S: Final = 36_500 * 86_400
"""Longest time to live of a key: Redis refuses those that leave its clock."""

INDEX_LAYOUT: Final = 1
"""Number of the definition of the near-duplicate index and of the shingles in it."""

_HOSTS: Final = f"{FINGERPRINT_VERSION}.{HOST_LAYOUT}"
_INDEX: Final = f"near:{INDEX_LAYOUT}"
_URL_SAFE: Final = bytes.maketrans(b"+/", b"-_")

_UNSAFE: Final = re.compile(rb"[^a-z0-9.:\-_\[\]]")
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_LONGEST_NAME: Final = 253


def site_of(url: str) -> str | None:
    """Return the host of a page's address, with its port where that is not the usual one.

    However it is written a host has one name: in lower case, without a dot at its end, in punycode as Scrapy has it, an
    IPv6 address as short as it goes and in brackets. Whatever could leave a key or its hash tag (braces, white space,
    control and non-ASCII characters) is percent-encoded, and a name that is longer than DNS allows is replaced by its
    hash.

    Returns:
        The name, or ``None`` for addresses without a host, such as ``file:`` and ``data:``, and for broken ones.

    >>> site_of("https://News.example.:8080/2026/storm.html")
    'news.example:8080'
    >>> site_of("https://bücher.example/"), site_of("http://[0:0::1]:80/")
    ('xn--bcher-kva.example', '[::1]')
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    return _name_of(parts.netloc, _DEFAULT_PORTS[parts.scheme]) if parts.scheme in _DEFAULT_PORTS else None


@lru_cache(maxsize=4_096)
def _name_of(netloc: str, default_port: int) -> str | None:
    try:
        parts = urlsplit(f"//{netloc}")
        host, port = (parts.hostname or "").rstrip("."), parts.port
        host = f"[{IPv6Address(host)}]" if ":" in host else host
    except ValueError:
        return None
    if not host:
        return None
    if not host.isascii():
        with suppress(UnicodeError):
            host = host.encode("idna").decode("ascii").rstrip(".")
    name = host if port in {None, default_port} else f"{host}:{port}"
    raw = name.lower().encode("utf-8", "surrogatepass")
    if len(raw) > _LONGEST_NAME:
        return "long-" + hashlib.blake2b(raw, digest_size=16).hexdigest()
    return _UNSAFE.sub(lambda match: b"%%%02x" % match[0][0], raw).decode("ascii")


class HostKeys(NamedTuple):
    """The keys of one host.

    Attributes:
        state: hash, the numbers of the host as a whole.
        nodes: hash, the counts of nodes on several pages.
        guard: string, the ids of the pages counted and of their contents.
        contents: hash, the fingerprints that were counted of each page.
        singles_0 to singles_7: sets, the nodes on one page.
    """

    state: str
    nodes: str
    guard: str
    contents: str
    singles_0: str
    singles_1: str
    singles_2: str
    singles_3: str
    singles_4: str
    singles_5: str
    singles_6: str
    singles_7: str


def host_keys(prefix: str, host: str) -> HostKeys:
    """Return the names of a host's keys; counts of other fingerprints have other names, and never mix with these."""
    key = f"{prefix}:{_HOSTS}:{{{host}}}"
    return HostKeys(*(f"{key}:{name}" for name in ("h", "n", "g", "p", *range(8))))


def near_keys(prefix: str, keys: Iterable[bytes]) -> list[bytes]:
    """Return the names of keys of the near-duplicate index."""
    head = f"{prefix}:{_INDEX}:".encode()
    return [head + b2a_base64(key, newline=False).translate(_URL_SAFE) for key in keys]
