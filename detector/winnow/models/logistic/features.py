"""Features of the elements of a page that are not hidden: a row per element, a column per :data:`NODE_FEATURES`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from winnow.page.tags import tag_set
from winnow.page.tree import within

if TYPE_CHECKING:
    from collections.abc import Callable

    from winnow.models.logistic.measures import Measures

Floats = NDArray[np.float64]

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
