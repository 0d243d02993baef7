"""The pages that share a key page's menu, found with as few pages loaded as it takes; whoever asks loads them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from winnow.site.methods.menus.links import domain, page_key, site_links
from winnow.site.methods.menus.profile import Profile
from winnow.site.methods.menus.subdigraph import SIZE, SubdigraphSearch

if TYPE_CHECKING:
    from collections.abc import Callable, Container

    from winnow.page.page import Page


class MenuSearch:
    """The search from a key page, told of one loaded page after the other.

    Ask :meth:`wanted` for an address, load the page there, give it to :meth:`add`, until nothing is wanted. Of each
    page only its links and its :class:`~winnow.site.methods.menus.profile.Profile` are kept.

    Args:
        key_page: the page to start from; its ``url`` has to be known.
        size: pages of the subdigraph, the key page not counted.
        most_pages: pages to load at most, the key page included.
        known: keys of the pages that can be loaded, where that is known beforehand; links to others are left alone.

    Attributes:
        addresses: addresses that the key page links to, by key.
    """

    def __init__(
        self,
        key_page: Page,
        size: int = SIZE,
        most_pages: int | None = None,
        known: Container[str] | None = None,
    ) -> None:
        links = site_links(key_page)
        self.addresses = {key: address for key, address in links.items() if known is None or key in known}
        self._search = SubdigraphSearch(self.addresses, size, None if most_pages is None else most_pages - 1)
        self._domain = domain(key_page.url or "")
        self._seen = {page_key(key_page.url or "")}
        self._profiles: dict[str, Profile] = {}

    def wanted(self) -> str | None:
        """Address of the page to load next, ``None`` when the search has come to its end."""
        key = self._search.wanted()
        return None if key is None else self.addresses[key]

    def add(self, page: Page | None) -> None:
        """Take note of the page at the address that :meth:`wanted` gave.

        Args:
            page: the page, its ``url`` where it was found at last; ``None`` for what is no page or cannot be had. A
                page that another address has led to before is none, nor is one of another domain.
        """
        key = self._search.wanted()
        address = page_key(page.url or "") if page is not None else ""
        if page is None or key is None or address in self._seen or domain(page.url or "") != self._domain:
            self._search.add(None)
            return
        self._seen.add(address)
        self._profiles[key] = Profile.of(page)
        self._search.add(site_links(page))

    @property
    def found(self) -> dict[str, Profile]:
        """The pages of the largest complete subdigraph so far, by key and in the order of the key page's links."""
        return {key: self._profiles[key] for key in self._search.found}

    @property
    def loaded(self) -> int:
        """Pages loaded, the key page included."""
        return self._search.loaded + 1


def search_menu(search: MenuSearch, load: Callable[[str], Page | None]) -> MenuSearch:
    """Load what a search wants until it has come to its end, and return it."""
    while (address := search.wanted()) is not None:
        search.add(load(address))
    return search
