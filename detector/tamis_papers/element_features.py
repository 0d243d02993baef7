"""Features of the elements of a page that are not hidden: a row per element, a column per :data:`NODE_FEATURES`.

From "Page-level Template Detection via Isotonic Smoothing" (section 5.2), which annotates nodes with a real browser's
positions and areas, and "Site-Independent Template-Block Detection" (section 3).

Positions and areas are estimated here without a browser and without style sheets. The layout conserves area: text,
images and form controls take up an area, and an element is as high as the areas inside it need at the width of the
page. All quantities are then sums over subtrees or over paths to the root. Sizes are the browsers' defaults; letters
are a little smaller, as most style sheets make them. Menus and hidden parts are laid out as if they were shown: a model
that judges them by themselves is better than one that takes them for a part of what is around them. Margins, declared
sizes, and columns as far as markup tells of them are left out: with them the model had recall 0.82 of the template of
held-out sites at precision 0.90, without them 0.85; text F1 on WCXB 0.829 and 0.818, on ``articles`` 0.831 and 0.836.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final

import numpy as np

from tamis.page.addresses import domain
from tamis.page.text import UNSPACED_RUN, TextTotals, text_totals
from tamis.page.tree import (
    IS_BLOCK_LEVEL,
    TAG_ID,
    TAG_NAMES,
    linked_runs,
    path_sums,
    slice_sums,
    subtree_sums,
    sums_over_runs,
    tag_set,
    within,
)
from tamis_papers.pages import markup_length

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from tamis.arrays import Flags, Floats, Integers, Singles
    from tamis.page.page import Page


def find_links(page: Page) -> tuple[Flags, Flags]:
    """bool[n] twice, links to other pages, and those of them to the same site; jumps and scripts are none.

    Relative links are in-site. Others are when their host is that of the page's address or of its canonical link or,
    where neither is known, the host that most links name.
    """
    link, in_site = np.zeros(page.n, bool), np.zeros(page.n, bool)
    hosts: dict[int, str] = {}
    own = {domain(page.url or "")}
    for index, address in page.attribute("href").items():
        tag = TAG_NAMES[page.tag[index]]
        if tag in {"a", "area"} and not address.startswith(("#", "javascript:", "mailto:", "tel:", "data:")):
            link[index] = True
            hosts[index] = domain(address)
        elif tag == "link" and ("rel", "canonical") in page.attributes[index]:
            own.add(domain(address))
    named = Counter(filter(None, hosts.values())).most_common(1)
    own = own - {""} or {host for host, _ in named}
    for index, host in hosts.items():
        in_site[index] = not host or host in own
    return link, in_site


def title_words(page: Page) -> Integers:
    """int64[w, r + 1], running totals over the runs of occurrences of the w different words of the title, at most 8."""
    words: dict[str, None] = {}
    for match in re.compile(r"[^\W\d_]+").finditer(page.title.lower()):
        if UNSPACED_RUN.fullmatch(word := match[0]):
            words.update((word[k : k + 2], None) for k in range(0, len(word) - 1, 2))
        elif len(word) >= 4:  # shorter ones are mostly function words
            words[word] = None
    lowered = page.text.lower()
    text = lowered if len(lowered) == len(page.text) else page.text  # a few letters change length, offsets must not
    totals = np.zeros((min(len(words), 8), len(page.runs) + 1), np.int64)
    for row, word in zip(totals, words, strict=False):
        positions = [match.start() for match in re.finditer(re.escape(word), text)]
        runs = page.run_offset.searchsorted(positions, side="right") - 1
        row[1:] = np.cumsum(np.bincount(runs, minlength=len(page.runs)))
    return totals


def _by_tag(default: float, **values: float) -> Floats:
    table = np.full(len(TAG_NAMES), default, float)
    for name, value in values.items():
        table[TAG_ID[name]] = value
    return table


_LOG_FONT_SCALE: Final = np.log(  # of an element's letters, relative to its parent's
    _by_tag(1, h1=2, h2=1.5, h3=1.17, h5=0.83, h6=0.67, small=0.83, sub=0.83, sup=0.83, big=1.2, pre=0.81)
)
_AREA: Final = _by_tag(  # px² of images and form controls
    0, img=30_000, video=230_400, iframe=45_000, embed=45_000, object=45_000, canvas=45_000, svg=576, input=4_080,
    textarea=7_200, select=2_880, audio=16_200, button=384, progress=2_560, meter=1_280,
)  # fmt: skip

_PAGE_WIDTH: Final = 1024.0  # px
_LINE_HEIGHT: Final = 24.0  # px


def layout(page: Page, statistics: TextTotals) -> tuple[Floats, Floats, Floats]:
    """float64[n] each, top and bottom in px, and area in px² that the contents of every element of a page take up."""
    tag = page.tag
    scale = np.exp(np.clip(path_sums(page, _LOG_FONT_SCALE[tag]), -0.7, 1.1))
    characters = statistics.characters + statistics.words  # a space follows every word
    length = _sums_before(np.diff(characters) * 7.2 * scale[page.run_node])  # px, of a letter on average
    text_length = length[page.run_end] - length[page.run_begin]
    lines = np.ceil((length[page.block_run_end] - length[page.block_run_begin]) / _PAGE_WIDTH)
    before_block = _sums_before(lines * _LINE_HEIGHT * _PAGE_WIDTH * scale[page.block_node])
    before_element = _sums_before(_AREA[tag])
    own_area = before_element[page.end] - before_element[:-1]
    in_line = subtree_sums(page, IS_BLOCK_LEVEL[tag]) == 0
    text_area = before_block[page.block_end] - before_block[page.block_begin]
    area = np.where(in_line, text_length * 16.0 * scale, text_area) + own_area  # without the space between lines
    top = (before_block[page.block_begin] + before_element[:-1]) / _PAGE_WIDTH
    return top, top + area / _PAGE_WIDTH, area


def _sums_before(values: Floats) -> Floats:
    """float64[k + 1], sums of what comes before each of k values, and of all."""
    return np.append(0.0, np.cumsum(values))


HIDDEN_AREA: Final = 2000.0
"""Area in px² below which a node is hidden: neither classified nor smoothed (section 5.3)."""


class Measures:
    """Everything that the features of elements are computed from, measured once per page.

    Sums over subtrees are int64[v], one for each of the page's v elements that are not hidden; the first is the root,
    whose sums are those of the page.

    Attributes:
        page, statistics: the page and its text statistics.
        top, bottom, area, page_height: of every element, see :func:`layout`; in px.
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
        statistics = TextTotals(*text_totals(page).T)
        self.page, self.statistics = page, statistics
        self.top, self.bottom, self.area = layout(page, statistics)
        self.page_height = max(float(self.bottom[0]), _LINE_HEIGHT)
        visible = self.area >= HIDDEN_AREA
        visible[0] = True
        self.elements = elements = np.flatnonzero(visible)
        self._end = page.end[elements]
        self._run_begin, self._run_end = page.run_begin[elements], page.run_end[elements]
        self.characters, self.words = self.total(statistics.characters), self.total(statistics.words)
        self.linked_characters = sums_over_runs(page, np.diff(statistics.characters) * linked_runs(page))[elements]
        self.link_count, self.in_site_count = map(self.count, find_links(page))
        self.markup_length = self.count(markup_length(page))
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

    def total(self, prefix: Integers) -> Integers:
        """int64[v], part of a running total over text runs that lies in each subtree."""
        return prefix[self._run_end] - prefix[self._run_begin]

    def count(self, per_element: NDArray[np.generic]) -> Integers:
        """int64[v], sums over each subtree of an integer or boolean per element of the page."""
        return slice_sums(per_element, self.elements, self._end)


