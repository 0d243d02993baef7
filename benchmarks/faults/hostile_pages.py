"""Pages that want to take a crawl's time, its memory or its life, as bytes and the type that they claim to be of."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

HTML: Final = "text/html"
UTF_8: Final = "text/html; charset=utf-8"
MAIN: Final = (
    "<p>The words that a reader has come for stand in the middle of this page, and there are a few of them.</p>"
)
_CODECS: Final = (
    "utf-8",
    "utf-16",
    "utf-7",
    "cp1251",
    "shift_jis",
    "gb18030",
    "iso-2022-jp",
    "big5",
    "euc-kr",
    "cp037",
)


def pages() -> dict[str, tuple[bytes, str]]:
    """All of them by name: body and content type."""
    found = {name: (make(), UTF_8) for name, make in _MADE.items()}
    text = f"<title>Łódź</title><p>Zażółć gęślą jaźń, Привет, 日本語の文章です。</p>{MAIN}" * 20
    for real in _CODECS:
        for claimed in ("utf-8", "utf-16", "iso-2022-jp", "x-user-defined", "klingon"):
            if real != claimed:
                found[f"{real} called {claimed}"] = text.encode(real, "replace"), f"{HTML}; charset={claimed}"
    return found


def _nested(levels: int, tag: str) -> bytes:
    return (f"<{tag}>" * levels + MAIN + f"</{tag}>" * levels).encode()


def _tables(levels: int) -> bytes:
    return ("<table><tr><td>" * levels + MAIN + "</td></tr></table>" * levels).encode()


def _words(number: int) -> str:
    chance = random.Random(number)
    return " ".join(f"{chance.randrange(1 << 30):x}" for _ in range(number))


def _class_names() -> bytes:
    blocks = (f'<div class="{_words(2_000 + number)}"><p>Block number {number}.</p></div>' for number in range(200))
    return ("".join(blocks) + MAIN).encode()


_MADE: Final[dict[str, Callable[[], bytes]]] = {
    "nothing": lambda: b"",
    "90,000 nodes in 1.2 MB": lambda: b"<b>word</b>\n" * 90_000 + MAIN.encode(),
    "90,000 nodes without text": lambda: b"<b></b>" * 90_000 + MAIN.encode(),
    "64,000 paragraphs": lambda: "".join(f"<p>par {number}" for number in range(64_000)).encode(),
    "20,000 attributes": ("<div " + "".join(f'a{n}="x" ' for n in range(20_000)) + f">{MAIN}</div>").encode,
    "one attribute of 8 MB": f'<div title="{"x" * 8_000_000}">{MAIN}</div>'.encode,
    "depth 2,000": lambda: _nested(2_000, "div"),
    "depth 100,000": lambda: _nested(100_000, "div"),
    "depth 5,000 of inline tags": lambda: _nested(5_000, "b"),
    "one text of 10 MB": ("<p>" + "word " * 2_000_000).encode,
    "one word of 10 MB": ("<p>" + "w" * 10_000_000).encode,
    "10 MB of spaces": (f"<p>{MAIN}" + " " * 10_000_000).encode,
    "400,000 entities": ("<p>" + "&amp;&#x41;&bogus;&#0;&#xD800;&#x110000;" * 66_000).encode,
    "NUL": lambda: b"<p>be\x00fore" * 50_000 + MAIN.encode(),
    "lone surrogates": lambda: b"<p>\xed\xa0\x80\xed\xb0\x80 words" * 50_000 + MAIN.encode(),
    "10,000 links": ("".join(f"<a href=/{n}>link {n}</a> " for n in range(10_000)) + MAIN).encode,
    "tables 400 deep": lambda: _tables(400),
    "tables 5,000 deep": lambda: _tables(5_000),
    "cells over 1,000 columns": (MAIN + "<table>" + "<tr><td colspan=1000 rowspan=2>a<td>b" * 20_000).encode,
    "megabytes of class names": _class_names,
    "a list of 50,000 items": ("<ul>" + "<li>an item that is like the others" * 50_000 + "</ul>").encode,
    "text after </html>": (f"<html><body>{MAIN}</body></html>" + f"{MAIN}<!-- x -->" * 20_000).encode,
    "5 MB of comments": lambda: b"<!-- a comment -->" * 280_000 + MAIN.encode(),
    "a comment without end": lambda: MAIN.encode() + b"<!-- " + b"x " * 1_000_000,
    "5 MB of scripts": lambda: b"<script>var x = '<p>no text</p>';</script>" * 120_000 + MAIN.encode(),
    "unclosed quotes": lambda: b"<a href=\"x ><p title='" * 50_000 + MAIN.encode(),
    "misnested tags": lambda: b"<b><i><p></b></i><table><p><form><td>x</form>" * 8_000 + MAIN.encode(),
    "15 MB of random bytes": lambda: random.Random(1).randbytes(15_000_000),
    "17 MB": lambda: b"<p>word</p>" * 1_600_000,
    "gzip called HTML": lambda: b"\x1f\x8b\x08\x00" + random.Random(2).randbytes(100_000),
}
