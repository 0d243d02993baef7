"""Features of the elements of a page that are not hidden: a row per element, a column per :data:`NODE_FEATURES`.

From "Page-level Template Detection via Isotonic Smoothing" (section 5.2) and "Site-Independent Template-Block
Detection" (section 3).
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from winnow.page.tags import TAG_ID, TAG_NAMES, tag_set
from winnow.page.text import UNSPACED_RUN, TextStatistics
from winnow.page.tree import linked_runs, prefix_sums, within
from winnow.papers.geometry import Attributes, Geometry, layout

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from winnow.page.page import Page

    Floats = NDArray[np.float64]
    Counts = NDArray[np.int64]


# Which elements are links, and which of them stay on the site.

_LINK: Final = tag_set("a", "area")
_NO_ADDRESS: Final = ("#", "javascript:", "mailto:", "tel:", "data:")


@dataclass(frozen=True, eq=False, slots=True)
class Links:
    """Links of a page to other pages; jumps within the page and scripts are none.

    Attributes:
        link: bool[n], the element is a link.
        in_site: bool[n], the element is a link to a page of the same site.
    """

    link: NDArray[np.bool_]
    in_site: NDArray[np.bool_]

    @classmethod
    def of(cls, page: Page, attributes: Attributes) -> Links:
        """Find the links of a page.

        Relative links are in-site. Others are when their host is that of the page's address or of its canonical link
        or, where neither is known, the host that most links name.
        """
        link, in_site = np.zeros(page.n, bool), np.zeros(page.n, bool)
        tag = page.tag.tolist()
        hosts: dict[int, str] = {}
        for index, address in attributes.href.items():
            if _LINK[tag[index]] and not address.startswith(_NO_ADDRESS):
                link[index] = True
                host = _host(address)
                if host:
                    hosts[index] = host
                else:
                    in_site[index] = True
        own = _own_hosts(page, attributes) or {host for host, _ in Counter(hosts.values()).most_common(1)}
        for index, host in hosts.items():
            in_site[index] = host in own
        return cls(link, in_site)


def _own_hosts(page: Page, attributes: Attributes) -> set[str]:
    canonical = (
        address
        for index, address in attributes.href.items()
        if page.tag[index] == TAG_ID["link"] and ("rel", "canonical") in page.attributes[index]
    )
    return {host for host in map(_host, (page.url or "", *canonical)) if host}


def _host(address: str) -> str:
    """Lower-case host of an absolute address, ``www.`` left out; empty for relative ones."""
    scheme, separator, rest = address.partition("//")
    if not separator or scheme not in {"http:", "https:", ""}:
        return ""
    return rest.partition("/")[0].lower().removeprefix("www.")


# Where the words of a page's title turn up in its text.

_MAX_WORDS: Final = 8
_MIN_WORD_LENGTH: Final = 4  # characters; shorter ones are mostly function words
_WORD: Final = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, eq=False, slots=True)
class TitleWords:
    """Occurrences of the w different words of a title.

    Attributes:
        totals: int64[w, r + 1], running totals over the text runs; w is 0 for a page without a title.
    """

    totals: NDArray[np.int64]

    @classmethod
    def of(cls, page: Page) -> TitleWords:
        """Look for the words of the title, at most 8 of them, in the text of the page, lower-cased."""
        words = _words(page.title.lower())
        lowered = page.text.lower()
        text = lowered if len(lowered) == len(page.text) else page.text  # a few letters change length, offsets must not
        found = [_positions(text, word) for word in words]
        positions = np.fromiter(chain.from_iterable(found), np.int64)
        word = np.repeat(np.arange(len(words)), [len(each) for each in found])
        runs = page.run_offset.searchsorted(positions, side="right") - 1
        r = len(page.runs)
        totals = np.zeros((len(words), r + 1), np.int64)
        counts = np.bincount(word * r + runs, minlength=len(words) * r).reshape(len(words), r)
        np.cumsum(counts, axis=1, out=totals[:, 1:])
        return cls(totals)

    def between(self, run_begin: NDArray[np.int32], run_end: NDArray[np.int32]) -> tuple[Floats, Floats]:
        """Count title words in slices of the runs (int32[k] each).

        Returns:
            float64[k] occurrences, and float64[k] share of the title's different words that occur, 0 without a title.
        """
        hits = self.totals[:, run_end] - self.totals[:, run_begin]
        return hits.sum(axis=0).astype(np.float64), (hits > 0).sum(axis=0) / max(len(hits), 1)


def _words(title: str) -> list[str]:
    found: dict[str, None] = {}
    for match in _WORD.finditer(title):
        word = match[0]
        if UNSPACED_RUN.fullmatch(word):
            found.update((word[k : k + 2], None) for k in range(0, len(word) - 1, 2))
        elif len(word) >= _MIN_WORD_LENGTH:
            found[word] = None
    return list(found)[:_MAX_WORDS]


def _positions(text: str, word: str) -> list[int]:
    positions = []
    at = text.find(word)
    while at >= 0:
        positions.append(at)
        at = text.find(word, at + len(word))
    return positions


# Everything that the features of elements are computed from, measured once per page.

_NAME_LENGTH: Final = np.array([2 * len(name or "unknown") + 5 for name in TAG_NAMES], np.int64)  # <name></name>


@dataclass(frozen=True, eq=False)
class Measures:
    """A page with its text statistics, attributes, geometry and links, and their sums over subtrees.

    Sums are int64[v], one for each of the page's v elements that are not hidden; the first is the root, whose sums are
    those of the page.
    """

    page: Page
    statistics: TextStatistics
    attributes: Attributes
    geometry: Geometry
    links: Links

    @classmethod
    def of(cls, page: Page) -> Measures:
        """Measure a page."""
        statistics, attributes = TextStatistics.of(page), Attributes.of(page)
        geometry = layout(page, statistics, attributes)
        return cls(page, statistics, attributes, geometry, Links.of(page, attributes))

    @cached_property
    def elements(self) -> Counts:
        """int64[v], indices of the elements that are not hidden, and of the root whatever its size."""
        visible = ~self.geometry.hidden[: self.page.n]
        visible[0] = True
        return np.flatnonzero(visible)

    @cached_property
    def title_words(self) -> tuple[Floats, Floats]:
        """float64[v] occurrences of title words, and float64[v] share of the title's different words that occur."""
        return TitleWords.of(self.page).between(self._run_begin, self._run_end)

    @cached_property
    def characters(self) -> Counts:
        """Visible characters."""
        return self.total(self.statistics.characters)

    @cached_property
    def words(self) -> Counts:
        """Words."""
        return self.total(self.statistics.words)

    @cached_property
    def linked_characters(self) -> Counts:
        """Visible characters inside anchors."""
        return self.total(self.statistics.only(self.statistics.characters, linked_runs(self.page)))

    @cached_property
    def link_count(self) -> Counts:
        """Links."""
        return self.count(self.links.link)

    @cached_property
    def in_site_count(self) -> Counts:
        """Links to the same site."""
        return self.count(self.links.in_site)

    @cached_property
    def markup_length(self) -> Counts:
        """Characters of HTML source of tags and attributes, text not included."""
        return self.count(self.attributes.markup_length + _NAME_LENGTH[self.page.tag])

    @cached_property
    def block_count(self) -> Counts:
        """Text blocks."""
        return self.page.block_end[self.elements].astype(np.int64) - self.page.block_begin[self.elements]

    @cached_property
    def text_before(self) -> Floats:
        """float64[v], share of the page's characters before each element."""
        return self.statistics.characters[self._run_begin] / max(int(self.statistics.characters[-1]), 1)

    @cached_property
    def text_after(self) -> Floats:
        """float64[v], share of the page's characters after each element."""
        return 1 - self.statistics.characters[self._run_end] / max(int(self.statistics.characters[-1]), 1)

    @cached_property
    def sibling_number(self) -> Counts:
        """int64[v], elements before each one under the same parent."""
        parent = self.page.parent
        order = np.argsort(parent, kind="stable")
        sorted_parent = parent[order]
        number = np.empty(self.page.n, np.int64)
        number[order] = np.arange(self.page.n) - sorted_parent.searchsorted(sorted_parent)
        return number[self.elements]

    def total(self, prefix: Counts) -> Counts:
        """int64[v], share of a running total over text runs that lies in each subtree."""
        return prefix[self._run_end] - prefix[self._run_begin]

    def count(self, per_element: NDArray[np.generic]) -> Counts:
        """int64[v], sums over each subtree of an integer or boolean per element of the page."""
        sums = prefix_sums(per_element)
        return sums[self._end] - sums[self.elements]

    @cached_property
    def _end(self) -> NDArray[np.int32]:
        return self.page.end[self.elements]

    @cached_property
    def _run_begin(self) -> NDArray[np.int32]:
        return self.page.run_begin[self.elements]

    @cached_property
    def _run_end(self) -> NDArray[np.int32]:
        return self.page.run_end[self.elements]