def node_features(measures: Measures) -> Singles:
    """float32[v, len(NODE_FEATURES)], features of the elements ``measures.elements``, all finite."""
    values = np.empty((len(NODE_FEATURES), len(measures.elements)), np.float32)
    for row, compute in zip(values, NODE_FEATURES.values(), strict=True):
        row[:] = compute(measures)
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


def _density(kind: str, unit: str) -> Callable[[Measures], Floats]:
    """Characters of a kind for each character or word."""
    return lambda m: m.total(getattr(m.statistics, kind)) / np.maximum(getattr(m, unit), 1)


def _share(sums: str) -> Callable[[Measures], Floats]:
    """Share of the page's total that is in the subtree."""
    return lambda m: getattr(m, sums) / max(int(getattr(m, sums)[0]), 1)


def _divergence(m: Measures) -> Floats:
    """Kullback-Leibler divergence of the kinds of characters inside the element from those in the rest of the page."""
    s = m.statistics
    kinds = (s.letters - s.upper_case, s.upper_case, s.digits, s.commas, s.sentence_ends, s.symbols)
    inside = np.array([m.total(kind) for kind in kinds]) + 0.5
    outside = inside[:, :1] + 1 - inside
    inside /= inside.sum(axis=0)
    outside /= outside.sum(axis=0)
    return np.asarray((inside * np.log(inside / outside)).sum(axis=0))


