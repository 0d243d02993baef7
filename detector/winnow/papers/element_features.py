"""Features of the elements of a page that are not hidden: a row per element, a column per :data:`NODE_FEATURES`.

From "Page-level Template Detection via Isotonic Smoothing" (section 5.2) and "Site-Independent Template-Block
Detection" (section 3).
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from winnow.page.tags import TAG_ID, TAG_NAMES, tag_set
from winnow.page.text import UNSPACED_RUN, TextStatistics
from winnow.page.tree import linked_runs, prefix_sums, within
from winnow.papers.geometry import layout

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from winnow.page.page import Page

    Floats = NDArray[np.float64]
    Counts = NDArray[np.int64]


_LINK: Final = tag_set("a", "area")
_NO_ADDRESS: Final = ("#", "javascript:", "mailto:", "tel:", "data:")
_MAX_WORDS: Final = 8  # of a title
_MIN_WORD_LENGTH: Final = 4  # characters; shorter ones are mostly function words
_WORD: Final = re.compile(r"[^\W\d_]+")
_NAME_LENGTH: Final = np.array([2 * len(name or "unknown") + 5 for name in TAG_NAMES], np.int64)  # <name></name>


def find_links(page: Page) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """bool[n] twice, links to other pages, and those of them to the same site; jumps and scripts are none.

    Relative links are in-site. Others are when their host is that of the page's address or of its canonical link or,
    where neither is known, the host that most links name.
    """
    link, in_site = np.zeros(page.n, bool), np.zeros(page.n, bool)
    tag = page.tag.tolist()
    hosts: dict[int, str] = {}
    own = {_host(page.url or "")}
    for index, address in page.attribute("href").items():
        if _LINK[tag[index]] and not address.startswith(_NO_ADDRESS):
            link[index] = True
            hosts[index] = _host(address)
        elif tag[index] == TAG_ID["link"] and ("rel", "canonical") in page.attributes[index]:
            own.add(_host(address))
    named = Counter(filter(None, hosts.values())).most_common(1)
    own = own - {""} or {host for host, _ in named}
    for index, host in hosts.items():
        in_site[index] = not host or host in own
    return link, in_site


def _host(address: str) -> str:
    """Lower-case host of an absolute address, ``www.`` left out; empty for relative ones."""
    scheme, separator, rest = address.partition("//")
    if not separator or scheme not in {"http:", "https:", ""}:
        return ""
    return rest.partition("/")[0].lower().removeprefix("www.")


def title_words(page: Page) -> Counts:
    """int64[w, r + 1], running totals over the runs of occurrences of the w different words of the title, at most 8."""
    words: dict[str, None] = {}
    for match in _WORD.finditer(page.title.lower()):
        if UNSPACED_RUN.fullmatch(word := match[0]):
            words.update((word[k : k + 2], None) for k in range(0, len(word) - 1, 2))
        elif len(word) >= _MIN_WORD_LENGTH:
            words[word] = None
    lowered = page.text.lower()
    text = lowered if len(lowered) == len(page.text) else page.text  # a few letters change length, offsets must not
    totals = np.zeros((min(len(words), _MAX_WORDS), len(page.runs) + 1), np.int64)
    for row, word in zip(totals, words, strict=False):
        positions = [match.start() for match in re.finditer(re.escape(word), text)]
        runs = page.run_offset.searchsorted(positions, side="right") - 1
        row[1:] = np.cumsum(np.bincount(runs, minlength=len(page.runs)))
    return totals


class Measures:
    """Everything that the features of elements are computed from, measured once per page.

    Sums over subtrees are int64[v], one for each of the page's v elements that are not hidden; the first is the root,
    whose sums are those of the page.

    Attributes:
        page, statistics, geometry: the page, its text statistics and its boxes.
        elements: int64[v], indices of the elements that are not hidden, and of the root whatever its size.
        characters, words: visible characters and words.
        linked_characters: visible characters inside anchors.
        link_count, in_site_count: links, and those to the same site.
        markup_length: characters of HTML source of tags and attributes, text not included.
        block_count: text blocks.
        title_words: occurrences of title words.
        title_covered: float64[v], fraction of the title's different words that occur, 0 without a title.
        text_before, text_after: float64[v], fraction of the page's characters before and after each element.
        sibling_number: elements before each one under the same parent.
    """

    def __init__(self, page: Page) -> None:
        statistics = TextStatistics.of(page)
        self.page, self.statistics, self.geometry = page, statistics, layout(page, statistics)
        visible = ~self.geometry.hidden[: page.n]
        visible[0] = True
        self.elements = elements = np.flatnonzero(visible)
        self._end = page.end[elements]
        self._run_begin, self._run_end = page.run_begin[elements], page.run_end[elements]
        self.characters, self.words = self.total(statistics.characters), self.total(statistics.words)
        self.linked_characters = self.total(statistics.only(statistics.characters, linked_runs(page)))
        self.link_count, self.in_site_count = map(self.count, find_links(page))
        self.markup_length = self.count(page.attributes.markup_length() + _NAME_LENGTH[page.tag])
        self.block_count = page.block_end[elements].astype(np.int64) - page.block_begin[elements]
        titles = title_words(page)
        hits = titles[:, self._run_end] - titles[:, self._run_begin]
        self.title_words, self.title_covered = hits.sum(axis=0), (hits > 0).sum(axis=0) / max(len(hits), 1)
        all_characters = max(int(statistics.characters[-1]), 1)
        self.text_before = statistics.characters[self._run_begin] / all_characters
        self.text_after = 1 - statistics.characters[self._run_end] / all_characters
        order = np.argsort(page.parent, kind="stable")
        sorted_parent = page.parent[order]
        number = np.empty(page.n, np.int64)
        number[order] = np.arange(page.n) - sorted_parent.searchsorted(sorted_parent)
        self.sibling_number = number[elements]

    def total(self, prefix: Counts) -> Counts:
        """int64[v], part of a running total over text runs that lies in each subtree."""
        return prefix[self._run_end] - prefix[self._run_begin]

    def count(self, per_element: NDArray[np.generic]) -> Counts:
        """int64[v], sums over each subtree of an integer or boolean per element of the page."""
        sums = prefix_sums(per_element)
        return sums[self._end] - sums[self.elements]


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
    Feature("title_covered", "of title words", SMOOTHING, lambda m: m.title_covered),
    Feature("title_words", "title words a word", SMOOTHING,
            lambda m: np.minimum(m.title_words / np.maximum(m.words, 1), 1)),
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
