"""Gold pages: labels of text blocks from gold text, how pages are divided into folds, copies in other styles.

A block's label is the fraction of its words that the gold text has. Sources, not pages, are divided into folds.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import compress
from typing import TYPE_CHECKING, Final, Literal, get_args
from zlib import crc32

import numpy as np
from lxml import etree
from rapidfuzz.distance import LCSseq
from tldextract import TLDExtract

from tamis.page.page import Page, PageTooLarge
from tamis.page.text import WORD
from tamis.page.tree import prefix_sums
from tamis_papers.evaluation import GoldPage, page_accuracy, read_gold
from tamis_papers.pages import spread

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray


def content_fractions(block_texts: Sequence[str], gold_text: str) -> NDArray[np.float64]:
    """float64[m], fraction of each block's words that the gold text has in the same order; 0 for blocks without words.

    The words of the page and those of the gold text are aligned by a longest common subsequence, so that a word of the
    menu is not taken for the same word of the article. Characters of unspaced scripts count as words.
    """
    words = [WORD.findall(text.lower()) for text in block_texts]
    lengths = np.fromiter(map(len, words), np.int64, len(words))
    numbers: dict[str, int] = {}
    page = [numbers.setdefault(word, len(numbers)) for block in words for word in block]
    gold = [numbers.setdefault(word, len(numbers)) for word in WORD.findall(gold_text.lower())]
    matched = np.zeros(len(page), bool)
    for operation in LCSseq.opcodes(page, gold):
        if operation.tag == "equal":
            matched[operation.src_start : operation.src_end] = True
    ends, sums = np.cumsum(lengths), prefix_sums(matched)
    shares: NDArray[np.float64] = (sums[ends] - sums[ends - lengths]) / np.maximum(lengths, 1)
    return shares


# Gold pages to learn from: where their HTML is, whom they are from, and which are held out together.

FOLDS: Final = 5
"""Parts into which the sources are divided; what is measured or decided of one is learned from the others."""

MAX_PAGES_PER_SOURCE: Final = 30
"""Pages of a source that are learned from; more of them teach little."""


@dataclass(frozen=True, slots=True)
class GoldExample:
    """A gold page and the file of its HTML.

    Attributes:
        source: its site, or its registrable domain; pages of one source are never on both sides of a fold.
        collection: the collection that it is from.
    """

    gold: GoldPage
    file: Path
    source: str
    collection: str

    @property
    def name(self) -> str:
        """ID of the page."""
        return self.gold.page_id

    def content(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """float64[m], fraction of content of each of the page's blocks, by their texts; NaN without a label."""
        return content_fractions(texts, self.gold.text)

    def f1(self, text: str) -> float:
        """Word F1 of a text that was extracted from the page."""
        return page_accuracy(text, self.gold).f1


def gold_examples(files: Iterable[Path], sites: Path | None = None) -> list[GoldExample]:
    """Read gold pages and find their HTML: ``html/ID.html`` beside the file, or the page ID of the folder of sites.

    Of a source with more than :data:`MAX_PAGES_PER_SOURCE` pages, so many are taken, evenly spread.

    Raises:
        FileNotFoundError: the HTML of a page is not there.
        ValueError: a file is malformed.
    """
    found = []
    for file in files:
        try:
            pages = read_gold(file)
        except ValueError as error:
            raise ValueError(f"{file}: {error}") from error
        for page in pages:
            html = file.parent / "html" / f"{page.page_id}.html"
            source = source_of(page)
            if not html.is_file() and sites is not None and (sites / page.page_id).is_file():
                html, source = sites / page.page_id, page.page_id.partition("/")[0]
            if not html.is_file():
                raise FileNotFoundError(
                    f"no such file: {html}; the HTML of the gold page ID is read from html/ID.html there"
                )
            found.append(GoldExample(page, html, source, page.source or str(file)))
    by_source: dict[str, list[GoldExample]] = defaultdict(list)
    for example in found:
        by_source[example.source].append(example)
    return [example for of_one in by_source.values() for example in spread(of_one, MAX_PAGES_PER_SOURCE)]


def source_of(page: GoldPage) -> str:
    """Return the registrable domain of a gold page, its id where the address is not known."""
    return registrable_domain(page.url) or page.page_id


