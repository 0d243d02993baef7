"""The character set of a document's bytes, by the rules of the HTML standard and a few facts about saved pages.

Source: HTML standard, section 13.2.3: byte order mark, HTTP header, ``meta``; ``utf-16`` in a ``meta`` means ``utf-8``.
What is left open there, bytes that nothing declares, is guessed as Firefox does (chardetng): one of the encodings of
the web, windows-1252 where nothing speaks for another.
"""

from __future__ import annotations

from typing import Final

from chardetng_py import EncodingDetector
from w3lib.encoding import (
    html_body_declared_encoding,
    http_content_type_encoding,
    read_bom,
    resolve_encoding,
    to_unicode,
)

_CONVINCING: Final = 12  # continuation bytes; fewer can be two or three characters of another charset by chance
_DAMAGED: Final = 0.05  # most replacements per continuation byte, for text that outweighs its declaration
_DEFAULT: Final = "cp1252"
_SIGNS: Final = b"\x80\x85\x91\x92\x93\x94\x95\x96\x97\x99\xa0\xa2\xa3\xa5\xa7\xa9\xab\xad\xae\xb0\xb7\xbb\xbc\xbd\xbe"
"""Quotation marks, dashes, spaces and signs of windows-1252: with no other byte above 0x7f a page is in it."""

_BINARY_STARTS: Final = (
    *(b"%PDF-", b"\x89PNG", b"GIF8", b"\xff\xd8\xff", b"PK\x03\x04", b"\x1f\x8b", b"\x7fELF", b"RIFF"),
)
_TEXT_STARTS: Final = ("\ufffdPNG", "\u2030PNG", "\ufffd\ufffd\ufffd\ufffd\0", "\x1f\ufffd")
_WIDE_STARTS: Final = (b"\xff\xfe", b"\xfe\xff")
_CONTROL: Final = bytes(set(range(32)) - set(b"\t\n\f\r\x1b"))
_LOOKED_AT: Final = 4_096  # bytes

_NOT_IN_META: Final = {"utf-16": "utf-8", "utf-16-be": "utf-8", "utf-16-le": "utf-8", "x-user-defined": "cp1252"}


def decode(html: bytes, encoding: str | None = None) -> str:
    """Decode a document, see :func:`decoded`."""
    return decoded(html, encoding)[1]


def decoded(html: bytes, encoding: str | None = None) -> tuple[str, str]:
    """Return the name of a codec and the text that it makes of a document; a byte order mark is no part of it.

    What decides is, in this order: a byte order mark, the charset of the HTTP header, long text in UTF-8, the charset
    of a ``meta`` element, shorter text in UTF-8, and what the bytes look like. Long text in UTF-8 outweighs a ``meta``,
    since saved pages and mirrors are often converted and keep the declaration they came with. A few bytes that are
    wrong, as where a page was cut off or two were joined, do not make it another charset.

    Args:
        html: the document.
        encoding: charset of the HTTP header, where there was one.
    """
    marked, mark = read_bom(html)
    if marked is not None and mark is not None:
        return marked, to_unicode(html[len(mark) :], marked)
    known = http_content_type_encoding(f"text/html; charset={encoding}") if encoding else None
    if known is not None:
        return known, to_unicode(html, known)
    text, characters, damage = _as_utf8(html)
    continuations = len(html) - len(text)
    if continuations >= _CONVINCING and damage <= continuations * _DAMAGED:
        return "utf-8", text
    declared = html_body_declared_encoding(html)
    if declared is not None:
        declared = _NOT_IN_META.get(declared, declared)
        return declared, to_unicode(html, declared)
    if characters >= 2 * damage and characters:
        return "utf-8", text
    guessed = _guess(html)
    return guessed, to_unicode(html, guessed)


def _as_utf8(html: bytes) -> tuple[str, int, int]:
    """Text of bytes taken for UTF-8, its characters that are not ASCII, and how many replacements stand for errors."""
    try:
        text, damage = html.decode("utf-8"), 0
    except UnicodeDecodeError:
        text = html.decode("utf-8", "replace")
        damage = text.count("\ufffd") - text.endswith("\ufffd")  # a page may have been cut off in a character
    others = 0 if text.isascii() else len(text) - len(text.encode("ascii", "ignore")) - damage
    return text, others, damage


def _guess(html: bytes) -> str:
    if html.translate(None, _SIGNS).isascii() and b"\x1b" not in html:  # ISO-2022-JP is ASCII with escapes
        return _DEFAULT
    detector = EncodingDetector()
    detector.feed(html, last=True)
    return resolve_encoding(detector.guess(tld=None, allow_utf8=False)) or _DEFAULT


def is_binary(html: str | bytes) -> bool:
    """Whether a document is a picture, archive or the like; a few stray control characters do not make it one."""
    if isinstance(html, str):
        if html.startswith(_TEXT_STARTS):
            return True
        start = html[:_LOOKED_AT].encode("latin-1", "replace")
    else:
        start = html[:_LOOKED_AT]
        if start.startswith(_WIDE_STARTS):
            return False
    if start.startswith(_BINARY_STARTS):
        return True
    return len(start) - len(start.translate(None, _CONTROL)) > len(start) // 10
