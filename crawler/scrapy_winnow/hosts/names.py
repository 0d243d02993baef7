"""Which site a page belongs to, in a form that is safe inside a Redis key."""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

_UNSAFE: Final = re.compile(rb"[^a-z0-9.:\-_\[\]]")
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_LONGEST_NAME: Final = 253


def site_of(url: str) -> str | None:
    """Return the host of a page's address, with its port where that is not the usual one.

    Whatever could leave a key or its hash tag (braces, white space, control and non-ASCII characters) is
    percent-encoded, and a name that is longer than DNS allows is replaced by its hash.

    Returns:
        The name, or ``None`` for addresses without a host, such as ``file:`` and ``data:``, and for broken ones.

    >>> site_of("https://News.example:8080/2026/storm.html")
    'news.example:8080'
    """
    # A page's links lead to few hosts: what is behind the host is cut off where it is plain to see, the rest is known.
    begin = len("https://") if url.startswith("https://") else len("http://") if url.startswith("http://") else 0
    end = url.find("/", begin) if begin else -1
    return _name_in(url) if end < 0 else _known_name_in(url[:end])


def _name_in(url: str) -> str | None:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    if parts.scheme not in _DEFAULT_PORTS or not host:
        return None
    name = host if port in {None, _DEFAULT_PORTS[parts.scheme]} else f"{host}:{port}"
    raw = name.lower().encode("utf-8", "surrogatepass")
    if len(raw) > _LONGEST_NAME:
        return "long-" + hashlib.blake2b(raw, digest_size=16).hexdigest()
    return _UNSAFE.sub(lambda match: b"%%%02x" % match[0][0], raw).decode("ascii")


_known_name_in: Final = lru_cache(maxsize=4_096)(_name_in)
