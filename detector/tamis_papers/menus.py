"""Templates by menus: which pages link to each other, and the method.

"Web Template Extraction Based on Hyperlink Analysis", section 4.1 and Algorithm 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final
from urllib.parse import unquote

import numpy as np

from tamis.folders import OTHER_SUFFIXES
from tamis.page.addresses import base_address, domain, join_address, links_of, safe_urlsplit
from tamis.page.page import PageTooLarge
from tamis_papers.menu_mapping import THRESHOLD, Equality, Profile, shared_units, template_of
from tamis_papers.pages import Labels, Learned, SiteError, SiteMethod, parameter, whole_elements

if TYPE_CHECKING:
    from collections.abc import Callable, Container

    from tamis.arrays import Flags
    from tamis.folders import SitePage, SitePages
    from tamis.page.page import Page


def site_links(page: Page) -> dict[str, str]:
    """Address by key (:func:`page_key`) of the pages of its own site that a page links to, in the order of its links.

    Links to other domains, to the page itself, and to files that are no pages by their names are left out. ``www.`` and
    the port are no part of a domain's name, and ``<base href>`` is heeded. The page's ``url`` has to be known.
    """
    own, itself, base = domain(page.url or ""), page_key(page.url or ""), base_address(page)
    found: dict[str, str] = {}
    for href in filter(None, links_of(page)):
        address = join_address(base, href).partition("#")[0]
        key = page_key(address)
        if key and key != itself and domain(address) == own:
            found.setdefault(key, address)
    return found


def page_key(address: str) -> str:
    """What the addresses of one page have in common, empty for no page.

    Fragment, scheme, ``www.``, ``/index.html`` and the last slash go.
    """
    parts = safe_urlsplit(address)
    path = unquote(parts.path)
    head, _, last = path.rpartition("/")
    if parts.scheme not in {"http", "https"} or last[last.rfind(".") :].lower() in OTHER_SUFFIXES:
        return ""
    names = {"index.html", "index.htm", "index.php", "index.xhtml", "index.shtml", "default.htm"}
    path = head if last.lower() in names else path.rstrip("/")
    return f"{parts.netloc.lower().removeprefix('www.')}{path}{'?' + parts.query if parts.query else ''}"


def numbers_by_key(pages: SitePages) -> dict[str, int]:
    """Number of each page of a site by its :func:`page_key`; of several pages with one key, the first."""
    return {page_key(url): number for number, url in reversed(list(enumerate(pages.urls)))}


def read_page(pages: SitePages, number: int) -> Page | None:
    """Read a page of a site; ``None`` if that fails."""
    try:
        return pages.read(number).page
    except (OSError, PageTooLarge):
        return None


def is_front(key: str) -> bool:
    """Whether a page is the front page of its domain, by its :func:`page_key`."""
    return "/" not in key and "?" not in key


AGREEING: Final = "agreeing"
PAPER: Final = "paper"
VARIANTS: Final = (AGREEING, PAPER)
"""The paper's algorithm, and one that heeds what it left open; see :class:`MenuSearch`."""

SIZE: Final = 4


