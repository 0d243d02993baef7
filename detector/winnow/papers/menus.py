"""Templates by menus as a site-level method, and the template of a page written as a page.

"Web Template Extraction Based on Hyperlink Analysis".
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from winnow.page.page import PageTooLarge
from winnow.page.tags import UNSEEN_TEXT, tag_set
from winnow.page.tree import within
from winnow.papers.menu_mapping import EQUALITIES, THRESHOLD, WEIGHTED, Equality, Profile
from winnow.papers.menu_search import AGREEING, SIZE, VARIANTS, MenuSearch, is_front, page_key, search_menu
from winnow.papers.methods import Labels, parameter
from winnow.papers.pages import SiteError, whole_elements

if TYPE_CHECKING:
    from collections.abc import Container

    from numpy.typing import NDArray

    from winnow.page.page import Page
    from winnow.papers.pages import SitePage, SitePages
    from winnow.progress import Progress

MAX_PAGES: Final = 100
_TRIED: Final = 10  # pages tried as key page where none is named


@dataclass(frozen=True)
class Menus:
    """What a page has in common with the pages of its menu: a few pages that all link to each other.

    Paper: Alarte, Insa, Silva and Tamarit, "Web Template Extraction Based on Hyperlink Analysis" (PROLE 2014, EPTCS
    173), sections 4.1 (Algorithm 1, an n-complete subdigraph among the pages that a key page links to) and 4.2
    (Algorithm 2, the exact top-down mapping of the key page with each of them).

    Parameters: ``variant``, ``agreeing`` (the default) or ``paper``: see
    :class:`~winnow.papers.menu_search.MenuSearch`; ``size``, pages of the subdigraph, the key page not counted (4; the
    largest smaller one where there is none, and fewer where they agree); ``equality`` of nodes: ``tag``, ``attributes``
    (tag and attributes) or ``weighted`` (the default: id, classes, number of children, place among siblings,
    attributes); ``threshold`` of the weighted one (0.5, of 1); ``most_pages`` to load (100); ``key_page``, its name or
    address (the page nearest to the front page that has a menu; in the paper's variant the front page, if it has one).

    Cost: the pages loaded, seldom more than a dozen; then each page is compared with ``size`` others. By tag or
    attributes that is a look-up for each node, weighted a comparison of all children of mapped nodes with each other.

    When to use: when pages are dear, since no other method does with so few, and when a template page is wanted. All
    pages of the subdigraph have to be of one template; a single one that is not leaves little of it.
    """

    name: ClassVar[str] = "menus"

    variant: str = parameter(AGREEING, "as in the paper, or until pages agree", choices=VARIANTS)
    size: int = parameter(SIZE, "pages that link to each other, the key page not counted", "pages")
    equality: str = parameter(WEIGHTED, "what makes two nodes equal", choices=EQUALITIES)
    threshold: float = parameter(THRESHOLD, "least likeness of equal nodes, when weighted", "0 to 1")
    most_pages: int = parameter(MAX_PAGES, "pages to load at most", "pages")
    key_page: str = parameter("", "name or address of the page to start from; the front page when empty")

    def __post_init__(self) -> None:
        if self.size < 1:
            raise ValueError(f"size must be at least 1 page: {self.size}")
        if self.most_pages < 2:
            raise ValueError(f"most_pages must be at least 2, the key page and another: {self.most_pages}")
        if self.variant not in VARIANTS:
            raise ValueError(f"variant must be one of {', '.join(VARIANTS)}: {self.variant!r}")
        Equality(self.equality, self.threshold)  # refuses what will not do

    def search_from(self, key_page: Page, known: Container[str] | None = None) -> MenuSearch:
        """Begin the search from a key page; see :class:`~winnow.papers.menu_search.MenuSearch`."""
        equality = Equality(self.equality, self.threshold)
        return MenuSearch(key_page, self.size, self.most_pages, known, variant=self.variant, equality=equality)

    def learn(self, pages: SitePages, progress: Progress | None = None) -> MenuTemplate:
        """Find pages that link to each other, from the key page or from the first page that has such links.

        Raises:
            SiteError: the key page is not there, or no page links to another.
        """
        numbers = {page_key(url): number for number, url in reversed(list(enumerate(pages.urls)))}
        best: MenuTemplate | None = None
        for done, number in enumerate(self._key_pages(pages), 1):
            key_page = _page(pages, number)
            if key_page is None:
                continue
            search = self.search_from(key_page, numbers)
            search_menu(search, lambda address: _page(pages, numbers[page_key(address)]))
            found = {numbers[key]: profile for key, profile in search.found.items()}
            if best is None or len(found) >= len(best.subdigraph):
                best = MenuTemplate(search, {number: search.key_page, **found})
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
            if self.variant == AGREEING:
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
        subdigraph: numbers of the pages that link to each other, the key page not among them.
    """

    def __init__(self, search: MenuSearch, profiles: dict[int, Profile]) -> None:
        self.pages = search.loaded
        self.key_page, *self.subdigraph = profiles
        self._search = search
        self._profiles = profiles

    def mapped(self, read: SitePage) -> NDArray[np.bool_]:
        """bool[n + m], the units of a page that all of the others have, too: the template as the paper has it.

        An element is mapped whatever it says, so what holds the content is mapped, too.
        """
        others = [profile for number, profile in self._profiles.items() if number != read.number]
        return self._search.template_of(Profile.of(read.page), others)

    def label(self, read: SitePage) -> Labels:
        """Label a page: a block is template when it is mapped, an element as :func:`whole_elements` has it."""
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


# The template of a page, written as a page.

_UNSEEN_TEXT: Final = tag_set(*(UNSEEN_TEXT - {"head"})) | tag_set("title")
_RAW: Final = frozenset({"script", "style"})
_VOID: Final = frozenset(
    {"area", "base", "br", "col", "embed", "frame", "hr", "img", "input", "link", "meta", "param", "source", "track"}
    | {"wbr"}
)


def template_page(page: Page, template: NDArray[np.bool_]) -> str:
    """Write what is template of a page as an HTML document: its elements with all their attributes, and their text.

    What names the page's charset names UTF-8, which the document is to be stored in.

    Args:
        page: the page; neither it nor its tree is changed.
        template: bool[n + m], elements first. What is inside an element that is no template is left out.
    """
    elements, blocks = template[: page.n], template[page.n :]
    kept = ~within(page, ~elements)
    in_template = np.zeros(len(page.runs) + 1, np.int64)
    in_template[page.block_run_begin[blocks]] += 1
    in_template[page.block_run_end[blocks]] -= 1
    runs = (np.cumsum(in_template)[:-1] > 0) & kept[page.run_node]
    opened_before = np.searchsorted(page.run_begin, np.arange(len(page.runs)), side="right")
    unseen = within(page, _UNSEEN_TEXT[page.tag])

    events = [(index, -1) for index in np.flatnonzero(kept).tolist()]
    events += [(before - 1, run) for run, before in enumerate(opened_before.tolist()) if runs[run]]
    written = ["<!DOCTYPE html>\n"]
    open_elements: list[tuple[int, int, str]] = []  # end in elements and in runs, name
    for index, run in sorted(events):
        while open_elements and (open_elements[-1][1] <= run if run >= 0 else open_elements[-1][0] <= index):
            written.append(f"</{open_elements.pop()[2]}>")
        if run >= 0:
            written.append(escape(page.runs[run], quote=False))
            continue
        name = str(page.elements[index].tag)
        pairs = _in_utf8(page.attributes[index]) if name == "meta" else page.attributes[index]
        attributes = "".join(f' {key}="{escape(value)}"' for key, value in pairs)
        written.append(f"<{name}{attributes}>")
        if unseen[index]:
            text = page.elements[index].text or ""
            written.append(text if name in _RAW else escape(text, quote=False))
        if name not in _VOID:
            open_elements.append((int(page.end[index]), int(page.run_end[index]), name))
    written.extend(f"</{name}>" for _, _, name in reversed(open_elements))
    return "".join(written) + "\n"


def _in_utf8(pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The attributes of a ``meta`` element, the charset that it may name replaced."""
    content_type = any(key == "http-equiv" and value.lower() == "content-type" for key, value in pairs)
    new = {"charset": "utf-8", **({"content": "text/html; charset=utf-8"} if content_type else {})}
    return [(key, new.get(key, value)) for key, value in pairs]
