"""The default page-level model: a few small networks over the features of text blocks, whose logits are averaged."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

import numpy as np

from winnow.models.base import Scores
from winnow.models.blocks.block_features import FEATURE_NAMES, STATIC_NAMES, BlockFeatures, features_of
from winnow.models.blocks.decision.cut_features import PROPERTIES
from winnow.models.blocks.decision.learned import ROW_NAMES, LearnedDecision, PageDecision, PageView
from winnow.models.blocks.ensemble import Ensemble
from winnow.models.blocks.features.tokens import TABLE_SIZE, TokenTables
from winnow.models.blocks.network import ARRAY_NAMES, Network
from winnow.models.files import ModelError, fingerprint_of, read_model_file, stored_numbers, write_model_file
from winnow.models.penalties import constant
from winnow.models.threshold import ExpectedF1

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from winnow.models.base import Decision
    from winnow.models.blocks.surroundings import Surroundings
    from winnow.page.page import Page

    Matrix = NDArray[np.float32]

BLOCKS: Final = "blocks"
"""Name of this kind of model."""

PENALTY: Final = 0.1
"""Cost of a section anywhere, chosen on held-out folds; penalties by area, the paper's choice, lose short blocks."""

_MOST_NETWORKS: Final = 16
_LONG: Final = 4_096  # blocks
_MOST_LOGIT: Final = 30.0
_PROPERTIES: Final = [STATIC_NAMES.index(name) for name in PROPERTIES]


@dataclass(frozen=True, eq=False)
class BlockPerceptron:
    """Scores the text blocks of a page; elements have no opinion of their own and are smoothed between their blocks.

    Attributes:
        tables: log-odds of names and words.
        mean, scale: float32[k], what features are standardised by.
        networks: of one shape.
        version: identifies the weights.
        decision: what was learned of where to cut; ``None`` cuts where the scores expect the best text.
    """

    name: ClassVar[str] = BLOCKS
    tables: TokenTables
    mean: Matrix
    scale: Matrix
    networks: tuple[Network, ...]
    version: str
    decision: LearnedDecision | None = None

    def score(self, page: Page) -> Scores:
        """Score every unit of the page; the threshold is the one of its highest expected F1."""
        return self.score_features(page, features_of(page))

    def score_features(self, page: Page, features: BlockFeatures) -> Scores:
        """Score every unit of a page whose features are known."""
        templateness = 1.0 - self.content_probability(features.matrix(self.tables), features.surroundings)
        held = page.block_end - page.block_begin
        branches = held > 1
        branches[1:] &= held[1:] != held[page.parent[1:]]
        units = page.n + page.m
        of_units, weight, in_tree = np.empty(units), np.zeros(units, np.int64), np.ones(units, bool)
        of_units[: page.n], of_units[page.n :] = 0.5, templateness
        weight[page.n :] = _weight(features.words)
        in_tree[: page.n] = branches
        return Scores(
            templateness=of_units,
            weight=weight,
            in_tree=in_tree,
            penalty=constant(units, PENALTY),
            decision=self._decision(page, features, templateness),
        )

    def _decision(self, page: Page, features: BlockFeatures, templateness: NDArray[np.float64]) -> Decision:
        if self.decision is None or not page.m:
            return ExpectedF1(features.words, templateness)
        return PageDecision.of(self.decision, view_of(page, features), templateness)

    def content_probability(self, matrix: Matrix, surroundings: Surroundings) -> NDArray[np.float64]:
        """float64[m], probability of content from float32[m, k] features and the stretches around the blocks."""
        logit = np.zeros(len(matrix))
        parts = self._parts(len(matrix))
        for networks in parts:
            logit += networks.logits_of_hidden(networks.hidden([matrix], self.mean, self.scale), surroundings)
        logit /= len(parts)
        return 1 / (1 + np.exp(-np.minimum(np.maximum(logit, -_MOST_LOGIT), _MOST_LOGIT)))

    def _parts(self, blocks: int) -> list[Ensemble]:
        """The networks side by side, which is faster; one by one for a long page, which takes less memory."""
        return [self._ensemble] if blocks <= _LONG else [Ensemble.of([network]) for network in self.networks]

    @cached_property
    def _ensemble(self) -> Ensemble:
        return Ensemble.of(self.networks)

    @classmethod
    def of(
        cls,
        tables: TokenTables,
        mean: Matrix,
        scale: Matrix,
        networks: Sequence[Network],
        decision: LearnedDecision | None = None,
    ) -> Self:
        """Make a model of its parts; equal weights give the same version."""
        version = f"{BLOCKS}-{fingerprint_of(_arrays(tables, mean, scale, networks, decision))}"
        return cls(tables, mean, scale, tuple(networks), version, decision)

    def save(self, path: Path) -> None:
        """Write the model to an ``.npz`` file."""
        header = {
            "name": self.name,
            "version": self.version,
            "features": FEATURE_NAMES,
            "networks": len(self.networks),
            "decision": list(ROW_NAMES) if self.decision else None,
        }
        write_model_file(path, header, _arrays(self.tables, self.mean, self.scale, self.networks, self.decision))

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a model.

        Raises:
            FileNotFoundError: there is no such file.
            ModelError: the file is damaged, of another kind, or made for other features.
        """
        header, arrays = read_model_file(path)
        number = header.get("networks")
        if header.get("name") != BLOCKS or not isinstance(number, int) or not 1 <= number <= _MOST_NETWORKS:
            raise ModelError(f"{path}: not a model of the kind {BLOCKS!r}, or one of another version; train it again")
        if header.get("features") != list(FEATURE_NAMES):
            raise ModelError(f"{path}: made for other features than this version computes; train it again")
        if header.get("decision") not in (None, list(ROW_NAMES)):
            raise ModelError(f"{path}: its decision was made for other features; train it again")
        inputs = len(FEATURE_NAMES)

        together = Network.stored(arrays, inputs, number)
        names, words = (stored_numbers(arrays, name, TABLE_SIZE) for name in ("names", "words"))
        mean, scale = (stored_numbers(arrays, name, inputs) for name in ("mean", "scale"))
        decision = LearnedDecision.stored(arrays) if header.get("decision") else None
        return cls.of(TokenTables(names, words), mean, scale, together.unstacked(), decision)


def _weight(words: NDArray[np.float64]) -> NDArray[np.int64]:
    """int64[m], how much each block says when scores are smoothed: the square root of its words."""
    return np.maximum(np.rint(np.sqrt(words)), 1).astype(np.int64)


def view_of(page: Page, features: BlockFeatures) -> PageView:
    """What a decision needs of a page."""
    return PageView.of(page, features.words, features.static[:, _PROPERTIES], features.of_page)


def _arrays(
    tables: TokenTables,
    mean: Matrix,
    scale: Matrix,
    networks: Sequence[Network],
    decision: LearnedDecision | None,
) -> dict[str, NDArray[Any]]:
    """The arrays as they are stored: the tables in half precision, the networks behind each other."""
    stored: dict[str, NDArray[Any]] = {
        "names": tables.names.astype(np.float16),
        "words": tables.words.astype(np.float16),
        "mean": mean,
        "scale": scale,
    }
    stored |= dict(zip(ARRAY_NAMES, Network.stacked(networks).arrays, strict=True))
    return stored | decision.arrays() if decision else stored
