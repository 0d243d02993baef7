"""Which pages have the menu of a key page: those that all link to each other, found by loading few pages.

"Web Template Extraction Based on Hyperlink Analysis", section 4.1 and Algorithm 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import unquote, urljoin, urlsplit

import numpy as np

from winnow.page.tags import TAG_ID, tag_set
from winnow.papers.menu_mapping import Equality, Profile, shared_units, template_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container, Iterable, Sequence

    from numpy.typing import NDArray

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


SIZE: Final = 4


class SubdigraphSearch:
    """The search for pages that all link to each other, an n-complete subdigraph, told of one page after the other.

    The paper looks through all subsets of the pages loaded so far; here each new page is the start of a clique search
    among those that it exchanges links with.

    Ask :meth:`wanted` for the next page, load it, give its links to :meth:`add`, until there is nothing wanted.

    Args:
        links: keys of the pages that the key page links to, in the order of its links.
        size: pages that the subdigraph is to have, the key page not counted.
        most_pages: pages to load at most, besides the key page.

    Attributes:
        found: the largest complete subdigraph so far, at most of the size asked for, in the order of the links.
        loaded: number of pages that :meth:`add` was told of.
        size: pages that it is to have; may be raised, and the search goes on.
    """

    def __init__(self, links: Iterable[str], size: int = SIZE, most_pages: int | None = None) -> None:
        if size < 1:
            raise ValueError(f"a subdigraph has at least 1 page: {size}")
        self.found: list[str] = []
        self.loaded = 0
        self.size = size
        self._most = most_pages
        self._links = list(dict.fromkeys(links))
        self._place = {link: place for place, link in enumerate(self._links)}
        self._next = 0
        self._to: dict[int, int] = {}  # by place: bits of the places that a loaded page links to
        self._mutual: dict[int, int] = {}  # by place: bits of the loaded pages that it exchanges links with

    def wanted(self) -> str | None:
        """The page to load next, ``None`` when the search has come to its end."""
        done = len(self.found) >= self.size or self._next >= len(self._links)
        if done or (self._most is not None and self.loaded >= self._most):
            return None
        return self._links[self._next]

    def add(self, links: Collection[str] | None) -> None:
        """Take note of the page that :meth:`wanted` named.

        Args:
            links: keys of the pages that it links to; ``None`` for one that could not be loaded or is no page.
        """
        place = self._next
        self._next += 1
        self.loaded += 1
        if links is None:
            return
        self._to[place] = _bits(self._place[link] for link in links if self._place.get(link, place) != place)
        self._mutual[place] = 0
        for other in self._to:
            if self._to[place] >> other & 1 and self._to[other] >> place & 1:
                self._mutual[place] |= 1 << other
                self._mutual[other] |= 1 << place
        clique = [place, *largest_clique(self._mutual, self._mutual[place], self.size - 1)]
        if len(clique) > len(self.found):
            self.found = [self._links[each] for each in sorted(clique)]


def largest_clique(neighbours: dict[int, int], among: int, enough: int) -> list[int]:
    """Find a largest clique, by branch and bound with greedy colours (Tomita and Seki, 2003), without recursion.

    Args:
        neighbours: bits of the neighbours of each node, by node.
        among: bits of the nodes to look among.
        enough: size at which to stop.

    Returns:
        nodes of the clique.
    """
    best: list[int] = []
    chosen: list[int] = []
    stack = [_coloured(neighbours, among)]
    left = [among]
    while stack and len(best) < enough:
        order = stack[-1]
        if not order or len(chosen) + order[-1][1] <= len(best):
            stack.pop()
            left.pop()
            if chosen:
                chosen.pop()
            continue
        node, _ = order.pop()
        inside = left[-1] & neighbours[node]
        left[-1] &= ~(1 << node)
        chosen.append(node)
        if len(chosen) > len(best):
            best = chosen.copy()
        stack.append(_coloured(neighbours, inside))
        left.append(inside)
    return best[:enough]


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


def _bits(places: Iterable[int]) -> int:
    bits = 0
    for place in places:
        bits |= 1 << place
    return bits


# The pages that share a key page's menu, found with as few pages loaded as it takes; whoever asks loads them.

AGREEING: Final = "agreeing"
PAPER: Final = "paper"
VARIANTS: Final = (AGREEING, PAPER)
"""The paper's algorithm, and one that heeds what it left open; see :class:`MenuSearch`."""

_AGREEMENT: Final = 0.95
_TO_AGREE: Final = 2  # pages
_MIN_CHARACTERS: Final = 10  # of a unit that counts wherever it stands


class MenuSearch:
    """The search from a key page, told of one loaded page after the other.

    Ask :meth:`wanted` for an address, load the page there, give it to :meth:`add`, until nothing is wanted. Of each
    page only its links and its :class:`~winnow.papers.menu_mapping.Profile` are kept.

    The ``agreeing`` variant differs from the paper's in three things. The front page is loaded last, since most are of
    a template of their own; in the paper its links come first. The search ends at a smaller subdigraph, of two pages at
    least, when what the key page shares with all of its pages is at least 0.95 of what it shares with each, on average.
    And an element or block with 10 characters of text that another page has with the very same markup is mapped
    wherever it stands: a footer under a wrapper that only some pages have.

    Args:
        key_page: the page to start from; its ``url`` has to be known.
        size: pages of the subdigraph, the key page not counted; at most so many where pages that agree are enough.
        most_pages: pages to load at most, the key page included.
        known: keys of the pages that can be loaded, where that is known beforehand; links to others are left alone.
        variant: ``agreeing`` or ``paper``.
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
        variant: str = AGREEING,
        equality: Equality = Equality(),  # noqa: B008  frozen
    ) -> None:
        links = [(key, address) for key, address in site_links(key_page).items() if known is None or key in known]
        self._agreeing = variant == AGREEING
        if self._agreeing:
            links.sort(key=lambda link: is_front(link[0]))
        self.addresses = dict(links)
        self.key_page = Profile.of(key_page)
        self._equality = equality
        self._min_characters = _MIN_CHARACTERS if self._agreeing else None
        self._size = size
        first = min(size, _TO_AGREE) if self._agreeing else size
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
                other = self._profiles[key]
                self._shared[key] = shared_units(self.key_page, other, self._equality, self._min_characters)
        shared = [self._shared[key] for key in self._search.found]
        by_all = int(np.logical_and.reduce(shared).sum())
        return bool(np.mean([by_all / max(1, int(each.sum())) for each in shared]) >= _AGREEMENT)

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
        return self.template_of(self.key_page, list(self.found.values()))

    def template_of(self, page: Profile, others: Sequence[Profile]) -> NDArray[np.bool_]:
        """bool[n + m], the units of a page that others have, too, in this search's way."""
        return template_of(page, others, self._equality, self._min_characters)


def search_menu(search: MenuSearch, load: Callable[[str], Page | None]) -> MenuSearch:
    """Load what a search wants until it has come to its end, and return it."""
    while (address := search.wanted()) is not None:
        search.add(load(address))
    return search
