"""What the applications of the page-level paper (6.2, 6.3) share: pages of known content, cleaned in several ways.

The main content of pages of real sites is exchanged. A page's *slot* is the deepest element that holds most of the text
which no other page of its site has. What is in it is replaced; whatever is around it stays: navigation, sidebars,
footers, and lists that change from page to page. The slot is found by exact counts of text over the site's pages alone,
so no model that is compared takes part in it.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from lxml import etree

from tamis import clean
from tamis.counting import countable
from tamis.fingerprints import node_fingerprints
from tamis.output.text import block_texts, text_of_blocks
from tamis.page.page import Page
from tamis.page.tree import sums_over_blocks
from tamis.site import PageCounts
from tamis_papers.experiments.harness import say
from tamis_papers.page_level import site_level_templates
from tamis_papers.pages import HashCounts, distinct_pages, text_fingerprints

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from tamis.arrays import Hashes, Integers
    from tamis.folders import SitePages
    from tamis.models import Model

MIN_SLOT_FRACTION: Final = 0.9
"""Fraction of a page's unique words that its slot has at least."""

MIN_WORDS_AROUND: Final = 50
"""Words outside the slot, without which a page has no template to speak of."""

MAX_WORDS: Final = 400
"""Words of a text that are put into a page; it ends with the paragraph that reaches them."""

_MIN_UNIQUE: Final = 30  # words


@dataclass(frozen=True, eq=False, slots=True)
class Frame:
    """A page of a site and the element whose content is exchanged.

    Attributes:
        url: address of the page.
        root: its tree; it is not changed.
        slot: number of the element in document order, comments counted.
    """

    url: str
    root: etree._Element
    slot: int

    def filled(self, paragraphs: Sequence[str], style: str) -> bytes:
        """Return the page's HTML with other paragraphs in the slot, marked up as one of ``p``, ``div`` or ``br``."""
        root = copy.deepcopy(self.root)
        element = next(node for number, node in enumerate(root.iter()) if number == self.slot)
        tail = element.tail
        for child in list(element):
            element.remove(child)
        element.text, element.tail = None, tail
        if style == "br":
            element.text = paragraphs[0]
            for paragraph in paragraphs[1:]:
                etree.SubElement(element, "br").tail = paragraph
        else:
            for paragraph in paragraphs:
                etree.SubElement(element, style).text = paragraph
        html: bytes = etree.tostring(root, encoding="utf-8", method="html")
        return html


def frames_of_sites(sites: Iterable[SitePages], least: int) -> dict[str, list[Frame]]:
    """Find the pages with a slot, by site; sites with fewer than ``least`` of them are left out.

    Raises:
        ValueError: no site is left.
    """
    found: dict[str, list[Frame]] = {}
    for site in sites:
        frames = list(frames_of(site))
        say(f"{site.name}: {len(frames)} of {len(site)} pages have a slot")
        if len(frames) >= least:
            found[site.name] = frames
    if not found:
        raise ValueError(f"no site has {least} pages with a slot")
    return found


def frames_of(site: SitePages) -> Iterator[Frame]:
    """Find the slot of each page of a site; pages without one, and copies of other pages, are left out."""
    pages = [read.page for read in distinct_pages(site)]
    counts = HashCounts.of_pages(map(text_fingerprints, pages))
    for page in pages:
        slot = slot_of(page, counts.df(text_fingerprints(page)[page.n :]) <= 1)
        if slot is not None:
            nodes = list(page.elements[0].iter())
            yield Frame(page.url or "", page.elements[0], nodes.index(page.elements[slot]))


def slot_of(page: Page, unique: NDArray[np.bool_]) -> int | None:
    """Find the slot of a page, of whose blocks no other page has the unique ones (bool[m]).

    Returns:
        index of the element, ``None`` where the page has too little unique text or nothing around it.
    """
    words = np.array([len(text.split()) for text in block_texts(page)], np.int64)
    inside, inside_unique = sums_over_blocks(page, words), sums_over_blocks(page, words * unique)
    fits = inside_unique >= max(MIN_SLOT_FRACTION * inside_unique[0], _MIN_UNIQUE)
    fits &= inside[0] - inside >= MIN_WORDS_AROUND
    if not fits.any():
        return None
    candidates = np.flatnonzero(fits)
    return int(candidates[page.depth[candidates].argmax()])


def shortened(text: str, most_words: int = MAX_WORDS) -> list[str]:
    """Paragraphs of a text, up to the one that reaches a number of words."""
    paragraphs: list[str] = []
    words = 0
    for line in text.splitlines():
        paragraph = "".join(character for character in " ".join(line.split()) if character.isprintable())
        if paragraph and words < most_words:
            paragraphs.append(paragraph)
            words += len(paragraph.split())
    return paragraphs


def mistyped(paragraphs: Sequence[str], rate: float, random: np.random.Generator) -> list[str]:
    """Copy paragraphs as people do: one word in ``1 / rate`` gets lost."""
    kept = []
    for paragraph in paragraphs:
        words = paragraph.split()
        stay = random.random(len(words)) >= rate
        kept.append(" ".join(word for word, stays in zip(words, stay, strict=True) if stays) or paragraph)
    return kept


# The ways to clean the pages of a site that the paper compares.

FULL_TEXT: Final = "FULLTEXT"
SITE_LEVEL: Final = "SITELEVEL"
BASIC: Final = "PAGELEVEL Basic"
SMOOTH: Final = "PAGELEVEL Smooth"
COMBINED: Final = "combined"
WAYS: Final = (FULL_TEXT, SITE_LEVEL, BASIC, SMOOTH, COMBINED)


def cleaned_texts(pages: Sequence[tuple[bytes, str]], model: Model, ways: Sequence[str]) -> Iterator[dict[str, str]]:
    """Clean all pages of one site, given by HTML and address, in some :data:`WAYS`; yield each page's texts by way.

    SITELEVEL cuts what at least 10% of these pages share and nothing else. *combined* is what a crawl does at its end:
    the model's scores, moved by the counts of these pages.
    """
    counts = HashCounts.of_pages(_fingerprints(Page.parse(html, url))[1] for html, url in pages)
    for html, url in pages:
        page = Page.parse(html, url)
        units, fingerprints = _fingerprints(page)
        df = np.zeros(page.n + page.m, np.int64)
        df[units] = counts.df(fingerprints)
        yield {way: _text(way, page, df, counts.pages, model) for way in ways}


def _text(way: str, page: Page, df: Integers, pages: int, model: Model) -> str:
    if way == FULL_TEXT:
        return text_of_blocks(page, np.ones(page.m, bool))
    if way == SITE_LEVEL:
        return text_of_blocks(page, ~site_level_templates(page, df, pages)[page.n :])
    if way == COMBINED:
        return clean(page, model=model, site=PageCounts(df, pages)).text
    return clean(page, model=model, smooth=way == SMOOTH).text


def _fingerprints(page: Page) -> tuple[Integers, Hashes]:
    units = np.flatnonzero(countable(page))
    return units, node_fingerprints(page)[units]
