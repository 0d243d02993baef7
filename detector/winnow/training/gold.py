"""Gold pages: labels of text blocks from gold text or marks, how pages are divided into folds, copies in other styles.

A block's label is the fraction of its words that the gold text has, or what a reader has marked it as. Sources, not
pages, are divided into folds.
"""

from __future__ import annotations

import hashlib
import json
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

from winnow.page.page import Page, PageTooLarge
from winnow.page.text import WORD
from winnow.page.tree import prefix_sums
from winnow.training.evaluation import GoldPage, read_gold
from winnow.training.sites import find_sites

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from winnow.papers.pages import SitePages


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
        marks: of its blocks, where people have marked those instead of writing text down.
    """

    gold: GoldPage
    file: Path
    source: str
    collection: str
    marks: PageMarks | None = None

    @property
    def name(self) -> str:
        """ID of the page."""
        return self.gold.page_id


def gold_examples(
    files: Iterable[Path], sites: Path | None = None, *, leave_out: Collection[str] = ()
) -> list[GoldExample]:
    """Read gold pages and find their HTML: ``html/ID.html`` beside the file, or the page ID of the folder of sites.

    Pages of the collections (``source`` in the files) to leave out are not among them.

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
            if page.source in leave_out:
                continue
            html = file.parent / "html" / f"{page.page_id}.html"
            source = source_of(page)
            if not html.is_file() and sites is not None and (sites / page.page_id).is_file():
                html, source = sites / page.page_id, page.page_id.partition("/")[0]
            if not html.is_file():
                raise FileNotFoundError(
                    f"no such file: {html}; the HTML of the gold page ID is read from html/ID.html there"
                )
            found.append(GoldExample(page, html, source, page.source or str(file)))
    return _spread(found)


