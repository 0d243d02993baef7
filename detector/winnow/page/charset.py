"""The character set of a document's bytes, by the rules of the HTML standard and a few facts about saved pages.

Source: HTML standard, section 13.2.3: byte order mark, HTTP header, ``meta``; ``utf-16`` in a ``meta`` means ``utf-8``.
"""

from __future__ import annotations

from typing import Final

from charset_normalizer import from_bytes
from w3lib.encoding import html_body_declared_encoding, http_content_type_encoding, read_bom, to_unicode

_CONVINCING: Final = 12  # continuation bytes; fewer can be two or three characters of another charset by chance
_DAMAGED: Final = 0.05  # most replacements per continuation byte, for text that outweighs its declaration
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
    if characters >= 2 * damage:
        return "utf-8" if characters else "ascii", text
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
    best = from_bytes(html).best()
    return best.encoding if best else "cp1252"
