"""Labelled text blocks as training examples: from sites, by what they repeat; from gold pages; from authors' marks."""

from __future__ import annotations

import re
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tamis.decide import decide
from tamis.evidence.draft import Options
from tamis.evidence.marked_articles import article_mark
from tamis.features import TABLE_SIZE, TokenTables, features_of
from tamis.folders import no_progress
from tamis.page.page import Page, PageTooLarge
from tamis.page.text import block_words
from tamis.processes import map_in_processes
from tamis.site import Site
from tamis_papers.methods import METHODS, summary
from tamis_papers.page_level import SiteLevel
from tamis_papers.pages import SiteError
from tamis_papers.training.gold import parse_with_copy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from lxml import etree
    from numpy.typing import NDArray

    from tamis.arrays import Flags, Floats, Singles
    from tamis.features import Tokens
    from tamis.folders import Progress, SitePage, SitePages
    from tamis.models import Model
    from tamis_papers.training.gold import GoldExample


@dataclass(frozen=True, eq=False, slots=True)
class BlockPage:
    """The blocks of one page as examples (m of them).

    Attributes:
        source: site or domain; pages of one source are never on both sides of a fold.
        page: the page, without what no feature is computed from.
        tokens, words: hashed names and words; float64[m], number of words of each block.
        label: float32[m], 1 for content, 0 for template, fractions in between; NaN where there is no label.
        copy: whether this is a copy restyled as older markup, which is learned from and not measured.
    """

    source: str
    page: Page
    tokens: Tokens
    words: Floats
    label: Singles
    copy: bool = False

    @property
    def labelled(self) -> Flags:
        """bool[m], which blocks have a label."""
        return ~np.isnan(self.label)

    @property
    def mass(self) -> Floats:
        """float64[m], part of each block in its page: half by its words, half by their root; adds up to 1."""
        by_root, by_words = (part / max(float(part.sum()), 1e-9) for part in (np.sqrt(self.words), self.words))
        mass: Floats = (by_root + by_words) / 2
        return mass

    @property
    def labelled_mass(self) -> Floats:
        """float64[m], the mass of blocks with a label, 0 of others."""
        return np.where(self.labelled, self.mass, 0.0)


# Labels without a human: what repeats on the pages of a site is template, what occurs once is content.
#
# Template units are those of SiteLevel with the 85% rule (page-level isotonic smoothing, sections 3 and 5.1), or of
# another site-level method; content is what no other page of the site has, unless the method has a rule of its own, and
# what lies in between has no label (site-independent template blocks, section 3).

SITE_LEVEL_METHOD: Final = SiteLevel.name
"""The method whose labels the package's own model learns from."""


class SiteLabels:
    """Labels of the units of a site's pages by a site-level method.

    Attributes:
        numbers: numbers of the pages that can be learned from: readable, not too large, no copies of others; none where
            the method cannot work on the site.
    """

    def __init__(self, pages: SitePages, method: str = SITE_LEVEL_METHOD) -> None:
        self._pages = pages
        self.numbers: Sequence[int] = []
        with suppress(SiteError):
            self._site_level = self._learned = SiteLevel().learn(self._pages)
            if method != SITE_LEVEL_METHOD:
                self._learned = METHODS[method]().learn(self._pages)
            self.numbers = self._site_level.groups[0]

    def pages(self, numbers: Iterable[int]) -> Iterator[tuple[SitePage, Singles]]:
        """Read pages with their labels, float32[n + m]: 1 for content, 0 for template, NaN for neither."""
        for read in map(self._pages.read, numbers):
            labels = self._learned.label(read)
            content = self._site_level.label(read).content if labels.content is None else labels.content
            label = np.full(read.page.n + read.page.m, np.nan, np.float32)
            label[content] = 1
            label[labels.template] = 0
            yield read, label


def describe_labels(method: str) -> str:
    """What model cards say of the labels of a method."""
    return f"`{method}`, no human ones: template is what it finds, content what one page has. {summary(method)}"


def block_page(page: Page, label: NDArray[np.floating], source: str) -> BlockPage:
    """Make examples of a page."""
    kept = replace(page, raw_texts={}, attributes=replace(page.attributes))
    no_odds = TokenTables(*np.zeros((2, TABLE_SIZE), np.float32))
    return BlockPage(source, kept, features_of(page, no_odds)[1], block_words(page), label.astype(np.float32))