def _spread(examples: Sequence[GoldExample]) -> list[GoldExample]:
    """Leave out pages, evenly, of sources with more than :data:`MAX_PAGES_PER_SOURCE`."""
    of_source: dict[str, list[GoldExample]] = defaultdict(list)
    for example in examples:
        of_source[example.source].append(example)
    return [
        own[number * len(own) // min(MAX_PAGES_PER_SOURCE, len(own))]
        for own in of_source.values()
        for number in range(min(MAX_PAGES_PER_SOURCE, len(own)))
    ]


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
    collections = {name: place % FOLDS for place, (name, _) in enumerate(number.most_common())}
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


# Pages of whole sites, whose blocks a reader has marked. A line of such a file is a page: its site and file, and of
# each block a letter and a short hash of its text, so that marks hold on when blocks are cut in another way later. The
# text of nobody's page is in them.

CONTENT, COMMENTS, MAYBE, TEMPLATE = "comt"
"""What a block is marked as; what is :data:`MAYBE` can be content or template."""

_CONTENT_OF: Final = {CONTENT: 1.0, TEMPLATE: 0.0}
_KIND_OF: Final = {"wiki": "documentation", "other": "service"}
_HASH_DIGITS: Final = 8


@dataclass(frozen=True, slots=True)
class PageMarks:
    """What a reader marked on a page of a site: file, kind, and of each block a letter and a hash of its text."""

    site: str
    page: str
    kind: str
    marks: str
    hashes: tuple[str, ...]

    def of_blocks(self, texts: Sequence[str]) -> str:
        """Return a letter for each of a page's blocks; :data:`MAYBE` for those that the reader did not see."""
        left: dict[str, list[str]] = {}
        for mark, digest in zip(reversed(self.marks), reversed(self.hashes), strict=True):
            left.setdefault(digest, []).append(mark)
        return "".join(known.pop() if (known := left.get(hash_block(text))) else MAYBE for text in texts)

    def content(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """float64[m], 1 for blocks of content, 0 for template, NaN for comments and what may be either."""
        return np.array([_CONTENT_OF.get(letter, np.nan) for letter in self.of_blocks(texts)])


def hash_block(text: str) -> str:
    """Hash the text of a block: eight hexadecimal digits."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_HASH_DIGITS // 2).hexdigest()


def read_marks(path: Path) -> list[PageMarks]:
    """Read marked pages.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: a line is no marked page.
    """
    found = []
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            try:
                row = json.loads(line)
                digits = row["blocks"]
                hashes = tuple(digits[at : at + _HASH_DIGITS] for at in range(0, len(digits), _HASH_DIGITS))
                marks = PageMarks(row["site"], row["page"], row["kind"], row["marks"], hashes)
            except (KeyError, TypeError, ValueError) as error:
                raise ValueError(f"{path}, line {number}: not a marked page ({error!r})") from error
            if len(marks.marks) != len(hashes):
                raise ValueError(f"{path}, line {number}: {len(marks.marks)} marks of {len(hashes)} blocks")
            found.append(marks)
    return found


def marked_sites(
    folders: Sequence[Path], marks: Sequence[PageMarks]
) -> Iterator[tuple[SitePages, Mapping[str, PageMarks]]]:
    """Yield the sites of some folders that have marked pages, with the marks by file.

    Raises:
        FileNotFoundError: a folder does not exist.
        ValueError: none of the sites is there.
    """
    by_site: dict[str, dict[str, PageMarks]] = {}
    for each in marks:
        by_site.setdefault(each.site, {})[each.page] = each
    sites = [site for folder in folders for site in find_sites(folder) if site.name in by_site]
    if not sites:
        raise ValueError(f"none of the {len(by_site)} marked sites is in {', '.join(map(str, folders))}")
    for site in sites:
        yield site, by_site[site.name]


def marked_examples(folders: Sequence[Path], path: Path) -> list[GoldExample]:
    """Take the marked pages of some folders of sites as gold pages, whose text is that of their blocks of content."""
    found = []
    for site, marks_of in marked_sites(folders, read_marks(path)):
        for number, (name, url) in enumerate(zip(site.names, site.urls, strict=True)):
            marks = marks_of.get(name)
            if marks is not None:
                texts = site.read(number).page.block_texts()
                text = "\n".join(compress(texts, marks.content(texts) == 1))
                kind = _KIND_OF.get(marks.kind, marks.kind)
                gold = GoldPage(f"{site.name}/{name}", text, kind, None, url, (), ())
                found.append(GoldExample(gold, site.folder / name, site.name, "whole sites", marks))
    return found


# Copies of gold pages in the markup of other times: what is learned must not lean on how today's pages are written.
#
# Gold pages are of recent years. Without copies, models that were trained on them keep too much of pages whose elements
# have no telling names, or that were laid out with tables.

Style = Literal["unnamed", "plain", "tables"]

STYLES: Final[tuple[Style, ...]] = get_args(Style)
"""Attributes that name elements are gone; elements of HTML5 are ``div`` besides; some of these are tables besides."""

_TABLES: Final = 0.3  # fraction of the containers that become tables
_KEPT: Final = frozenset(
    (
        *("alt", "charset", "colspan", "content", "dir", "hidden", "href", "http-equiv", "lang"),
        *("name", "property", "rel", "rowspan", "src", "style", "type"),
    )
)
_OF_META: Final = frozenset({"name", "property"})
_CONTAINERS: Final = frozenset(
    (
        *("article", "aside", "details", "figcaption", "figure", "footer", "header", "hgroup", "main"),
        *("nav", "section", "summary"),
    )
)


def parse_with_copy(example: GoldExample) -> list[Page]:
    """Parse a gold page, and a copy of it in another style; there are none of a page above the caps."""
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
    if style != "unnamed":
        for element in elements:
            if element.tag in _CONTAINERS:
                element.tag = "div"
            elif element.tag == "time":
                element.tag = "span"
    if style == "tables":
        chance = np.random.default_rng(len(elements)).random(len(elements))
        for element in compress(elements, chance < _TABLES):
            if element.tag == "div" and len(element) and element is not root:
                _wrap_in_table(element)
    return root


def _remove_names(element: etree._Element) -> None:
    for name in element.attrib:
        if name not in _KEPT or (name in _OF_META and element.tag != "meta"):
            with suppress(ValueError):  # a name that lxml gives out and does not take back
                del element.attrib[name]


def _wrap_in_table(element: etree._Element) -> None:
    cell = etree.Element("td")
    cell.text, element.text = element.text, None
    cell.extend(list(element))
    etree.SubElement(element, "tr").append(cell)
    element.tag = "table"
