"""Chakrabarti, Kumar and Punera, "Page-level Template Detection via Isotonic Smoothing" (WWW 2007).

Site-level labels (sections 3 and 5.1), the logistic regressions for four sizes of nodes (section 5.2), and what hidden
nodes and sections cost the smoother (section 5.3). The smoother itself is :mod:`winnow.smoothing`, the features are in
:mod:`winnow.papers.element_features`, positions and areas in :mod:`winnow.papers.geometry`.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, ClassVar, Final, Self

import numpy as np

from winnow.counting import MIN_DF, MIN_PAGES, THETA, LossyCounts, countable, site_level_templates
from winnow.fingerprints import node_fingerprints
from winnow.models.files import ModelError, fingerprint_of, read_model_file, required_array, write_model_file
from winnow.models.scores import FixedThreshold, Scores
from winnow.page.tree import nearest
from winnow.papers.element_features import NODE_FEATURES, Measures, node_features
from winnow.papers.pages import Labels, Learned, SiteMethod, check_enough, parameter, text_fingerprints

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from winnow.page.page import Page
    from winnow.papers.pages import SitePage, SitePages

    Floats = NDArray[np.float64]


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

    def learn(self, pages: SitePages) -> Learned:
        """Count the units of all pages with different text.

        Raises:
            SiteError: there are fewer than ``min_pages``.
        """
        markup, text, numbers = LossyCounts(sys.maxsize), LossyCounts(sys.maxsize), []
        for read in pages.distinct():
            markup.add(read.number, node_fingerprints(read.page))
            text.add(read.number, text_fingerprints(read.page))
            numbers.append(read.number)
        check_enough(pages, len(numbers), self.min_pages)
        return Learned(len(numbers), partial(self._label, markup, text), [numbers])

    def _label(self, markup: LossyCounts, text: LossyCounts, read: SitePage) -> Labels:
        """Label a page: template is what many pages have, by markup or by text, content what no other page has."""
        page, of_text = read.page, text_fingerprints(read.page)
        text_df = text.df(of_text)
        df = np.maximum(markup.df(node_fingerprints(page)), text_df * (of_text != 0))
        template = site_level_templates(page, df, text.pages, self.theta, self.min_df)
        return Labels(template, countable(page) & (text_df == 1))


# Section 5.3: what a section costs at each node, for the smoother.

_SCALE: Final = 0.01  # the paper's constant c, in units of score times weight


def by_area(area: Floats) -> Floats:
    """float64[n], ``c * A / A(i)`` (section 5.3): small and deep nodes do not easily start sections.

    ``area`` is float64[n], area of every node in px², the root first; without any, the penalty is infinite.
    """
    penalty = np.full(len(area), np.inf)
    with np.errstate(over="ignore"):  # next to no area is as good as none
        np.divide(_SCALE * area[0], area, out=penalty, where=area > 0)
    return penalty


# Section 5.2: the page-level classifier, a logistic regression for each of four sizes of nodes.

AREA_BOUNDS: Final = (20_000.0, 100_000.0, 400_000.0)
"""Areas in px² that divide the nodes among the four regressions."""

LOGISTIC: Final = "logistic"
BUCKETS: Final = len(AREA_BOUNDS) + 1


def bucket_of(area: Floats) -> NDArray[np.int64]:
    """int64, number of the regression for nodes of each area in px², 0 to 3."""
    return np.asarray(AREA_BOUNDS).searchsorted(area, side="right")


_BY_SIZE: Final = (BUCKETS, len(NODE_FEATURES))
_SHAPES: Final = {"low": _BY_SIZE, "high": _BY_SIZE, "weight": _BY_SIZE, "intercept": (BUCKETS,)}


@dataclass(eq=False)
class LogisticModel:
    """Four logistic regressions over :data:`~winnow.papers.element_features.NODE_FEATURES` (k), as plain arrays.

    Attributes:
        threshold: smoothed score from which a unit counts as template.
        low, high, weight, intercept: float64[4, k] bounds that values are clipped to, float64[4, k], float64[4].
        name: the kind of model.
    """

    threshold: float
    low: Floats
    high: Floats
    weight: Floats
    intercept: Floats
    name: ClassVar[str] = LOGISTIC

    @cached_property
    def version(self) -> str:
        """Identifier of the weights."""
        return f"{LOGISTIC}-{fingerprint_of({**self._arrays, 'threshold': np.array(self.threshold)})}"

    @property
    def _arrays(self) -> dict[str, Floats]:
        return {name: getattr(self, name) for name in _SHAPES}

    def score(self, page: Page) -> Scores:
        """Score the elements of a page that are not hidden; hidden ones count for the nearest visible one around them.

        Text blocks have no score of their own and take that of the element around them.
        """
        measures, units = Measures(page), page.n + page.m
        elements, area = measures.elements, measures.geometry.area
        visible, templateness, penalty = np.zeros(units, bool), np.zeros(units), np.zeros(units)
        visible[elements] = True
        templateness[elements] = self.probability(node_features(measures), area[elements])
        penalty[: page.n] = by_area(area)
        weight = np.bincount(nearest(page.parent, visible[: page.n]), minlength=units)
        return Scores(templateness, weight, visible, penalty, FixedThreshold(self.threshold))

    def probability(self, values: NDArray[np.float32], area: Floats) -> Floats:
        """float64[rows], probability of template for float32[rows, k] features and float64[rows] areas in px²."""
        bucket = bucket_of(area)
        logit = np.empty(len(values))
        for number in range(BUCKETS):
            rows = bucket == number
            clipped = np.clip(values[rows], self.low[number], self.high[number])
            logit[rows] = clipped @ self.weight[number] + self.intercept[number]
        return 1 / (1 + np.exp(-np.clip(logit, -50, 50)))

    def save(self, path: Path) -> None:
        """Write the model to a file."""
        header = {
            "name": self.name,
            "threshold": self.threshold,
            "features": list(NODE_FEATURES),
            "area_bounds": list(AREA_BOUNDS),
        }
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
                f"{path}: made for other features than this version of the package computes; train it anew"
            )
        threshold = header.get("threshold")
        if not isinstance(threshold, float) or not 0 < threshold < 1:
            raise ModelError(f"{path}: the threshold is {threshold!r}, expected a number between 0 and 1")
        return cls(threshold, **{name: required_array(arrays, name, *shape) for name, shape in _SHAPES.items()})
