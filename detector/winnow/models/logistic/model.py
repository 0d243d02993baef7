"""The paper's page-level classifier: a logistic regression for each of four sizes of nodes.

Source: page-level isotonic smoothing, sections 5.2 (four models by area) and 5.3 (hidden nodes).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from winnow.models.files import ModelError, fingerprint_of, read_model_file, required_array, write_model_file
from winnow.models.logistic.features import NODE_FEATURES, node_features
from winnow.models.logistic.measures import Measures
from winnow.models.logistic.penalties import by_area, weights_with_hidden
from winnow.models.scores import FixedThreshold, Scores

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from winnow.page.page import Page

    Floats = NDArray[np.float64]

AREA_BOUNDS: Final = (20_000.0, 100_000.0, 400_000.0)
"""Areas in px² that divide the nodes among the four regressions."""

LOGISTIC: Final = "logistic"
BUCKETS: Final = len(AREA_BOUNDS) + 1


def bucket_of(area: Floats) -> NDArray[np.int64]:
    """int64, number of the regression for nodes of each area in px², 0 to 3."""
    return np.asarray(AREA_BOUNDS).searchsorted(area, side="right")


@dataclass(eq=False)
class LogisticModel:
    """Four logistic regressions over :data:`~winnow.models.logistic.features.NODE_FEATURES` (k), as plain arrays.

    Attributes:
        threshold: smoothed score from which a unit counts as template.
        low, high: float64[4, k], bounds that feature values are clipped to.
        weight: float64[4, k].
        intercept: float64[4].
        version: identifies the weights.
        name: the kind of model.
    """

    threshold: float
    low: Floats
    high: Floats
    weight: Floats
    intercept: Floats
    version: str
    name: str = LOGISTIC

    def score(self, page: Page) -> Scores:
        """Score the elements of a page that are not hidden; hidden ones count for the nearest visible one around them.

        Text blocks have no score of their own and take that of the element around them.
        """
        return self.score_measured(Measures.of(page))

    def score_measured(self, measures: Measures) -> Scores:
        """Score the elements of a page that is measured already, with boxes of whatever origin."""
        page = measures.page
        n = page.n
        elements = measures.elements
        visible = np.zeros(n + page.m, bool)
        visible[elements] = True
        templateness = np.zeros(n + page.m)
        templateness[elements] = self.probability(node_features(measures), measures.geometry.area[elements])
        weight = np.zeros(n + page.m, np.int64)
        weight[:n] = weights_with_hidden(page.parent, ~visible[:n])
        area = measures.geometry.area
        penalty = by_area(area, float(area[0]))
        return Scores(templateness, weight, visible, penalty, FixedThreshold(self.threshold))

    def probability(self, values: NDArray[np.float32], area: Floats) -> Floats:
        """Compute the probability that nodes are template.

        Args:
            values: float32[rows, k], features of the nodes.
            area: float64[rows], their areas in px².

        Returns:
            float64[rows] in 0..1.
        """
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
            "features": [feature.name for feature in NODE_FEATURES],
            "area_bounds": list(AREA_BOUNDS),
        }
        write_model_file(path, header, self._arrays())

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
        expected = [feature.name for feature in NODE_FEATURES]
        if header.get("features") != expected or header.get("area_bounds") != list(AREA_BOUNDS):
            raise ModelError(
                f"{path}: made for other features than this version of the package computes; train it anew"
            )
        threshold = header.get("threshold")
        if not isinstance(threshold, float) or not 0 < threshold < 1:
            raise ModelError(f"{path}: the threshold is {threshold!r}, expected a number between 0 and 1")
        shape = (BUCKETS, len(expected))
        low, high, weight = (required_array(arrays, name, shape) for name in ("low", "high", "weight"))
        return cls.from_arrays(threshold, low, high, weight, required_array(arrays, "intercept", (BUCKETS,)))

    @classmethod
    def from_arrays(cls, threshold: float, low: Floats, high: Floats, weight: Floats, intercept: Floats) -> Self:
        """Make a model of its numbers; see the class for shapes."""
        arrays = {"low": low, "high": high, "weight": weight, "intercept": intercept, "threshold": np.array(threshold)}
        return cls(threshold, low, high, weight, intercept, f"{LOGISTIC}-{fingerprint_of(arrays)}")

    def _arrays(self) -> dict[str, NDArray[np.float64]]:
        return {"low": self.low, "high": self.high, "weight": self.weight, "intercept": self.intercept}