# Features of the elements of a page that are not hidden: a row per element, a column per :data:`NODE_FEATURES`.


SMOOTHING: Final = "page-level isotonic smoothing, 5.2"
BLOCK: Final = "site-independent template blocks, 3 (4), block"
RELATIVE: Final = "site-independent template blocks, 3 (4), relative"
POSITION: Final = "site-independent template blocks, 3 (4), position"


class Feature(NamedTuple):
    """A feature: its name, its unit, the paper and section it is from, and how it is computed from the measures."""

    name: str
    unit: str
    source: str
    compute: Callable[[Measures], Floats]


def node_features(measures: Measures) -> NDArray[np.float32]:
    """float32[v, len(NODE_FEATURES)], features of the elements ``measures.elements``, all finite."""
    values = np.empty((len(NODE_FEATURES), len(measures.elements)), np.float32)
    for row, feature in zip(values, NODE_FEATURES, strict=True):
        row[:] = feature.compute(measures)
    return values.T


def _number_of(*names: str) -> Callable[[Measures], Floats]:
    """Logarithm of the number of elements of some tags in the subtree."""
    table = tag_set(*names)
    return lambda m: np.log1p(m.count(table[m.page.tag]))


def _inside(*names: str) -> Callable[[Measures], Floats]:
    """Whether the element is one of some tags or below one."""
    table = tag_set(*names)
    return lambda m: within(m.page, table[m.page.tag])[m.elements].astype(float)


