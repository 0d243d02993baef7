"""URLs on pages, which may be any text: an invalid one has no parts."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urljoin, urlsplit

from tamis.page.tree import elements_with_attributes, tag_set

if TYPE_CHECKING:
    from tamis.page.page import Page


def safe_urlsplit(address: str) -> SplitResult:
    """Split an address; an invalid one has no parts."""
    try:
        return urlsplit(address)
    except ValueError:
        return urlsplit("")


def join_address(base: str, address: str) -> str:
    """Resolve an address against another one; "" if either is invalid."""
    try:
        return urljoin(base, address.strip())
    except ValueError:
        return ""


def domain(address: str) -> str:
    """Host of an address in lower case, without ``www.`` and port; "" if it has none."""
    return (safe_urlsplit(address).hostname or "").removeprefix("www.")


def base_address(page: Page) -> str:
    """Address that relative addresses on a page start from: its first ``<base href>``, else its own; "" if unknown."""
    own = page.url or ""
    stated = (base.get("href", "") for _, base in elements_with_attributes(page, "base"))
    href = next(filter(str.strip, stated), "")
    base = href and join_address(own, href)
    return base if base and safe_urlsplit(base).scheme in {"", "http", "https"} else own


def home_addresses(page: Page) -> set[str]:
    """How a page may write the address of the front page of its site."""
    home = join_address(page.url or "", "/")
    return {"/", home, home.removesuffix("/")} - {""}


def links_of(page: Page) -> list[str]:
    """Return where the links of a page lead, as they are written and in their order."""
    is_link = tag_set("a", "area")[page.tag]
    return [target for element, target in page.attribute("href").items() if is_link[element]]
