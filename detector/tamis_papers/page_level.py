"""Chakrabarti, Kumar and Punera, "Page-level Template Detection via Isotonic Smoothing" (WWW 2007).

Site-level labels (sections 3 and 5.1), the logistic regressions for four sizes of nodes (section 5.2), and what hidden
nodes and sections cost the smoother (section 5.3). The smoother itself is :mod:`tamis.smoothing`, the features are in
:mod:`tamis_papers.element_features`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final, Self

import numpy as np

from tamis.counting import MIN_DF, MIN_PAGES, THETA, countable
from tamis.fingerprints import node_fingerprints
from tamis.models import Scores, logistic
from tamis.models.decision import KindInputs, PageDecision
from tamis.models.files import ModelError, fingerprint_of, read_model_file, required_array, write_model_file
from tamis.page.text import block_words
from tamis.page.tree import IS_BLOCK_LEVEL, nearest, runs_of_blocks, subtree_sums, sums_over_runs, tag_set, within
from tamis.smoothing import smooth
from tamis_papers.element_features import NODE_FEATURES, Measures, node_features
from tamis_papers.pages import (
    HashCounts,
    Labels,
    Learned,
    SiteMethod,
    count_hashes,
    html_lengths,
    parameter,
    text_fingerprints,
)

if TYPE_CHECKING:
    from tamis.arrays import Flags, Floats, Integers, Singles
    from tamis.folders import SitePage, SitePages
    from tamis.page.page import Page


@dataclass(frozen=True)
class SiteLevel(SiteMethod):
    """Units that at least a tenth of the pages share, by their markup with volatile parts normalised or by their text.

    Paper: Chakrabarti, Kumar and Punera, "Page-level Template Detection via Isotonic Smoothing" (WWW 2007), sections 3
    and 5.1. It is what a crawl counts in Redis, here in memory and exactly.

    Cost: two parses and two sets of fingerprints for each page; 16 bytes of memory for each unit of each page.

    When to use: first. It needs no settings, and is the teacher of the package's own model.
    """

    name: ClassVar[str] = "site-level"

    theta: float = parameter(THETA, "least share of the pages that have a unit", "share, 0 to 1", least=0.001, most=1)
    min_pages: int = parameter(MIN_PAGES, "different pages below which nothing is labelled", "pages", least=2)
    min_df: int = parameter(MIN_DF, "pages that have to share a unit, however few there are", "pages", least=2)
    printed: bool = parameter(False, "the 85% rule as printed: by HTML alone, and for html and body, too")

    def learn(self, pages: SitePages) -> Learned:
        """Count the units of all pages with different text.

        Raises:
            SiteError: there are fewer than ``min_pages``.
        """
        counts, numbers = count_hashes(
            pages, lambda page: np.append(node_fingerprints(page), text_fingerprints(page)), self.min_pages
        )
        return Learned(len(numbers), partial(self._label, counts), [numbers])

    def _label(self, counts: HashCounts, read: SitePage) -> Labels:
        """Label a page: template is what many pages have, by markup or by text, content what no other page has."""
        page = read.page
        markup_df, text_df = (counts.df(fingerprints(page)) for fingerprints in (node_fingerprints, text_fingerprints))
        df = np.maximum(markup_df, text_df)
        template = site_level_templates(page, df, counts.pages, self.theta, self.min_df, printed=self.printed)
        return Labels(template, countable(page) & (text_df == 1))


_HTML_FRACTION: Final = 0.85


def site_level_templates(
    page: Page, df: Integers, pages: int, theta: float = THETA, min_df: int = MIN_DF, *, printed: bool = False
) -> Flags:
    """bool[n + m], the units of a page that are template according to its site, elements first.

    A unit is template if it is countable and occurs on at least ``theta`` of the pages; so is everything inside it, and
    so are elements with over 85% of their HTML (tags, attributes and text, in characters) in such units (section 5.1),
    but not everything inside those. We narrow this last rule: it leaves out ``html``, ``body`` and elements with over
    15% of their text not repeated, since on pages of much markup and few words it labels the element around the whole
    page (122 of 880).

    Args:
        page: the page.
        df: int64[n + m], pages of the host that contain each unit.
        pages: pages of the host that were counted.
        theta: minimum fraction of pages (0.10 in section 5.1).
        min_df: minimum number of pages, whatever ``theta`` is.
        printed: do not narrow the rule.
    """
    repeated = countable(page) & (df >= max(theta * pages, min_df))
    elements = within(page, repeated[: page.n])
    blocks = repeated[page.n :] | elements[page.block_node]
    repeated_run = elements[page.run_node] | runs_of_blocks(page, blocks)

    markup, text = html_lengths(page)
    all_text, repeated_text = sums_over_runs(page, text), sums_over_runs(page, text * repeated_run)
    elements |= ~IS_BLOCK_LEVEL[page.tag] & (all_text > 0) & (repeated_text == all_text)  # inside a repeated block
    all_markup, repeated_markup = subtree_sums(page, markup), subtree_sums(page, markup * elements)
    mostly = repeated_markup + repeated_text > _HTML_FRACTION * (all_markup + all_text)
    mostly &= printed | (~tag_set("html", "body")[page.tag] & (repeated_text >= _HTML_FRACTION * all_text))
    return np.concatenate([elements | mostly, blocks])


# Section 5.3: what a section costs at each node, for the smoother.

SCALE: Final = 0.01
"""The paper's constant c, in units of score times weight."""

PENALTIES: Final = ("nodes", "area", "parent")
"""The three penalties of section 5.3, in its order."""


