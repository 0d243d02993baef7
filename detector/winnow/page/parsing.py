"""HTML to an lxml tree, the way Scrapy parses a response, so that both see the same nodes."""

from __future__ import annotations

import re
from typing import Final

from lxml import etree

from winnow.page.charset import decode

_DECIDING: Final = re.compile(r"</html|<frameset\b", re.IGNORECASE)
_NOT_SPACE: Final = re.compile(r"\S")
_UNSEEN: Final = re.compile(r"<(script|style|noscript|template)\b", re.IGNORECASE | re.ASCII)
_UNSEEN_END: Final = re.compile(r"</(script|style|noscript|template)\s*>", re.IGNORECASE | re.ASCII)
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
    found = _DECIDING.search(html)
    if found is None:
        return html
    if not found[0].startswith("</"):
        return _without(_FRAME_TAGS, html)
    return _without(_DOCUMENT_TAGS, html) if _has_text(html[found.start() :]) else html


def _without(tags: re.Pattern[str], html: str) -> str:
    """Remove tags. Linear: up to the last ``>``, every tag that begins ends."""
    end = html.rfind(">") + 1
    return tags.sub("", html[:end]) + html[end:]


def _has_text(html: str) -> bool:
    """Whether there is anything but white space outside tags, comments, scripts and the like.

    Linear: an end is looked for only where there is one, and the search goes on behind it.
    """
    last_comment_end = html.rfind("-->")
    last_end = {found[1].lower(): found.start() for found in _UNSEEN_END.finditer(html)}
    place = 0
    while found := _NOT_SPACE.search(html, place):
        place = found.start()
        if html[place] != "<":
            return True
        unseen = _UNSEEN.match(html, place)
        if html.startswith("<!--", place) and place + len("<!--") <= last_comment_end:
            place = html.index("-->", place + len("<!--")) + len("-->")
        elif unseen and unseen.end() <= last_end.get(unseen[1].lower(), -1):
            ends = _UNSEEN_END.finditer(html, unseen.end())
            place = next(end.end() for end in ends if end[1].lower() == unseen[1].lower())
        else:
            place = html.find(">", place) + 1
            if not place:
                return True
    return False
