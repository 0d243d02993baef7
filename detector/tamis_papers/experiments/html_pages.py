"""Pages of a site in memory."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from tamis.folders import SitePage, SitePages
from tamis.page.page import Page

if TYPE_CHECKING:
    from collections.abc import Sequence


class HtmlPages(SitePages):
    """Pages named by their addresses, with HTML in memory instead of files."""

    @classmethod
    def from_html(cls, pages: Sequence[tuple[str, bytes]], name: str = "") -> Self:
        """Create from pairs of an address and HTML, and the name of the site."""
        urls = [url for url, _ in pages]
        html: list[Any] = [html for _, html in pages]
        return cls(urls, urls, html, Path(name))

    def read(self, number: int) -> SitePage:
        """Parse one of the pages."""
        html: Any = self.files[number]
        return SitePage(number, self.names[number], Page.parse(html, self.urls[number]))
