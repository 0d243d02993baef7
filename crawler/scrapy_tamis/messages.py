"""What may go into a log, a report or a terminal: nothing that steers a terminal, and no key that an address holds."""

from __future__ import annotations

import re
from typing import Final

from tamis.page.text import without_controls

_USER: Final = re.compile(r"(?<=://)[^\s/@]{1,200}@")
_KEY: Final = re.compile(
    r"(?i)([?&;][\w.%-]{0,60}(?:key|token|secret|pass(?:word|wd)?|pwd|auth|credential|sig(?:nature)?|sess(?:ion)?_?(?:id)?)=)"
    r"[^\s&;#'\"<>()]+"
)
"""A query parameter whose name says that its value is secret."""


def loggable(text: object) -> str:
    r"""Return a text in one line, without control characters, users and passwords of addresses, and keys in queries.

    >>> loggable("GET https://ann:pw@api.example/?url=x&api_key=k7 \x1b[31mfailed")
    'GET https://***@api.example/?url=x&api_key=*** [31mfailed'
    """
    line = " ".join(without_controls(str(text)).split())
    return _KEY.sub(r"\1***", _USER.sub("***@", line))


def counted(number: int, noun: str) -> str:
    """Return a number of things: ``1 page``, ``2,000 pages``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