def _holds(*names: str) -> Callable[[Measures], Floats]:
    """Whether the element is one of some tags or has one inside."""
    table = tag_set(*names)
    return lambda m: (m.count(table[m.page.tag]) > 0).astype(float)


def _per_character(prefix: str) -> Callable[[Measures], Floats]:
    return lambda m: m.total(getattr(m.statistics, prefix)) / np.maximum(m.characters, 1)


def _per_word(prefix: str) -> Callable[[Measures], Floats]:
    return lambda m: m.total(getattr(m.statistics, prefix)) / np.maximum(m.words, 1)


def _share(sums: str) -> Callable[[Measures], Floats]:
    """Share of the page's total that is in the subtree."""

    def compute(m: Measures) -> Floats:
        values: Floats = getattr(m, sums)
        return values / max(int(values[0]), 1)

    return compute


def _vertical_position(m: Measures) -> Floats:
    middle = m.geometry.y[m.elements] + m.geometry.height[m.elements] / 2
    return middle / m.geometry.page_height


def _divergence(m: Measures) -> Floats:
    """Kullback-Leibler divergence of the kinds of characters inside the element from those in the rest of the page."""
    s = m.statistics
    kinds = (s.letters - s.upper_case, s.upper_case, s.digits, s.commas, s.sentence_ends, s.symbols)
    inside = np.array([m.total(kind) for kind in kinds]) + 0.5
    outside = inside[:, :1] + 1 - inside
    inside /= inside.sum(axis=0)
    outside /= outside.sum(axis=0)
    return np.asarray((inside * np.log(inside / outside)).sum(axis=0))


