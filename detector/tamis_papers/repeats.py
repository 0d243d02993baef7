"""Two methods of "Automatic Template Detection Using Novel Approach" (IJERT 1(7), 2012), section 3.

:class:`NodeHashes` finds DOM nodes, and :class:`TextWindows` stretches of text, that a site repeats to the letter; both
after Gibson, Punera and Tomkins, "The Volume and Evolution of Web Page Templates" (WWW 2005). Two passes each.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from tamis.hashing import hash_slices, hash_text, mix
from tamis.page.tree import IS_UNSEEN_TEXT, elements_of_blocks, prefix_sums, within
from tamis_papers.pages import (
    Detagged,
    Labels,
    Learned,
    SiteMethod,
    blocks_of_runs,
    count_hashes,
    html_lengths,
    parameter,
    tag_hashes,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tamis.arrays import Flags, Hashes, Integers
    from tamis.folders import SitePage, SitePages
    from tamis.page.page import Page


def _covered(begin: Integers, end: Integers, length: int) -> Flags:
    """bool[length], which positions some of the slices ``[begin, end)`` cover."""
    change = np.bincount(begin, minlength=length + 1) - np.bincount(end, minlength=length + 1)
    inside: Flags = np.cumsum(change[:length]) > 0
    return inside


class Events(NamedTuple):
    """A page as ``2 * n + r`` events: int64[n] positions where elements open and close, int64[r] of runs of text."""

    opens: Integers
    closes: Integers
    runs: Integers

    @classmethod
    def from_page(cls, page: Page) -> Events:
        """Create from a page."""
        opened_before = np.searchsorted(page.run_begin, np.arange(page.r), side="right")
        return cls(
            opens=2 * np.arange(page.n) + page.run_begin - page.depth,
            closes=2 * page.end.astype(np.int64) + page.run_end - page.depth - 1,
            runs=np.arange(page.r) + 2 * opened_before - page.depth[page.run_node] - 1,
        )

    @property
    def number(self) -> int:
        """Number of events."""
        return 2 * len(self.opens) + len(self.runs)


def template_hashes(page: Page, events: Events) -> Hashes:
    """uint64[n + r], hash of every element, then of every run of text, by its content; 0 for blank runs.

    Attributes count in any order, white space in text collapses, blank text and comments count nothing; scripts, styles
    and other text that no reader sees count, too. Unlike :func:`tamis.fingerprints.node_fingerprints`, tokens,
    counters and session ids in attributes are left as they are.
    """
    run = np.fromiter((hash_text(" ".join(text.split())) for text in page.runs), np.uint64, page.r)
    run[~page.is_nonblank] = 0
    tokens = np.zeros(events.number, np.uint64)
    tokens[events.opens] = _element_tokens(page)
    tokens[events.closes] = np.uint64(hash_text("</>"))
    tokens[events.runs] = run
    kept = np.ones(events.number, bool)
    kept[events.runs[~page.is_nonblank]] = False
    before = prefix_sums(kept)
    return np.append(hash_slices(tokens[kept], before[events.opens], before[events.closes + 1]), run)


def _element_tokens(page: Page) -> Hashes:
    """uint64[n], hash of each element's name and attributes, and of text in it that is in no run."""
    table = page.attributes
    attributes = np.zeros(len(table.first), np.uint64)
    for name in table.names:
        place_of = table.first_index_by_value(name)
        attributes[list(place_of.values())] = [hash_text(f"{name}={value}") for value in place_of]
    unseen = np.zeros(page.n, np.uint64)
    for number in np.flatnonzero(within(page, IS_UNSEEN_TEXT[page.tag])).tolist():
        element = page.elements[number]
        text = " ".join(filter(None, [element.text, *(child.tail for child in element)]))
        unseen[number] = hash_text(" ".join(text.split()))
    return mix(tag_hashes(page) + table.sum_per_element(mix(attributes))) ^ mix(unseen)


