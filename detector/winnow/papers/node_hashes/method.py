"""DOM node hashes in two passes: nodes that a site repeats literally, and what little changes between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from winnow.counting import html_lengths
from winnow.page.tree import prefix_sums
from winnow.papers.base import Labels, parameter
from winnow.papers.events import Events, covered, mostly
from winnow.papers.hash_counter import HashCounter, among
from winnow.papers.node_hashes.template_hashes import template_hashes
from winnow.papers.pages import check_enough
from winnow.papers.source.source_map import NOWHERE, source_map

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.page.page import Page
    from winnow.papers.pages import SitePage, SitePages
    from winnow.progress import Progress

    Hashes = NDArray[np.uint64]
    Positions = NDArray[np.int64]


@dataclass(frozen=True)
class NodeHashes:
    """DOM nodes whose tag, attributes and content occur often enough on the site, each by one hash.

    Paper: "Automatic Template Detection Using Novel Approach" (IJERT 1(7), 2012), section 3, "DOM based algorithm",
    after Gibson, Punera and Tomkins, "The Volume and Evolution of Web Page Templates" (WWW 2005). The first pass counts
    the occurrences of each template-hash on all pages. The second takes the topmost nodes whose count lies between two
    thresholds, and joins siblings across small gaps of changing content.

    Parameters: ``least_share``, occurrences per page from which a node is template (0.10); ``least``, occurrences that
    it needs in any case (4); ``gap``, characters of HTML that may change between two sibling templates (20);
    ``once_per_page``, count pages that have a node (on) or, as the paper does, all its occurrences (off); then
    ``most_per_page``, occurrences per page above which a node is too common to say anything (20.0, and 0 for no limit).
    With ``least`` 1 and ``least_share`` 0 a whole page is one template, as the paper says.

    Cost: two parses of each page and 8 bytes of memory for each different node of the site; three more parses of a page
    whose templates are located in its source.

    When to use: to know the exact bytes of a template, or to be sure that what is cut is the same on other pages to
    the letter. A nonce, a counter or a marked menu entry hides a node; its children are still found.
    """

    name: ClassVar[str] = "node-hashes"

    least_share: float = parameter(0.10, "least occurrences of a template node, for each page", "occurrences per page")
    least: int = parameter(4, "least occurrences of a template node, however few pages there are", "occurrences")
    most_per_page: float = parameter(
        20.0, "most occurrences of a template node, for each page, if all count; 0: no limit", "occurrences per page"
    )
    gap: int = parameter(20, "changing HTML that is allowed between two sibling templates", "characters")
    once_per_page: bool = parameter(True, "count a node once on a page, not at each of its places")

    def __post_init__(self) -> None:
        if self.least < 1 or self.least_share < 0 or self.most_per_page < 0 or self.gap < 0:
            raise ValueError("least must be at least 1; least_share, most_per_page and gap must not be negative")
        if 0 < self.most_per_page < self.least_share:
            raise ValueError("most_per_page must not be below least_share")

    def learn(self, pages: SitePages, progress: Progress | None = None) -> NodeHashTemplate:
        """Count the nodes of all pages with different text (first pass).

        Raises:
            SiteError: there are fewer than two.
        """
        counter = HashCounter()
        distinct = 0
        for read in pages.distinct(progress):
            hashes = template_hashes(read.page, Events.of(read.page))
            hashes = hashes[hashes != 0]
            counter.add(np.unique(hashes) if self.once_per_page else hashes)
            distinct += 1
        check_enough(pages, distinct)
        least = max(self.least, self.least_share * distinct)
        limited = self.most_per_page and not self.once_per_page
        most = max(self.most_per_page * distinct, least) if limited else np.inf
        return NodeHashTemplate(self, counter.between(least, most), distinct)


class SourceTemplate(NamedTuple):
    """A template in the original source of a page: one node, or siblings and the gaps between them.

    Attributes:
        begin, end: where it is, in bytes.
        nodes: number of template nodes that were joined.
    """

    begin: int
    end: int
    nodes: int


class NodeHashTemplate:
    """The template-hashes of a site.

    Attributes:
        pages: number of different pages that were counted.
    """

    def __init__(self, method: NodeHashes, hashes: Hashes, pages: int) -> None:
        self.pages = pages
        self._gap = method.gap
        self._hashes = hashes

    def label(self, read: SitePage) -> Labels:
        """Label the topmost template nodes of a page, all inside them, and the small gaps between them.

        A text block is template when most of its characters are.
        """
        page = read.page
        events = Events.of(page)
        begin, end, _ = self._joined(page, events)
        inside = covered(begin, end, len(events))
        return Labels(np.concatenate([inside[events.opens], mostly(page, inside[events.runs])]))

    def templates(self, read: SitePage) -> list[SourceTemplate]:
        """Return the templates of a page by their places in its source, in order.

        Those without a place of their own in the source are left out: an implied element that holds nothing.
        """
        page = read.page
        events = Events.of(page)
        begin, end, nodes = self._joined(page, events)
        located = source_map(read.html, page)
        span = np.full((len(events), 2), NOWHERE, np.int64)
        span[events.opens] = span[events.closes] = located.element
        span[events.runs] = located.run
        found = zip(span[begin, 0].tolist(), span[end - 1, 1].tolist(), nodes.tolist(), strict=True)
        return sorted(SourceTemplate(*each) for each in found if NOWHERE not in each[:2])

    def _joined(self, page: Page, events: Events) -> tuple[Positions, Positions, Positions]:
        """First event of each coalesced template, the event behind its last one, and its number of nodes."""
        known = among(template_hashes(page, events), self._hashes)
        begin = np.concatenate([events.opens, events.runs])[known]
        end = np.concatenate([events.closes, events.runs])[known] + 1
        parent = np.concatenate([page.parent, page.run_node])[known]

        order = np.argsort(begin)
        begin, end, parent = begin[order], end[order], parent[order]
        topmost = np.ones(len(begin), bool)
        topmost[1:] = begin[1:] >= np.maximum.accumulate(end)[:-1]
        begin, end, parent = begin[topmost], end[topmost], parent[topmost]

        html = np.zeros(len(events), np.int64)
        html[events.opens], html[events.runs] = html_lengths(page)
        before = prefix_sums(html)
        order = np.lexsort([begin, parent])
        begin, end, parent = begin[order], end[order], parent[order]
        apart = np.ones(len(begin), bool)
        apart[1:] = (parent[1:] != parent[:-1]) | (before[begin[1:]] - before[end[:-1]] > self._gap)
        first = np.flatnonzero(apart)
        last = np.flatnonzero(np.append(apart[1:], True)[: len(begin)])
        return begin[first], end[last], last - first + 1
