"""HTML to an lxml tree, the way Scrapy parses a response, so that both see the same nodes."""

from __future__ import annotations

import re
from typing import Final

from lxml import etree

from winnow.page.charset import decode

_TELLING: Final = re.compile(r"</html|<frameset\b", re.IGNORECASE)
_UNSEEN: Final = re.compile(
    r"<!--.*?-->|<(script|style|noscript|template)\b.*?</\1\s*>|<[^>]*>", re.DOTALL | re.IGNORECASE
)
_DOCUMENT_TAGS: Final = re.compile(r"</(?:html|body)\s*>|<!doctype[^>]*>", re.IGNORECASE)
_FRAME_TAGS: Final = re.compile(r"</?(?:frameset|frame|noframes)\b[^>]*>", re.IGNORECASE)


def parse_html(html: str | bytes, encoding: str | None = None) -> etree._Element:
    """Return the root element of a document; a document without any element gives an empty ``html``.

    Args:
        html: the document. NUL characters are dropped, as parsel does.
        encoding: charset named by the HTTP header; without it :func:`winnow.page.charset.decoded` says what decides.
    """
    text = html if isinstance(html, str) else decode(html, encoding)
    body = with_all_text(text).strip().replace("\x00", "").encode("utf-8", "replace")
    parser = etree.HTMLParser(recover=True, huge_tree=True, encoding="utf-8")
    root = etree.fromstring(body or b"<html/>", parser=parser)
    return root if root is not None else etree.fromstring(b"<html/>", parser=parser)


def with_all_text(html: str) -> str:
    """Return a document whose text the parser reads to its end, as browsers do; as a rule the very one that is given.

    libxml2 stops at the first ``</html>``, where other documents may have been joined to the first or a broken template
    ends too early, and takes the contents of ``noframes``, which is all that old pages of frames have, for one string.
    """
    for found in _TELLING.finditer(html):
        if found[0].startswith("</"):
            if _UNSEEN.sub("", html[found.start() :]).strip():
                html = _DOCUMENT_TAGS.sub("", html)
            break
        return _FRAME_TAGS.sub("", html)
    return html