def registrable_domain(address: str | None) -> str:
    """Return the registrable domain of an address, its host if that has none; "" without an address."""
    host = (address or "").partition("//")[2].partition("/")[0].lower()
    return _suffixes()(host).top_domain_under_public_suffix or host


@lru_cache(maxsize=1)
def _suffixes() -> TLDExtract:
    return TLDExtract(suffix_list_urls=(), cache_dir=None)  # the list that comes with it; nothing is fetched


def folds(gold: Sequence[GoldExample], sites: Iterable[str], seed: int = 0) -> dict[str, int]:
    """Divide the sources into folds.

    Pages with a fold of their own keep it, as far as their source allows; a collection that a gold file has beside
    others (its pages have a ``source``) is held out whole, so that what is learned of it holds for collections not
    seen; other sources, names of sites without gold text among them, are dealt out at random.
    """
    number = Counter(example.collection for example in gold if example.gold.source)
    collections = {name: index % FOLDS for index, (name, _) in enumerate(number.most_common())}
    votes: dict[str, Counter[int]] = defaultdict(Counter)
    for example in gold:
        fold = collections.get(example.collection, example.gold.fold)
        if fold is not None:
            votes[example.source][fold % FOLDS] += 1
    fold_of = {source: min(counted, key=lambda fold: (-counted[fold], fold)) for source, counted in votes.items()}
    others = ({example.source for example in gold} | set(sites)) - set(fold_of)
    return fold_of | deal_folds(others, seed)


def deal_folds(sources: Iterable[str], seed: int) -> dict[str, int]:
    """Deal sources into folds of the same size or one more; the same seed and sources give the same folds."""
    names = sorted(set(sources))
    return dict(zip(names, (np.random.default_rng(seed).permutation(len(names)) % FOLDS).tolist(), strict=True))


# Copies of gold pages restyled as older markup: what is learned must not lean on how today's pages are written.
#
# Gold pages are of recent years. Without copies, models that were trained on them keep too much of pages whose elements
# have no telling names, or that were laid out with tables.

Style = Literal["unnamed", "plain", "tables"]

STYLES: Final[tuple[Style, ...]] = get_args(Style)
"""Attributes that name elements are gone; elements of HTML5 are ``div`` besides; some of these are tables besides."""

_KEPT: Final = frozenset(
    (
        *("alt", "charset", "colspan", "content", "dir", "hidden", "href", "http-equiv", "lang"),
        *("name", "property", "rel", "rowspan", "src", "style", "type"),
    )
)
_OLDER: Final = {"time": "span"} | dict.fromkeys(
    "article aside details figcaption figure footer header hgroup main nav section summary".split(),
    "div",
)


def parse_with_copy(example: GoldExample) -> list[Page]:
    """Parse a gold page and its restyled copy; none of a page that exceeds a limit."""
    html, url = example.file.read_bytes(), example.gold.url
    pages: list[Page] = []
    with suppress(PageTooLarge):
        pages.append(Page.parse(html, url))
        pages.append(Page.from_tree(restyle(pages[0], style_of(example)), url))
    return pages


def style_of(example: GoldExample) -> Style:
    """Return the style of a gold page's copy; every page has one, a third of them each."""
    return STYLES[crc32(example.gold.page_id.encode()) % len(STYLES)]


def restyle(page: Page, style: Style) -> etree._Element:
    """Write a page in another style, one of :data:`STYLES`; the text stays as it is."""
    elements = page.subtree(0)
    root = elements[0]
    for element in elements:
        _remove_names(element)
        if style != "unnamed" and element.tag in _OLDER:
            element.tag = _OLDER[element.tag]
    if style == "tables":
        chance = np.random.default_rng(len(elements)).random(len(elements))
        for element in compress(elements, chance < 0.3):
            if element.tag == "div" and len(element) and element is not root:
                _wrap_in_table(element)
    return root


def _remove_names(element: etree._Element) -> None:
    for name in element.attrib:
        if name not in _KEPT or (name in {"name", "property"} and element.tag != "meta"):
            with suppress(ValueError):  # a name that lxml gives out and does not take back
                del element.attrib[name]


def _wrap_in_table(element: etree._Element) -> None:
    cell = etree.Element("td")
    cell.text, element.text = element.text, None
    cell.extend(list(element))
    etree.SubElement(element, "tr").append(cell)
    element.tag = "table"