# fmt: off
NODE_FEATURES: Final[tuple[Feature, ...]] = (
    Feature("top_margin", "log px", SMOOTHING, lambda m: np.log1p(m.geometry.y[m.elements])),
    Feature("bottom_margin", "log px", SMOOTHING, lambda m: np.log1p(m.geometry.bottom_distance[m.elements])),
    Feature("side_margin", "page widths", SMOOTHING, lambda m: m.geometry.side_distance[m.elements]),
    Feature("centre_distance", "half page sizes", SMOOTHING, lambda m: m.geometry.centre_distance[m.elements]),
    Feature("vertical_position", "page heights", SMOOTHING, _vertical_position),
    Feature("area", "log px²", SMOOTHING, lambda m: np.log1p(m.geometry.area[m.elements])),
    Feature("area_share", "of the page", SMOOTHING, lambda m: m.geometry.area[m.elements] / max(m.geometry.area[0], 1)),
    Feature("links_per_word", "links a word", SMOOTHING, lambda m: m.link_count / (m.words + 1)),
    Feature("anchor_text_share", "of characters", SMOOTHING,
            lambda m: m.linked_characters / np.maximum(m.characters, 1)),
    Feature("anchor_size", "log characters a link", SMOOTHING,
            lambda m: np.log1p(m.linked_characters / np.maximum(m.link_count, 1))),
    Feature("in_site_links", "of links", SMOOTHING, lambda m: m.in_site_count / np.maximum(m.link_count, 1)),
    Feature("has_links", "0 or 1", SMOOTHING, lambda m: (m.link_count > 0).astype(float)),
    Feature("visible_per_html", "of source characters", SMOOTHING,
            lambda m: m.characters / (m.characters + m.markup_length)),
    Feature("title_covered", "of title words", SMOOTHING, lambda m: m.title_words[1]),
    Feature("title_words", "title words a word", SMOOTHING,
            lambda m: np.minimum(m.title_words[0] / np.maximum(m.words, 1), 1)),
    Feature("words", "log words", BLOCK, lambda m: np.log1p(m.words)),
    Feature("words_per_block", "log words a text block", BLOCK,
            lambda m: np.log1p(m.words / np.maximum(m.block_count, 1))),
    Feature("word_length", "characters", BLOCK, lambda m: np.minimum(m.characters / np.maximum(m.words, 1), 20)),
    Feature("sentence_length", "log words", BLOCK,
            lambda m: np.log1p(m.words / (m.total(m.statistics.sentence_ends) + 1))),
    Feature("commas", "a word", BLOCK, _per_word("commas")),
    Feature("sentence_ends", "a word", BLOCK, _per_word("sentence_ends")),
    Feature("digits", "of characters", BLOCK, _per_character("digits")),
    Feature("upper_case", "of characters", BLOCK, _per_character("upper_case")),
    Feature("symbols", "of characters", BLOCK, _per_character("symbols")),
    Feature("links", "log links", BLOCK, lambda m: np.log1p(m.link_count)),
    Feature("elements", "log elements", BLOCK, lambda m: np.log(m.page.end[m.elements] - m.elements)),
    Feature("formatting", "log elements", BLOCK, _number_of("b", "strong", "i", "em", "u", "mark", "code")),
    Feature("images", "log elements", BLOCK, _number_of("img", "picture", "svg", "video")),
    Feature("paragraphs", "log elements", BLOCK, _number_of("p", "blockquote", "pre")),
    Feature("headings", "log elements", BLOCK, _number_of("h1", "h2", "h3", "h4", "h5", "h6")),
    Feature("list_items", "log elements", BLOCK, _number_of("li", "dt", "dd")),
    Feature("table_cells", "log elements", BLOCK, _number_of("td", "th")),
    Feature("controls", "log elements", BLOCK, _number_of("input", "button", "select", "textarea", "option")),
    Feature("in_paragraph", "0 or 1", BLOCK, _inside("p", "blockquote", "pre")),
    Feature("in_heading", "0 or 1", BLOCK, _inside("h1", "h2", "h3", "h4", "h5", "h6")),
    Feature("in_list", "0 or 1", BLOCK, _inside("ul", "ol", "dl", "menu")),
    Feature("in_table", "0 or 1", BLOCK, _inside("td", "th")),
    Feature("in_banner", "0 or 1", BLOCK, _inside("nav", "header", "footer", "aside", "form")),
    Feature("in_main", "0 or 1", BLOCK, _inside("main", "article")),
    Feature("has_main", "0 or 1", BLOCK, _holds("main", "article", "h1")),
    Feature("share_of_words", "of the page", RELATIVE, _share("words")),
    Feature("share_of_links", "of the page", RELATIVE, _share("link_count")),
    Feature("share_of_anchor_text", "of the page", RELATIVE, _share("linked_characters")),
    Feature("divergence", "nats", RELATIVE, _divergence),
    Feature("depth", "levels", POSITION, lambda m: m.page.depth[m.elements].astype(float)),
    Feature("sibling_number", "log siblings", POSITION, lambda m: np.log1p(m.sibling_number)),
    Feature("text_before", "of the page", POSITION, lambda m: m.text_before),
    Feature("text_after", "of the page", POSITION, lambda m: m.text_after),
)
"""The features, in the order of the columns."""
# fmt: on
