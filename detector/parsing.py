"""HTML to an lxml tree, the way Scrapy parses a response, so that both see the same nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from charset_normalizer import from_bytes
from lxml import etree
from w3lib.encoding import html_to_unicode

if TYPE_CHECKING:
    from collections.abc import Sequence


def parse_html(html: str | bytes, encoding: str | None = None) -> etree._Element:
    """Return the root element of a document; a document without any element gives an empty ``html``.

    Args:
        html: the document. NUL characters are dropped, as parsel does.
        encoding: charset named by the HTTP header; without it the BOM, ``meta`` and then the bytes themselves decide.
    """
    text = html if isinstance(html, str) else decode(html, encoding)
    body = text.strip().replace("\x00", "").encode("utf-8", "replace")
    parser = etree.HTMLParser(recover=True, huge_tree=True, encoding="utf-8")
    root = etree.fromstring(body or b"<html/>", parser=parser)
    return root if root is not None else etree.fromstring(b"<html/>", parser=parser)


def decode(html: bytes, encoding: str | None = None) -> str:
    """Decode a document by BOM, HTTP charset, ``meta`` charset, or what its bytes look like."""
    content_type = f"text/html; charset={encoding}" if encoding else None
    return html_to_unicode(content_type, html, auto_detect_fun=_guess_encoding)[1]


def _guess_encoding(html: bytes, preferred: Sequence[str] = ("ascii", "utf-8")) -> str:
    for encoding in preferred:
        try:
            html.decode(encoding)
        except UnicodeDecodeError:
            continue
        return encoding
    best = from_bytes(html).best()
    return best.encoding if best else "cp1252"