class MenuSearch:
    """The search for pages that all link to each other, an n-complete subdigraph, among those that a key page links to.

    The paper looks through all subsets of the pages loaded so far; here each new page is the start of a clique search
    among those that it exchanges links with.

    The ``agreeing`` variant differs from the paper's in three things. The front page is loaded last, since most are of
    a template of their own; in the paper its links come first. The search ends at a smaller subdigraph, of two pages at
    least, when what the key page shares with all of its pages is at least 0.95 of what it shares with each, on average.
    And an element or block with 10 characters of text that another page has with the very same markup is mapped
    wherever it stands: a footer under a wrapper that only some pages have.

    Args:
        key_page: the page to start from; its ``url`` has to be known.
        method: the parameters.
        load: gives the page at an address, its ``url`` where it was found at last, or ``None`` for what cannot be
            loaded; a page that another address has led to, or of another domain, counts as none.
        known: keys of the pages that can be loaded, where that is known beforehand; links to others are left alone.

    Attributes:
        key_page, equality: what is compared of the key page, and how.
        found: the pages of the largest complete subdigraph so far, by key and in the order of the key page's links.
        loaded: pages loaded, the key page included.
    """

    def __init__(
        self, key_page: Page, method: Menus, load: Callable[[str], Page | None], known: Container[str] | None = None
    ) -> None:
        links = [(key, address) for key, address in site_links(key_page).items() if known is None or key in known]
        agreeing = method.variant == AGREEING
        if agreeing:
            links.sort(key=lambda link: is_front(link[0]))
        self.key_page = Profile.from_page(key_page)
        self.found: dict[str, Profile] = {}
        self.loaded = 1
        self.equality = Equality(method.threshold, 10 if agreeing else None)
        self._max_size = method.size
        self._size = min(method.size, 2) if agreeing else method.size  # pages that are enough
        self._links = links[: method.most_pages - 1]  # keys and addresses, in the order in which they are tried
        self._index = {key: index for index, (key, _) in enumerate(self._links)}
        self._domain = domain(key_page.url or "")
        self._seen = {page_key(key_page.url or "")}
        self._profiles: dict[int, Profile] = {}  # by index of the link
        self._to: dict[int, int] = {}  # by index: bits of the links that a loaded page links to
        self._mutual: dict[int, int] = {}  # by index: bits of the loaded pages that it exchanges links with
        self._shared: dict[str, Flags] = {}  # of the key page with each page, as far as it was asked
        for index, (_, link) in enumerate(self._links):
            if self.satisfied:
                break
            self.loaded += 1
            if (page := load(link)) is not None:
                self._add(index, page)

    @property
    def satisfied(self) -> bool:
        """Whether the subdigraph has the size asked for, or is of pages that agree."""
        return len(self.found) >= self._size

    def _add(self, index: int, page: Page) -> None:
        address = page_key(page.url or "")
        if address in self._seen or domain(page.url or "") != self._domain:
            return
        self._seen.add(address)
        self._profiles[index] = Profile.from_page(page)
        linked = {self._index[link] for link in site_links(page) if link in self._index} - {index}
        self._to[index] = sum(1 << other for other in linked)
        self._mutual[index] = 0
        for other in self._to:
            if self._to[index] >> other & 1 and self._to[other] >> index & 1:
                self._mutual[index] |= 1 << other
                self._mutual[other] |= 1 << index
        clique = [index, *largest_clique(self._mutual, self._mutual[index], self._size - 1)]
        if len(clique) > len(self.found):
            self.found = {self._links[each][0]: self._profiles[each] for each in sorted(clique)}
        while self.satisfied and self._size < self._max_size and not self._agree():
            self._size += 1

    def _agree(self) -> bool:
        """Whether the pages found share nearly the same of the key page."""
        for key, other in self.found.items():
            if key not in self._shared:
                self._shared[key] = shared_units(self.key_page, other, self.equality)
        shared = [self._shared[key] for key in self.found]
        by_all = int(np.logical_and.reduce(shared).sum())
        return bool(np.mean([by_all / max(1, int(each.sum())) for each in shared]) >= 0.95)

    def template(self) -> Flags:
        """bool[n + m], the units of the key page that all pages found have, too; none where none was found."""
        return template_of(self.key_page, list(self.found.values()), self.equality)


def largest_clique(neighbours: dict[int, int], among: int, enough: int) -> list[int]:
    """Find a largest clique, by branch and bound with greedy colours (Tomita and Seki, 2003).

    ``neighbours`` has the bits of each node's neighbours, ``among`` the bits of the nodes to look among; the search
    stops at a clique of ``enough`` nodes.
    """
    best: list[int] = []
    for node, colour in reversed(_coloured(neighbours, among)):
        if len(best) >= min(colour, enough):
            break
        clique = [node, *largest_clique(neighbours, among & neighbours[node], enough - 1)]
        among &= ~(1 << node)
        best = max(best, clique, key=len)
    return best


