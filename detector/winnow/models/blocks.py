"""The default page-level model: scores the text blocks of a page with a recurrent network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

import numpy as np

from winnow.features.blocks import FEATURE_NAMES, features_of
from winnow.features.tokens import TABLE_SIZE, TokenTables
from winnow.models.decision import KIND_INPUTS, LearnedDecision, PageDecision
from winnow.models.files import ModelError, fingerprint_of, read_model_file, required_array, write_model_file
from winnow.models.scores import ExpectedF1, Scores, log_odds, logistic
from winnow.models.sequence import SequenceNetwork
from winnow.page.tree import once_per_page

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from winnow.features.blocks import Part
    from winnow.page.page import Page

    Matrix = NDArray[np.float32]

BLOCKS: Final = "blocks"
"""Name of this kind of model."""

PENALTY: Final = 0.1
"""Cost of a section, chosen on held-out folds; the paper's penalties by area lose short blocks."""


@dataclass(frozen=True, eq=False)
class BlockModel:
    """Scores the text blocks of a page; elements have weight 0 and get their values by smoothing.

    Attributes:
        tables: log-odds of names and words.
        mean, scale: float32[k], standardisation of the features.
        network: network over the sequence of blocks.
        decision: learned decision on whole pages; ``None`` chooses the threshold with the highest expected F1.
        version: identifier of the weights.
    """

    name: ClassVar[str] = BLOCKS
    tables: TokenTables
    mean: Matrix
    scale: Matrix
    network: SequenceNetwork
    decision: LearnedDecision | None
    version: str

    def score(self, page: Page) -> Scores:
        """Score every unit of the page; a page is scored when it is counted, and not again when it is cleaned."""
        return _score(page, self)

    def content_probability(self, *parts: Part) -> NDArray[np.float64]:
        """float64[m], probability of content from all features, side by side: see :meth:`SequenceNetwork.logits`."""
        return logistic(self.network.logits(parts, self.mean, self.scale).astype(np.float64))

    @classmethod
    def of(
        cls,
        tables: TokenTables,
        mean: Matrix,
        scale: Matrix,
        network: SequenceNetwork,
        decision: LearnedDecision | None = None,
    ) -> Self:
        """Create a model, with the weights rounded as in its file, so that equal weights have the same version."""
        network, decision = network.rounded(), decision and LearnedDecision.stored(decision.arrays())
        version = f"{BLOCKS}-{fingerprint_of(_arrays(tables, mean, scale, network, decision))}"
        return cls(tables, mean, scale, network, decision, version)

    def save(self, path: Path) -> None:
        """Write the model to an ``.npz`` file."""
        header = {
            "name": self.name,
            "version": self.version,
            "features": FEATURE_NAMES,
            "decision": list(KIND_INPUTS) if self.decision else None,
        }
        write_model_file(path, header, _arrays(self.tables, self.mean, self.scale, self.network, self.decision))

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a model.

        Raises:
            FileNotFoundError: there is no such file.
            ModelError: the file is damaged, of another kind, or made for other features.
        """
        header, arrays = read_model_file(path)
        if header.get("name") != BLOCKS:
            raise ModelError(f"{path}: not a model of the kind {BLOCKS!r}, or one of another version; train it again")
        if header.get("features") != list(FEATURE_NAMES):
            raise ModelError(f"{path}: made for other features than this version computes; train it again")
        if header.get("decision") not in (None, list(KIND_INPUTS)):
            raise ModelError(f"{path}: its decision was made for other features; train it again")
        inputs = len(FEATURE_NAMES)
        names, words = (required_array(arrays, name, TABLE_SIZE).astype(np.float32) for name in ("names", "words"))
        mean, scale = (required_array(arrays, name, inputs).astype(np.float32) for name in ("mean", "scale"))
        network = SequenceNetwork.stored(arrays, inputs)
        decision = LearnedDecision.stored(arrays) if header.get("decision") else None
        return cls.of(TokenTables(names, words), mean, scale, network, decision)


def _arrays(
    tables: TokenTables, mean: Matrix, scale: Matrix, network: SequenceNetwork, decision: LearnedDecision | None
) -> dict[str, NDArray[Any]]:
    """The arrays as they are stored: tables and network in half precision."""
    names, words = tables.names.astype(np.float16), tables.words.astype(np.float16)
    stored: dict[str, NDArray[Any]] = {"names": names, "words": words, "mean": mean, "scale": scale, **network.arrays()}
    return stored | decision.arrays() if decision else stored


# ---- Attribution of scores to features by occlusion: the score with a feature against the score without it.

_MAX_BLOCKS: Final = 1_500
"""Blocks of a page above which features are occluded by family, such as ``"container 0"`` and ``"words"``."""

_EPSILON: Final = 1e-6


@dataclass(frozen=True, eq=False, slots=True)
class Attribution:
    """Contributions of features to the scores of a page's blocks; correlated features share their attribution.

    Attributes:
        names: names of the k features, or families of features.
        parts: float32[m, k], change of the logit of templateness by each feature, above 0 towards template.
        values: float32[m, k], the feature values; NaN for families.
    """

    names: tuple[str, ...]
    parts: Matrix
    values: Matrix

    def heaviest(self, blocks: Sequence[int], most: int = 6) -> list[tuple[str, float, float | None]]:
        """Return name, mean part and mean value of the features with the largest mean part on these blocks."""
        if not len(blocks):
            return []
        rows = np.asarray(blocks)
        parts, values = self.parts[rows].mean(axis=0), self.values[rows].mean(axis=0)
        order = np.argsort(-np.abs(parts))[:most]
        return [
            (self.names[at], float(parts[at]), None if np.isnan(values[at]) else float(values[at]))
            for at in order.tolist()
            if abs(parts[at]) >= 0.01
        ]


def attribute_scores(model: BlockModel, page: Page) -> Attribution:
    """Attribute the scores of a page to features: replace each feature by its mean on all blocks, and score again.

    This evaluates the model once per feature.
    """
    features = features_of(page)
    matrix = features.matrix(model.tables)
    families: dict[str, list[int]] = {}
    for at, name in enumerate(FEATURE_NAMES):
        family = name.partition(":")[0] if len(matrix) > _MAX_BLOCKS else name
        families.setdefault(family, []).append(at)
    score = log_odds(model.content_probability(matrix), _EPSILON)
    parts = np.zeros((len(matrix), len(families)), np.float32)
    values = np.full((len(matrix), len(families)), np.nan, np.float32)
    for at, columns in enumerate(families.values()):
        kept = matrix[:, columns].copy()
        if len(columns) == 1:
            values[:, at] = kept[:, 0]
        matrix[:, columns] = model.mean[columns]
        parts[:, at] = log_odds(model.content_probability(matrix), _EPSILON) - score
        matrix[:, columns] = kept
    return Attribution(tuple(families), parts, values)


@once_per_page
def _score(page: Page, model: BlockModel) -> Scores:
    features = features_of(page)
    scores = 1.0 - model.content_probability(*features.parts, model.tables.features(features.tokens))
    held = page.block_end - page.block_begin
    branches = held > 1
    branches[1:] &= held[1:] != held[page.parent[1:]]
    units = page.n + page.m
    templateness, weight, in_tree = np.empty(units), np.zeros(units, np.int64), np.ones(units, bool)
    templateness[: page.n], templateness[page.n :] = 0.5, scores
    weight[page.n :] = np.maximum(np.rint(np.sqrt(features.words)), 1)
    in_tree[: page.n] = branches
    templateness.flags.writeable = weight.flags.writeable = in_tree.flags.writeable = False
    learned = model.decision if page.m else None
    decision = PageDecision(learned, features, scores, page.url) if learned else ExpectedF1(features.words, scores)
    return Scores(templateness, weight, in_tree, np.full(units, PENALTY), decision)
