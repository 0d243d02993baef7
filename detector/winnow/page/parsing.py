"""HTML to an lxml tree, the way Scrapy parses a response, so that both see the same nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from charset_normalizer import from_bytes
from lxml import etree
from w3lib.encoding import html_to_unicode

if TYPE_CHECKING:
    from collections.abc import Sequence

_CONVINCING: Final = 12  # continuation bytes; fewer can be two or three characters of another charset by chance


def parse_html(html: str | bytes, encoding: str | None = None) -> etree._Element:
    """Return the root element of a document; a document without any element gives an empty ``html``.

    Args:
        html: the document. NUL characters are dropped, as parsel does.
        encoding: charset named by the HTTP header; without it :func:`decode` says what decides.
    """
    text = html if isinstance(html, str) else decode(html, encoding)
    body = text.strip().replace("\x00", "").encode("utf-8", "replace")
    parser = etree.HTMLParser(recover=True, huge_tree=True, encoding="utf-8")
    root = etree.fromstring(body or b"<html/>", parser=parser)
    return root if root is not None else etree.fromstring(b"<html/>", parser=parser)


def decode(html: bytes, encoding: str | None = None) -> str:
    """Decode a document by its HTTP charset, BOM, what its bytes can only be, ``meta`` charset, or what they look like.

    Long text that is valid UTF-8 is UTF-8, whatever its ``meta`` says: saved pages and mirrors are often converted and
    keep the declaration they came with. An HTTP charset is believed all the same.
    """
    return decoded(html, encoding)[1]


def decoded(html: bytes, encoding: str | None = None) -> tuple[str, str]:
    """Return the name of the codec that :func:`decode` chooses, and the text; a BOM is no part of it."""
    if encoding is None:
        try:
            text = html.decode("utf-8-sig")
        except UnicodeDecodeError:
            pass
        else:
            if len(html) - len(text) >= _CONVINCING:
                return "utf-8", text
    content_type = f"text/html; charset={encoding}" if encoding else None
    return html_to_unicode(content_type, html, auto_detect_fun=_guess_encoding)


def _guess_encoding(html: bytes, preferred: Sequence[str] = ("ascii", "utf-8")) -> str:
    for encoding in preferred:
        try:
            html.decode(encoding)
        except UnicodeDecodeError:
            continue
        return encoding
    best = from_bytes(html).best()
    return best.encoding if best else "cp1252"