@dataclass(frozen=True)
class NodeHashes(SiteMethod):
    """DOM nodes whose tag, attributes and content occur often enough on the site, each by one hash.

    Paper: "Automatic Template Detection Using Novel Approach" (IJERT 1(7), 2012), section 3, "DOM based algorithm",
    after Gibson, Punera and Tomkins, "The Volume and Evolution of Web Page Templates" (WWW 2005). The first pass counts
    the pages that have each template-hash. The second takes the topmost nodes with enough of them, and joins siblings
    across small gaps of changing content. With ``least`` 1 and ``least_share`` 0 a whole page is one
    template, as the paper says. Its upper threshold, against tags such as ``<br>`` that are common within a page, is
    not needed where a node counts once on a page.

    Cost: two parses of each page and 8 bytes of memory for each node of each page.

    When to use: to be sure that what is cut is the same on other pages to the letter. A nonce, a counter or a marked
    menu entry hides a node; its children are still found.
    """

    name: ClassVar[str] = "node-hashes"

    least_share: float = parameter(
        0.10, "least share of the pages that have a template node", "share, 0 to 1", least=0, most=1
    )
    least: int = parameter(4, "pages that need to have a template node, however few there are", "pages", least=1)
    gap: int = parameter(20, "changing HTML that is allowed between two sibling templates", "characters", least=0)

    def learn(self, pages: SitePages) -> Learned:
        """Count the nodes of all pages with different text (first pass).

        Raises:
            SiteError: there are fewer than two.
        """
        counts, numbers = count_hashes(pages, lambda page: template_hashes(page, Events.from_page(page)))
        frequent = counts.counts >= max(self.least, self.least_share * counts.pages)
        return Learned(len(numbers), partial(self._label, counts.hashes[frequent]))

    def _label(self, template: Hashes, read: SitePage) -> Labels:
        """Label the topmost template nodes of a page, all inside them, and the small gaps between them.

        A text block is template when most of its characters are.
        """
        page = read.page
        events = Events.from_page(page)
        begin, end = self._joined(template, page, events)
        inside = _covered(begin, end, events.number)
        return Labels(np.concatenate([inside[events.opens], blocks_of_runs(page, inside[events.runs])]))

    def _joined(self, template: Hashes, page: Page, events: Events) -> tuple[Integers, Integers]:
        """First event of each coalesced template, and the event after its last one."""
        known = np.isin(template_hashes(page, events), template)
        parent = np.concatenate([page.parent, page.run_node])
        topmost = known & ~np.append(within(page, known[: page.n]), False)[parent]
        begin = np.concatenate([events.opens, events.runs])[topmost]
        end = np.concatenate([events.closes, events.runs])[topmost] + 1
        parent = parent[topmost]

        html = np.zeros(events.number, np.int64)
        html[events.opens], html[events.runs] = html_lengths(page)
        before = prefix_sums(html)
        order = np.lexsort([begin, parent])
        begin, end, parent = begin[order], end[order], parent[order]
        apart = np.ones(len(begin), bool)
        apart[1:] = (parent[1:] != parent[:-1]) | (before[begin[1:]] - before[end[:-1]] > self.gap)
        return begin[apart], end[np.append(apart[1:], True)[: len(begin)]]


@dataclass(frozen=True)
class TextWindows(SiteMethod):
    """Fragments of text, all of one length, that occur often enough in a sample of the pages.

    Paper: "Automatic Template Detection Using Novel Approach" (IJERT 1(7), 2012), section 3, "Text based algorithm",
    after Gibson, Punera and Tomkins, "The Volume and Evolution of Web Page Templates" (WWW 2005). The first pass slides
    a window over the detagged text of sampled pages and counts what it shows; a fragment is counted if its hash is zero
    modulo a density, so that one counted on a page is counted on all. The second finds the frequent fragments on a page
    and joins those that overlap or touch.

    Cost: one parse of each sampled page and one of each labelled page; 8 bytes of memory for each character of
    the sample, divided by the density.

    When to use: where markup changes from page to page and words do not. It has no notion of elements: short entries
    of a menu count only with their neighbours. A block is cut as a whole, when more than half of it is repeated: a
    licence in the middle of a longer paragraph stays.
    """

    name: ClassVar[str] = "text-windows"

    window: int = parameter(48, "length of a fragment", "characters", least=1)
    share: float = parameter(
        0.10, "least share of the sampled pages that have a template fragment", "share, 0 to 1", least=0, most=1
    )
    least: int = parameter(4, "pages that need to have a template fragment, however few there are", "pages", least=1)
    density: int = parameter(4, "look at one fragment in so many, chosen by hash", "fragments", least=1)
    sample: int = parameter(100, "pages to learn from, chosen at random; 0 for all", "pages", least=0)

    def learn(self, pages: SitePages) -> Learned:
        """Count the fragments of a sample of pages with different text (first pass).

        Raises:
            SiteError: there are fewer than two.
        """
        chosen = pages
        if self.sample and self.sample < len(pages):
            numbers = np.random.default_rng(0).choice(len(pages), self.sample, replace=False)
            chosen = pages.subset(np.sort(numbers).tolist())

        def fragments_of(page: Page) -> Hashes:
            fragments = _fragments(Detagged(page).codes, self.window)
            # by the hash: what is counted on one page is counted on all
            dense: Hashes = fragments[fragments % np.uint64(self.density) == 0]
            return dense

        counts, learned_from = count_hashes(chosen, fragments_of)
        frequent = counts.counts >= max(self.least, self.share * counts.pages)
        return Learned(len(learned_from), partial(self._label, counts.hashes[frequent]))

    def _label(self, template: Hashes, read: SitePage) -> Labels:
        """Label blocks most of whose characters lie in frequent fragments, and elements of nothing but such blocks."""
        page, detagged = read.page, Detagged(read.page)
        frequent = np.flatnonzero(np.isin(_fragments(detagged.codes, self.window), template))
        covered = _covered(frequent, frequent + self.window, len(detagged.codes))[detagged.offset]
        length, inside = (np.bincount(detagged.run, weight, page.r) for weight in (None, covered))
        blocks = blocks_of_runs(page, inside / np.maximum(length, 1))
        return Labels(np.concatenate([elements_of_blocks(page, blocks), blocks]))


def _fragments(codes: NDArray[np.uint32], window: int) -> Hashes:
    """uint64, hash of the fragment that begins at each position; none for a text shorter than the window."""
    begin = np.arange(len(codes) - window + 1)
    return hash_slices(mix(codes.astype(np.uint64) + np.uint64(1)), begin, begin + window)
