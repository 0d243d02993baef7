"""The pages that share a key page's menu, found with as few pages loaded as it takes; whoever asks loads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.papers.menus.equality import Equality, Weighted
from winnow.papers.menus.links import domain, is_front, page_key, site_links
from winnow.papers.menus.mapping import shared_units, template_of
from winnow.papers.menus.profile import Profile
from winnow.papers.menus.subdigraph import SIZE, SubdigraphSearch
from winnow.papers.menus.variants import AGREEING, VARIANTS, Variant

if TYPE_CHECKING:
    from collections.abc import Callable, Container

    from numpy.typing import NDArray

    from winnow.page.page import Page

_TO_AGREE: Final = 2  # pages


class MenuSearch:
    """The search from a key page, told of one loaded page after the other.

    Ask :meth:`wanted` for an address, load the page there, give it to :meth:`add`, until nothing is wanted. Of each
    page only its links and its :class:`~winnow.papers.menus.profile.Profile` are kept.

    Args:
        key_page: the page to start from; its ``url`` has to be known.
        size: pages of the subdigraph, the key page not counted; at most so many where pages that agree are enough.
        most_pages: pages to load at most, the key page included.
        known: keys of the pages that can be loaded, where that is known beforehand; links to others are left alone.
        variant: see :mod:`~winnow.papers.menus.variants`.
        equality: of nodes.

    Attributes:
        addresses: addresses that the key page links to, by key, in the order in which they are tried.
        key_page: what is compared of the key page.
    """

    def __init__(
        self,
        key_page: Page,
        size: int = SIZE,
        most_pages: int | None = None,
        known: Container[str] | None = None,
        *,
        variant: Variant = VARIANTS[AGREEING],
        equality: Equality | None = None,
    ) -> None:
        links = [(key, address) for key, address in site_links(key_page).items() if known is None or key in known]
        if variant.front_last:
            links.sort(key=lambda link: is_front(link[0]))
        self.addresses = dict(links)
        self.key_page = Profile.of(key_page)
        self._variant = variant
        self._equality = equality or Weighted()
        self._size = size
        first = size if variant.agreement is None else min(size, _TO_AGREE)
        self._search = SubdigraphSearch(self.addresses, first, None if most_pages is None else most_pages - 1)
        self._domain = domain(key_page.url or "")
        self._seen = {page_key(key_page.url or "")}
        self._profiles: dict[str, Profile] = {}
        self._shared: dict[str, NDArray[np.bool_]] = {}  # of the key page with each page, as far as it was asked

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
        while len(self._search.found) >= self._search.size < self._size and not self._agree():
            self._search.size += 1

    def _agree(self) -> bool:
        """Whether the pages found share nearly the same of the key page."""
        for key in self._search.found:
            if key not in self._shared:
                self._shared[key] = shared_units(
                    self.key_page, self._profiles[key], self._equality, self._variant.least_characters
                )
        shared = [self._shared[key] for key in self._search.found]
        by_all = int(np.logical_and.reduce(shared).sum())
        agreement = float(np.mean([by_all / max(1, int(each.sum())) for each in shared]))
        return self._variant.agreement is not None and agreement >= self._variant.agreement

    @property
    def found(self) -> dict[str, Profile]:
        """The pages of the largest complete subdigraph so far, by key and in the order of the key page's links."""
        return {key: self._profiles[key] for key in self._search.found}

    @property
    def satisfied(self) -> bool:
        """Whether the subdigraph has the size asked for, or is of pages that agree."""
        return len(self._search.found) >= self._search.size

    @property
    def loaded(self) -> int:
        """Pages loaded, the key page included."""
        return self._search.loaded + 1

    def template(self) -> NDArray[np.bool_]:
        """bool[n + m], the units of the key page that all pages found have, too; none where none was found."""
        return template_of(self.key_page, list(self.found.values()), self._equality, self._variant.least_characters)


def search_menu(search: MenuSearch, load: Callable[[str], Page | None]) -> MenuSearch:
    """Load what a search wants until it has come to its end, and return it."""
    while (address := search.wanted()) is not None:
        search.add(load(address))
    return search