def section_penalty(page: Page, area: Floats, rule: str = "area", c: float = SCALE) -> Floats:
    """float64[n], what a section costs that starts at each element.

    It is ``c * N / N(i)`` by the nodes of the page and of the subtree, ``c * A / A(i)`` by their areas, and
    ``c * A(parent) / A(i)`` by that of the parent; the root is its own parent. By the first two small and deep nodes do
    not easily start sections, by the third those that fill their parents. Without any area, it is infinite.

    Args:
        page: the page.
        area: float64[n], area of every element in px².
        rule: one of :data:`PENALTIES`.
        c: the factor.
    """
    own = (page.end - np.arange(page.n)).astype(np.float64) if rule == "nodes" else area
    whole = own[np.maximum(page.parent, 0)] if rule == "parent" else np.full(page.n, own[0])
    penalty = np.full(page.n, np.inf)
    with np.errstate(over="ignore"):  # next to no area is as good as none
        np.divide(c * whole, own, out=penalty, where=own > 0)
    return penalty


# Section 5.2: the page-level classifier, a logistic regression for each of four sizes of nodes.

AREA_BOUNDS: Final = (20_000.0, 100_000.0, 400_000.0)
"""Areas in px² that divide the nodes among the four regressions."""

LOGISTIC: Final = "logistic"
BUCKETS: Final = len(AREA_BOUNDS) + 1


def bucket_of(area: Floats) -> Integers:
    """int64, number of the regression for nodes of each area in px², 0 to 3."""
    return np.asarray(AREA_BOUNDS).searchsorted(area, side="right")


_BY_SIZE: Final = (BUCKETS, len(NODE_FEATURES))
_NO_INPUTS: Final = KindInputs(np.empty(0), np.empty(0, np.int64))  # this model tells no kinds of pages apart
_SHAPES: Final = {"low": _BY_SIZE, "high": _BY_SIZE, "weight": _BY_SIZE, "intercept": (BUCKETS,)}


@dataclass(eq=False)
class LogisticModel:
    """Four logistic regressions over :data:`~tamis_papers.element_features.NODE_FEATURES` (k), as plain arrays.

    Attributes:
        low, high, weight, intercept: float64[4, k] bounds that values are clipped to, float64[4, k], float64[4].
        penalty, c: what sections cost, one of :data:`PENALTIES`, and the factor on it; not stored in the file.
        name: the kind of model.
        shipped: the weights that come with the package.
    """

    low: Floats
    high: Floats
    weight: Floats
    intercept: Floats
    penalty: str = "area"
    c: float = SCALE
    name: ClassVar[str] = LOGISTIC
    shipped: ClassVar[Path] = Path(__file__).parent / "weights" / f"{LOGISTIC}.npz"

    def __repr__(self) -> str:
        return f"<LogisticModel {self.version}>"

    @cached_property
    def version(self) -> str:
        """Identifier of the weights."""
        penalty = "" if (self.penalty, self.c) == ("area", SCALE) else f"-{self.penalty}-{self.c:g}"
        return f"{LOGISTIC}-{fingerprint_of(self._arrays)}{penalty}"

    @property
    def _arrays(self) -> dict[str, Floats]:
        return {name: getattr(self, name) for name in _SHAPES}

    def score(self, page: Page) -> Scores:
        """Score the elements of a page that are not hidden; hidden ones count for the nearest visible one around them.

        Text blocks have no score of their own and take that of the element around them.
        """
        measures, units = Measures(page), page.n + page.m
        elements, area = measures.elements, measures.area
        visible, templateness, penalty = np.zeros(units, bool), np.zeros(units), np.zeros(units)
        visible[elements] = True
        templateness[elements] = self.probability(node_features(measures), area[elements])
        penalty[: page.n] = section_penalty(page, area, self.penalty, self.c)
        around = nearest(page.parent, visible[: page.n])
        decision = PageDecision(None, _NO_INPUTS, block_words(page), templateness[around[page.block_node]], page.url)
        return Scores(templateness, np.bincount(around, minlength=units), visible, penalty, decision)

    def content_probability(self, page: Page) -> Floats:
        """float64[m], probability that each block is content, by the smoothed scores."""
        return 1 - smooth(page.unit_parent, self.score(page)).value[page.n :]

    def probability(self, values: Singles, area: Floats) -> Floats:
        """float64[rows], probability of template for float32[rows, k] features and float64[rows] areas in px²."""
        bucket = bucket_of(area)
        logit = np.empty(len(values))
        for number in range(BUCKETS):
            rows = bucket == number
            clipped = np.clip(values[rows], self.low[number], self.high[number])
            logit[rows] = (clipped * self.weight[number]).sum(axis=1) + self.intercept[number]
        return logistic(logit)

    def save(self, path: Path) -> None:
        """Write the model to a file."""
        header = {"name": self.name, "features": list(NODE_FEATURES), "area_bounds": list(AREA_BOUNDS)}
        write_model_file(path, header, self._arrays)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a model written by :meth:`save`.

        Raises:
            FileNotFoundError: there is no such file.
            ModelError: the file is alien or damaged, or made for other features than this version computes.
        """
        header, arrays = read_model_file(path)
        if header.get("name") != LOGISTIC:
            raise ModelError(f"{path}: a model of the kind {header.get('name')!r}, not {LOGISTIC!r}")
        if header.get("features") != list(NODE_FEATURES) or header.get("area_bounds") != list(AREA_BOUNDS):
            raise ModelError(
                f"{path}: made for other features than this version of the package computes; train it again"
            )
        low, high, weight, intercept = (required_array(arrays, name, *shape) for name, shape in _SHAPES.items())
        return cls(low, high, weight, intercept)
