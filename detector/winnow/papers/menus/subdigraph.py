"""Pages that all link to each other: an n-complete subdigraph, found while its pages are loaded one by one.

"Web template extraction based on hyperlink analysis", section 4.1 and Algorithm 1: the pages behind the items of a menu
have the menu, so they link to each other. The paper looks through all subsets of the pages loaded so far; here each new
page is the start of a clique search among those that it exchanges links with.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

SIZE: Final = 4


class SubdigraphSearch:
    """The search, told of one page after the other; it loads nothing itself.

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
