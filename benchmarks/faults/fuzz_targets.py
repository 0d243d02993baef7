"""What fuzzing feeds with any bytes, and what must be true of whatever comes out; a violation is an exception."""

from __future__ import annotations

import json
import re
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path
from time import thread_time
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import html5lib
from markdown_it import MarkdownIt

from scrapy_tamis.storage.evidence import ENTRY, frequencies
from scrapy_tamis.storage.settled import SettledHost
from tamis import clean, models
from tamis.models.files import ModelError, read_model_file

if TYPE_CHECKING:
    from collections.abc import Callable

URL: Final = "https://news.example/2026/storm"

_FORBIDDEN: Final = frozenset(
    (
        *("script", "style", "iframe", "frame", "object", "embed", "applet", "base", "link", "meta", "form", "input"),
        *("button", "textarea", "select", "svg", "math", "template", "noscript", "noembed", "noframes", "plaintext"),
    )
)
_ADDRESSES: Final = frozenset({"href", "src", "srcset", "action", "formaction", "background", "poster", "cite", "data"})
_PICTURES: Final = tuple(f"data:image/{kind}" for kind in ("png", "gif", "jpeg", "webp", "avif"))
_RENDERER: Final = MarkdownIt("commonmark").enable(["table", "strikethrough"])
_RENDERER.validateLink = lambda _: True  # type: ignore[assignment,method-assign]  # so that unsafe addresses are seen


def take_page(data: bytes) -> None:
    """Any bytes are a page: all of its outputs can be written, and none of them holds what runs."""
    cleaned = clean(data, URL)
    assert isinstance(cleaned.text, str)
    list(cleaned.segments)
    assert 0 <= cleaned.template_share <= 1


def take_time(data: bytes) -> None:
    """Four times as much of anything takes about four times as long, in all that is made of a page.

    Raises:
        AssertionError: it takes more than ten times as long, three times of three.
    """
    piece = data[:256]
    ratios: list[float] = []
    while len(ratios) < 3:
        small, large = (_seconds(piece * times) for times in (16, 64))
        ratios.append(large / max(small, 0.02))
        if ratios[-1] <= 10.0:
            return
    raise AssertionError(f"four times as much takes {min(ratios):.0f} times as long")


def _seconds(html: bytes) -> float:
    """Processor time of cleaning and of all that is made of the page."""
    begin = thread_time()
    cleaned = clean(html, URL)
    cleaned.to_dict("html", "markdown", "metadata", "segments", "chunks")
    return thread_time() - begin


def in_time(take: Callable[[bytes], None]) -> Callable[[bytes], None]:
    """Make an input a finding where its time is far above that of inputs of its size."""
    usual = 0.0  # seconds for each byte and for 1,000 bytes that every input is taken to have besides, on average

    def take_in_time(data: bytes) -> None:
        nonlocal usual
        begin = thread_time()
        take(data)
        seconds = thread_time() - begin
        allowed = max(50.0 * usual * (1_000 + len(data)), 1.0)
        assert seconds <= allowed or not usual, f"{seconds:.2f} s for {len(data)} bytes"
        usual += (seconds / (1_000 + len(data)) - usual) / 100 if usual else seconds / (1_000 + len(data))

    return take_in_time


def take_output(data: bytes) -> None:
    """Clean HTML and Markdown of any page, as another parser reads them, hold no script, handler or unsafe address.

    The renderer knows no formulas, and lets HTML through. No output holds a control character, as NUL, a carriage
    return or an escape for terminals, nor half of a surrogate pair.
    """
    cleaned = clean(data, URL)
    look_for_harm(cleaned.html)
    look_for_harm(_RENDERER.render(cleaned.markdown))
    look_for_controls(cleaned.to_dict("html", "markdown", "metadata", "segments", "blocks", "chunks"))


def look_for_controls(outputs: object) -> None:
    """Look through outputs as a JSON file would hold them.

    Raises:
        AssertionError: a text in them holds a control character or half of a surrogate pair.
    """
    written = json.dumps(outputs, ensure_ascii=False)
    assert (found := _CONTROL.search(written)) is None, written[found.start() - 50 : found.end() + 10]


_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]|(?<!\\)(?:\\\\)*\\(?:u00[01]|[bfr])")
"""In JSON, which writes controls of ASCII as escapes."""


def look_for_harm(html: str) -> None:
    """Parse HTML with html5lib and look through it.

    Raises:
        AssertionError: it holds something that runs, embeds or leads where nothing may lead.
    """
    document = html5lib.parse(html, namespaceHTMLElements=False)
    for element in [element for part in document for element in part.iter() if isinstance(element.tag, str)]:
        is_charset = element.tag == "meta" and "charset" in element.attrib
        assert is_charset or element.tag not in _FORBIDDEN, element.tag
        for name, value in element.attrib.items():
            assert not name.startswith("on"), name
            assert name != "style", value
            if name in _ADDRESSES:
                _check_address(value)


def _check_address(value: str) -> None:
    plain = "".join(character for character in value if character > " ").lower()
    with suppress(ValueError):
        scheme = urlsplit(plain).scheme
        assert scheme in {"", "http", "https", "mailto", "tel", "ftp", "data"}, value
        assert scheme != "data" or plain.startswith(_PICTURES), value


def take_redis(data: bytes) -> None:
    """What Redis holds of hosts is read, or refused with the error that is said of it."""
    kind, rest = data[:1], data[1:]
    if kind < b"\x40":
        with suppress(ValueError):
            host = SettledHost.unpack(64, 1, rest, 100.0, b"s")
            assert (host.frequencies(host.fractions_of(host.fingerprints)) >= 0).all()
    else:
        whole = rest[: len(rest) // ENTRY.itemsize * ENTRY.itemsize]
        assert (frequencies(whole, 64) >= 0).all()


def take_model(data: bytes) -> None:
    """A model file with any bytes in any place is read, or refused as no model."""
    whole = bytearray(_model())
    for at in range(0, len(data) - 3, 4):
        place = int.from_bytes(data[at : at + 3], "little") % len(whole)
        whole[place] = data[at + 3]
    file = _file()
    file.write_bytes(whole)
    with suppress(ModelError):
        header, _ = read_model_file(file)
        assert isinstance(header, dict)


@cache
def _model() -> bytes:
    return next(Path(models.__file__).parent.glob("weights/blocks-self*.npz")).read_bytes()


@cache
def _file() -> Path:
    return Path(tempfile.mkdtemp(prefix="tamis-fuzzing-"), "model.npz")


TARGETS: Final[dict[str, Callable[[bytes], None]]] = {
    "page": in_time(take_page),
    "output": in_time(take_output),
    "time": take_time,
    "redis": take_redis,
    "model": take_model,
}