def label_pages(
    label: Callable[[Any], list[BlockPage]],
    sites_or_pages: Sequence[SitePages] | Sequence[GoldExample],
    processes: int = 1,
    progress: Progress = no_progress,
    what: str = "site",
) -> list[BlockPage]:
    """Return the pages that ``label`` makes of each site or gold page; ``what`` names each in the progress."""
    names = [f"{what} {each.name}" for each in sites_or_pages]
    labelled = map_in_processes(label, sites_or_pages, processes, names, progress)
    return [page for of_one in labelled for page in of_one]


def label_site(
    site: SitePages, *, seed: int, labels: str = SITE_LEVEL_METHOD, pages_per_site: int = 20
) -> list[BlockPage]:
    """Label the blocks of some pages of a site by a site-level method, blocks of one page only as content."""
    site_labels = SiteLabels(site, labels)
    chosen = np.random.default_rng(seed).permutation(len(site_labels.numbers))[:pages_per_site]
    numbers = [site_labels.numbers[index] for index in sorted(chosen)]
    return [block_page(read.page, label[read.page.n :], site.name) for read, label in site_labels.pages(numbers)]


def label_site_by_counts(site: SitePages, *, model: Model, seed: int) -> list[BlockPage]:
    """Label the blocks of some pages of a site by the scores of a model and the counts of the whole site.

    The labels are probabilities; comments have none.
    """
    counts = Site(budget=1_000_000, model=model)
    pages = [read.page for read in site.read_all() if read.page.m and counts.count(read.page)]
    found = []
    for number in sorted(np.random.default_rng(seed).permutation(len(pages))[:20].tolist()):
        page = pages[number]
        draft = decide(page, model, counts, Options())
        content = 1 - draft.scores.templateness[page.n :]
        content[draft.written_by_readers] = np.nan
        found.append(block_page(page, content, site.name))
    return found


def label_gold_page(example: GoldExample) -> list[BlockPage]:
    """Label the blocks of a gold page and of its restyled copy; none of a page that exceeds a limit."""
    found = []
    for number, page in enumerate(parse_with_copy(example)):
        content = example.content(page.block_texts())
        found.append(replace(block_page(page, content, example.source), copy=number > 0))
    return found


# Pages whose authors marked the article: no one had to label them. The marks that a label was taken from are removed
# from the page, so that a model learns how an article looks and not how it is marked.

_MICROFORMAT: Final = re.compile(
    r"(?:h|p|u|dt|e)-[a-z]+(?:-[a-z]+)*|hentry|hfeed|hatom|vcard|entry(?:-(?:content|title|summary|header|footer|meta))?"
)


def without_marks(root: etree._Element) -> etree._Element:
    """Copy a tree without microdata, RDFa and the class names of microformats; the tree itself is not changed."""
    copy = deepcopy(root)
    for element in copy.iter("*"):
        attributes = element.attrib
        for name in ("itemprop", "itemtype", "itemscope", "property", "typeof", "vocab"):
            if name in attributes:
                del attributes[name]
        names = attributes.get("class")
        if names is not None:
            attributes["class"] = " ".join(part for part in names.split() if not _MICROFORMAT.fullmatch(part))
    return copy


MAX_MARKED_PAGES: Final = 20
"""Most marked pages of a site that are learned from."""

_MAYBE: Final = re.compile(rb"articleBody|e-content|entry-content|content:encoded")


def label_marked_site(site: SitePages, *, seed: int) -> list[BlockPage]:
    """Label the blocks of some pages of a site that bear the mark of an article, with the mark hidden."""
    found: list[BlockPage] = []
    known: set[str] = set()
    for number in np.random.default_rng(seed).permutation(len(site)).tolist():
        try:
            html = site.files[number].read_bytes()
            if not _MAYBE.search(html):
                continue
            page = Page.parse(html)
        except (OSError, PageTooLarge):
            continue
        mark, text = article_mark(page), "\n".join(page.block_texts())
        if mark is None or text in known:  # a copy under another name
            continue
        hidden = Page.from_tree(without_marks(page.elements[0]), page.url)
        if hidden.m != len(mark[0]):  # it has other blocks without the marks
            continue
        known.add(text)
        found.append(block_page(hidden, mark[0], site.name))
        if len(found) == MAX_MARKED_PAGES:
            break
    return found
