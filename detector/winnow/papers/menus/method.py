"""Menus as a method among the others: the template of the pages that link to each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from winnow.page.page import PageTooLarge
from winnow.papers.base import Labels, parameter
from winnow.papers.menus.equality import EQUALITIES, THRESHOLD, WEIGHTED, Equality, equality_of
from winnow.papers.menus.links import is_front, page_key
from winnow.papers.menus.mapping import template_of
from winnow.papers.menus.profile import Profile
from winnow.papers.menus.search import MenuSearch, search_menu
from winnow.papers.menus.subdigraph import SIZE
from winnow.papers.menus.variants import AGREEING, VARIANTS, Variant, variant_of
from winnow.papers.pages import SiteError
from winnow.papers.whole_elements import whole_elements

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from winnow.page.page import Page
    from winnow.papers.pages import SitePage, SitePages
    from winnow.progress import Progress

MOST_PAGES: Final = 100
_TRIED: Final = 10  # pages tried as key page where none is named


@dataclass(frozen=True)
class Menus:
    """What a page has in common with the pages of its menu: a few pages that all link to each other.

    Paper: Alarte, Insa, Silva and Tamarit, "Web Template Extraction Based on Hyperlink Analysis" (PROLE 2014, EPTCS
    173), sections 4.1 (Algorithm 1, an n-complete subdigraph among the pages that a key page links to) and 4.2
    (Algorithm 2, the exact top-down mapping of the key page with each of them).

    Parameters: ``variant``, ``agreeing`` (the default) or ``paper``: see :mod:`~winnow.papers.menus.variants`;
    ``size``, pages of the subdigraph, the key page not counted (4; the largest smaller one where there is none, and
    fewer where they agree); ``equality`` of nodes: ``tag``, ``attributes`` (tag and attributes) or ``weighted`` (the
    default: id, classes, number of children, place among siblings, attributes); ``threshold`` of the weighted one (0.5,
    of 1); ``most_pages`` to load (100); ``key_page``, its name or address (the page nearest to the front page that has
    a menu; in the paper's variant the front page, if it has one).

    Cost: the pages loaded, seldom more than a dozen; then each page is compared with ``size`` others. By tag or
    attributes that is a look-up for each node, weighted a comparison of all children of mapped nodes with each other.

    When to use: when pages are dear, since no other method does with so few, and when a template page is wanted. All
    pages of the subdigraph have to be of one template; a single one that is not leaves little of it.
    """

    name: ClassVar[str] = "menus"

    variant: str = parameter(AGREEING, "as in the paper, or until pages agree", choices=tuple(VARIANTS))
    size: int = parameter(SIZE, "pages that link to each other, the key page not counted", "pages")
    equality: str = parameter(WEIGHTED, "what makes two nodes equal", choices=EQUALITIES)
    threshold: float = parameter(THRESHOLD, "least likeness of equal nodes, when weighted", "0 to 1")
    most_pages: int = parameter(MOST_PAGES, "pages to load at most", "pages")
    key_page: str = parameter("", "name or address of the page to start from; the front page when empty")

    def __post_init__(self) -> None:
        if self.size < 1:
            raise ValueError(f"size must be at least 1 page: {self.size}")
        if self.most_pages < 2:
            raise ValueError(f"most_pages must be at least 2, the key page and another: {self.most_pages}")
        equality_of(self.equality, self.threshold)
        variant_of(self.variant)

    def learn(self, pages: SitePages, progress: Progress | None = None) -> MenuTemplate:
        """Find pages that link to each other, from the key page or from the first page that has such links.

        Raises:
            SiteError: the key page is not there, or no page links to another.
        """
        numbers = {page_key(url): number for number, url in reversed(list(enumerate(pages.urls)))}
        variant, equality = variant_of(self.variant), equality_of(self.equality, self.threshold)
        best: MenuTemplate | None = None
        for done, number in enumerate(self._key_pages(pages), 1):
            key_page = _page(pages, number)
            if key_page is None:
                continue
            search = MenuSearch(key_page, self.size, self.most_pages, numbers, variant=variant, equality=equality)
            search_menu(search, lambda address: _page(pages, numbers[page_key(address)]))
            found = {numbers[key]: profile for key, profile in search.found.items()}
            if best is None or len(found) >= len(best.subdigraph):
                best = MenuTemplate({number: search.key_page, **found}, search.loaded, equality, variant)
            if progress:
                progress(done, _TRIED, pages.names[number])
            if search.satisfied:
                break
        if best is None or not best.subdigraph:
            raise SiteError(
                f"no links to other pages were found among {len(pages):,} pages: this method follows the links of a "
                "page, so give the folder of a whole site, with the address that its links name, or another key page"
            )
        return best

    def _key_pages(self, pages: SitePages) -> list[int]:
        """Numbers of the pages to start from: the one that is named, or those nearest to the front page."""
        if not self.key_page:
            order = sorted(range(len(pages)), key=lambda number: _distance(pages.urls[number]))
            if variant_of(self.variant).front_last:
                order.sort(key=lambda number: is_front(page_key(pages.urls[number])))
            return order[:_TRIED]
        for number, (name, url) in enumerate(zip(pages.names, pages.urls, strict=True)):
            if self.key_page in {name, url}:
                return [number]
        raise SiteError(f"there is no page {self.key_page!r} among {len(pages):,} pages: give its name or its address")


class MenuTemplate:
    """The pages of a subdigraph and their key page, with which any page of the site can be mapped.

    Attributes:
        pages: pages that were loaded to find them.
        key_page: number of the key page.
    """

    def __init__(self, profiles: dict[int, Profile], loaded: int, equality: Equality, variant: Variant) -> None:
        self.pages = loaded
        self.key_page, *self._subdigraph = profiles
        self._profiles = profiles
        self._equality = equality
        self._least_characters = variant.least_characters

    @property
    def subdigraph(self) -> list[int]:
        """Numbers of the pages that link to each other, the key page not among them."""
        return list(self._subdigraph)

    def mapped(self, read: SitePage) -> NDArray[np.bool_]:
        """bool[n + m], the units of a page that all of the others have, too: the template as the paper has it.

        An element is mapped whatever it says, so what holds the content is mapped, too.
        """
        others = [profile for number, profile in self._profiles.items() if number != read.number]
        return template_of(Profile.of(read.page), others, self._equality, self._least_characters)

    def label(self, read: SitePage) -> Labels:
        """Label a page: a block is template when it is mapped.

        Of elements see :func:`~winnow.papers.whole_elements.whole_elements`.
        """
        return Labels(whole_elements(read.page, self.mapped(read)))


def _page(pages: SitePages, number: int) -> Page | None:
    try:
        return pages.read(number).page
    except (OSError, PageTooLarge):
        return None


def _distance(url: str) -> tuple[int, int, str]:
    """How far a page is from the front page, by its address."""
    key = page_key(url)
    return key.count("/"), len(key), url