NODE_FEATURES: Final[dict[str, Callable[[Measures], Floats]]] = {
    # "Page-level Template Detection via Isotonic Smoothing", section 5.2.
    "top_margin": lambda m: np.log1p(m.top[m.elements]),  # log px
    "bottom_margin": lambda m: np.log1p(np.maximum(m.page_height - m.bottom[m.elements], 0)),  # log px
    "vertical_position": lambda m: (m.top + m.bottom)[m.elements] / (2 * m.page_height),
    "area": lambda m: np.log1p(m.area[m.elements]),  # log px²
    "area_share": lambda m: m.area[m.elements] / max(m.area[0], 1),
    "links_per_word": lambda m: m.link_count / (m.words + 1),
    "anchor_text_share": lambda m: m.linked_characters / np.maximum(m.characters, 1),
    "anchor_size": lambda m: np.log1p(m.linked_characters / np.maximum(m.link_count, 1)),
    "in_site_links": lambda m: m.in_site_count / np.maximum(m.link_count, 1),
    "has_links": lambda m: (m.link_count > 0).astype(float),
    "visible_per_html": lambda m: m.characters / (m.characters + m.markup_length),
    "title_covered": lambda m: m.title_covered,
    "title_words": lambda m: np.minimum(m.title_words / np.maximum(m.words, 1), 1),
    # "Site-Independent Template-Block Detection", section 3 (4): the block by itself,
    "words": lambda m: np.log1p(m.words),
    "words_per_block": lambda m: np.log1p(m.words / np.maximum(m.block_count, 1)),
    "word_length": lambda m: np.minimum(m.characters / np.maximum(m.words, 1), 20),  # characters
    "sentence_length": lambda m: np.log1p(m.words / (m.total(m.statistics.sentence_ends) + 1)),
    "commas": _density("commas", "words"),
    "sentence_ends": _density("sentence_ends", "words"),
    "digits": _density("digits", "characters"),
    "upper_case": _density("upper_case", "characters"),
    "symbols": _density("symbols", "characters"),
    "links": lambda m: np.log1p(m.link_count),
    "elements": lambda m: np.log(m.page.end[m.elements] - m.elements),
    "formatting": _number_of("b", "strong", "i", "em", "u", "mark", "code"),
    "images": _number_of("img", "picture", "svg", "video"),
    "paragraphs": _number_of("p", "blockquote", "pre"),
    "headings": _number_of("h1", "h2", "h3", "h4", "h5", "h6"),
    "list_items": _number_of("li", "dt", "dd"),
    "table_cells": _number_of("td", "th"),
    "controls": _number_of("input", "button", "select", "textarea", "option"),
    "in_paragraph": _inside("p", "blockquote", "pre"),
    "in_heading": _inside("h1", "h2", "h3", "h4", "h5", "h6"),
    "in_list": _inside("ul", "ol", "dl", "menu"),
    "in_table": _inside("td", "th"),
    "in_banner": _inside("nav", "header", "footer", "aside", "form"),
    "in_main": _inside("main", "article"),
    "has_main": _holds("main", "article", "h1"),
    # relative to the page,
    "share_of_words": _share("words"),
    "share_of_links": _share("link_count"),
    "share_of_anchor_text": _share("linked_characters"),
    "divergence": _divergence,  # nats
    # and its position.
    "depth": lambda m: m.page.depth[m.elements].astype(float),
    "sibling_number": lambda m: np.log1p(m.sibling_number),
    "text_before": lambda m: m.text_before,
    "text_after": lambda m: m.text_after,
}
"""The features and how each is computed, in the order of the columns."""