def _coloured(neighbours: dict[int, int], among: int) -> list[tuple[int, int]]:
    """Nodes and colours, ascending by colour; no clique among nodes up to colour c has more than c nodes."""
    coloured: list[tuple[int, int]] = []
    colour = 0
    while among:
        colour += 1
        free = among  # what no node of this colour is a neighbour of
        while free:
            node = free.bit_length() - 1
            coloured.append((node, colour))
            free &= ~(neighbours[node] | 1 << node)
            among &= ~(1 << node)
    return coloured


MAX_PAGES: Final = 100
_TRIED: Final = 10  # pages tried as key page where none is named


@dataclass(frozen=True)
class Menus(SiteMethod):
    """What a page has in common with the pages of its menu: a few pages that all link to each other.

    Paper: Alarte, Insa, Silva and Tamarit, "Web Template Extraction Based on Hyperlink Analysis" (PROLE 2014, EPTCS
    173), sections 4.1 (Algorithm 1, an n-complete subdigraph among the pages that a key page links to) and 4.2
    (Algorithm 2, the exact top-down mapping of the key page with each of them).

    Cost: the pages loaded, seldom more than a dozen; then each page is compared with ``size`` others: all
    children of mapped nodes with each other.

    When to use: when pages are dear, since no other method does with so few. All pages of the subdigraph have to be of
    one template; a single one that is not leaves little of it.
    """

    name: ClassVar[str] = "menus"

    variant: str = parameter(AGREEING, "as in the paper, or until pages agree", choices=VARIANTS)
    size: int = parameter(SIZE, "pages that link to each other, the key page not counted", "pages", least=1)
    threshold: float = parameter(THRESHOLD, "least likeness of equal nodes", "0 to 1", least=0, most=1)
    most_pages: int = parameter(MAX_PAGES, "pages to load at most, the key page and another at least", "pages", least=2)
    key_page: str = parameter("", "name or address of the page to start from; the front page when empty")

    def learn(self, pages: SitePages) -> Learned:
        """Find pages that link to each other, from the key page or from the first page that has such links.

        Raises:
            SiteError: the key page is not there, or no page links to another.
        """
        numbers = numbers_by_key(pages)
        best: tuple[MenuSearch, dict[int, Profile]] | None = None
        for done, number in enumerate(self._key_pages(pages), 1):
            key_page = read_page(pages, number)
            if key_page is None:
                continue
            search = MenuSearch(key_page, self, lambda address: read_page(pages, numbers[page_key(address)]), numbers)
            found = {number: search.key_page} | {numbers[key]: profile for key, profile in search.found.items()}
            if best is None or len(found) >= len(best[1]):
                best = search, found
            pages.progress(done, _TRIED, pages.names[number])
            if search.satisfied:
                break
        if best is None or len(best[1]) < 2:
            raise SiteError(
                f"no links to other pages were found among {len(pages):,} pages: this method follows the links of a "
                "page, so give the folder of a whole site, with the address that its links name, or another key page"
            )
        search, found = best
        return Learned(search.loaded, partial(_label, search.equality, found), [list(found)])

    def _key_pages(self, pages: SitePages) -> list[int]:
        """Numbers of the pages to start from: the one that is named, or those nearest to the front page."""
        if not self.key_page:
            order = sorted(range(len(pages)), key=lambda number: _distance(pages.urls[number]))
            if self.variant == AGREEING:  # the front page last, but among those that are tried
                fronts = [number for number in order if is_front(page_key(pages.urls[number]))][:1]
                order = [number for number in order if number not in fronts][: _TRIED - len(fronts)] + fronts
            return order[:_TRIED]
        for number, (name, url) in enumerate(zip(pages.names, pages.urls, strict=True)):
            if self.key_page in {name, url}:
                return [number]
        raise SiteError(f"there is no page {self.key_page!r} among {len(pages):,} pages: give its name or its address")


def _label(equality: Equality, profiles: dict[int, Profile], read: SitePage) -> Labels:
    """Label a page: a block is template when all pages of the menu have it; of elements see :func:`whole_elements`."""
    others = [profile for number, profile in profiles.items() if number != read.number]
    return Labels(whole_elements(read.page, template_of(Profile.from_page(read.page), others, equality)))


def _distance(url: str) -> tuple[int, int, str]:
    """How far a page is from the front page, by its address."""
    key = page_key(url)
    return key.count("/"), len(key), url
