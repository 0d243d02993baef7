"""The links of a page to other pages of its site, in a form in which two addresses of one page are the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import unquote, urljoin, urlsplit

import numpy as np

from winnow.page.tags import TAG_ID, tag_set

if TYPE_CHECKING:
    from winnow.page.page import Page

_LINKS: Final = tag_set("a", "area")
_INDEX: Final = frozenset({"index.html", "index.htm", "index.php", "index.xhtml", "index.shtml", "default.htm"})
_NO_PAGES: Final = frozenset(
    f".{name}"
    for name in (
        *("css", "js", "json", "xml", "rss", "txt", "md", "svg", "png", "jpg", "jpeg", "gif", "webp", "ico", "bmp"),
        *("pdf", "ps", "doc", "docx", "xls", "xlsx", "ppt", "pptx", "odt", "epub", "zip", "gz", "tgz", "bz2", "xz"),
        *("tar", "rar", "7z", "exe", "dmg", "deb", "rpm", "jar", "mp3", "ogg", "wav", "mp4", "avi", "mov", "webm"),
    )
)


def site_links(page: Page) -> dict[str, str]:
    """The pages of its own site that a page links to, in the order of their first links.

    Links to other domains, to the page itself, and to files that are no pages by their names are left out. ``www.`` and
    the port are no part of a domain's name, and ``<base href>`` is heeded.

    Args:
        page: the page; its ``url`` has to be known.

    Returns:
        address by key; see :func:`page_key`.
    """
    base = page.url or ""
    own, itself = domain(base), page_key(base)
    for index in np.flatnonzero(page.tag == TAG_ID["base"]).tolist():
        if href := dict(page.attributes[index]).get("href"):
            base = _joined(base, href)
            break
    found: dict[str, str] = {}
    for index in np.flatnonzero(_LINKS[page.tag]).tolist():
        href = dict(page.attributes[index]).get("href")
        address = _joined(base, href).partition("#")[0] if href else ""
        key = page_key(address)
        if key and key != itself and domain(address) == own:
            found.setdefault(key, address)
    return found


def page_key(address: str) -> str:
    """What the addresses of one page have in common: fragment, scheme, ``www.``, ``/index.html`` and the last slash go.

    Returns:
        the key, empty for what is no address of a page.
    """
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    path = unquote(parts.path)
    head, _, last = path.rpartition("/")
    if parts.scheme not in {"http", "https"} or last[last.rfind(".") :].lower() in _NO_PAGES:
        return ""
    path = head if last.lower() in _INDEX else path.rstrip("/")
    return f"{parts.netloc.lower().removeprefix('www.')}{path}{'?' + parts.query if parts.query else ''}"


def is_front(key: str) -> bool:
    """Whether a page is the front page of its domain, by its :func:`page_key`."""
    return "/" not in key and "?" not in key


def _joined(base: str, href: str) -> str:
    try:
        return urljoin(base, href.strip())
    except ValueError:
        return ""


def domain(address: str) -> str:
    """Host of an address in lower case, without ``www.`` and port; empty where there is none."""
    try:
        return (urlsplit(address).hostname or "").lower().removeprefix("www.")
    except ValueError:
        return ""
