"""The default page-level model: scores the text blocks of a page by networks that look at what stands around each.

A few small networks see the context of a block averaged (:mod:`winnow.models.networks`), and have learned from sites,
too; one reads the blocks in order (:mod:`winnow.models.sequence`) and has learned from gold text. Their logits are
averaged.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

import numpy as np

from winnow.features.blocks import FEATURE_NAMES, features_of
from winnow.features.tokens import TABLE_SIZE, TokenTables
from winnow.models.decision import KIND_INPUTS, LearnedDecision, PageDecision
from winnow.models.files import ModelError, fingerprint_of, read_model_file, stored_numbers, write_model_file
from winnow.models.networks import ARRAY_NAMES, Ensemble, Network
from winnow.models.scores import ExpectedF1, Scores, log_odds
from winnow.models.sequence import SequenceNetwork

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from winnow.features.context import ContextWindows
    from winnow.page.page import Page

    Matrix = NDArray[np.float32]

BLOCKS: Final = "blocks"
"""Name of this kind of model."""

PENALTY: Final = 0.1
"""Cost of a section anywhere, chosen on held-out folds; penalties by area, the paper's choice, lose short blocks."""

_MAX_NETWORKS: Final = 16
_LONG_PAGE: Final = 4_096  # blocks
_MAX_LOGIT: Final = 30.0


@dataclass(frozen=True, eq=False)
class BlockModel:
    """Scores the text blocks of a page; elements have no opinion of their own and are smoothed between their blocks.

    Attributes:
        tables: log-odds of names and words.
        mean, scale: float32[k], what features are standardised by.
        networks: of one shape; they average the context of a block.
        sequence: reads the blocks in order; ``None`` where there was no gold text to learn from.
        decision: what was learned of whole pages; ``None`` cuts where the scores expect the best text.
        version: identifies the weights.
    """

    name: ClassVar[str] = BLOCKS
    tables: TokenTables
    mean: Matrix
    scale: Matrix
    networks: tuple[Network, ...]
    sequence: SequenceNetwork | None
    decision: LearnedDecision | None
    version: str

    def score(self, page: Page) -> Scores:
        """Score every unit of the page."""
        features = features_of(page)
        known: dict[str, NDArray[np.float64]] = vars(page).setdefault("_block_scores", {})
        if self.version not in known:  # a page is scored when it is counted, and again when it is cleaned
            known[self.version] = 1.0 - self.content_probability(features.matrix(self.tables), features.windows)
        scores = known[self.version]
        held = page.block_end - page.block_begin
        branches = held > 1
        branches[1:] &= held[1:] != held[page.parent[1:]]
        units = page.n + page.m
        templateness, weight, in_tree = np.empty(units), np.zeros(units, np.int64), np.ones(units, bool)
        templateness[: page.n], templateness[page.n :] = 0.5, scores
        weight[page.n :] = np.maximum(np.rint(np.sqrt(features.words)), 1)
        in_tree[: page.n] = branches
        learned = self.decision if page.m else None
        decision = PageDecision(learned, features, scores) if learned else ExpectedF1(features.words, scores)
        return Scores(templateness, weight, in_tree, np.full(units, PENALTY), decision)

    def content_probability(self, matrix: Matrix, windows: ContextWindows) -> NDArray[np.float64]:
        """float64[m], probability of content from float32[m, k] features and the context of the blocks."""
        if len(matrix) <= _LONG_PAGE:
            logit = self._ensemble.logits([matrix], self.mean, self.scale, windows).astype(np.float64)
        else:  # one by one, which is slower and takes less memory
            each = [Ensemble([network]).logits([matrix], self.mean, self.scale, windows) for network in self.networks]
            logit = np.mean(each, axis=0, dtype=np.float64)
        if self.sequence is not None:
            logit = (logit + self.sequence.logits(matrix, self.mean, self.scale)) / 2
        return 1 / (1 + np.exp(-np.minimum(np.maximum(logit, -_MAX_LOGIT), _MAX_LOGIT)))

    @cached_property
    def _ensemble(self) -> Ensemble:
        return Ensemble(self.networks)

    @classmethod
    def of(
        cls,
        tables: TokenTables,
        mean: Matrix,
        scale: Matrix,
        networks: Sequence[Network],
        sequence: SequenceNetwork | None = None,
        decision: LearnedDecision | None = None,
    ) -> Self:
        """Make a model of its parts, rounded as they are stored; equal weights give the same version."""
        sequence, decision = sequence and sequence.rounded(), decision and LearnedDecision.stored(decision.arrays())
        version = f"{BLOCKS}-{fingerprint_of(_arrays(tables, mean, scale, networks, sequence, decision))}"
        return cls(tables, mean, scale, tuple(networks), sequence, decision, version)

    def save(self, path: Path) -> None:
        """Write the model to an ``.npz`` file."""
        header = {
            "name": self.name,
            "version": self.version,
            "features": FEATURE_NAMES,
            "networks": len(self.networks),
            "sequence": self.sequence is not None,
            "decision": list(KIND_INPUTS) if self.decision else None,
        }
        parts = self.tables, self.mean, self.scale, self.networks, self.sequence, self.decision
        write_model_file(path, header, _arrays(*parts))

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a model.

        Raises:
            FileNotFoundError: there is no such file.
            ModelError: the file is damaged, of another kind, or made for other features.
        """
        header, arrays = read_model_file(path)
        number = header.get("networks")
        if header.get("name") != BLOCKS or not isinstance(number, int) or not 1 <= number <= _MAX_NETWORKS:
            raise ModelError(f"{path}: not a model of the kind {BLOCKS!r}, or one of another version; train it again")
        if header.get("features") != list(FEATURE_NAMES):
            raise ModelError(f"{path}: made for other features than this version computes; train it again")
        if header.get("decision") not in (None, list(KIND_INPUTS)):
            raise ModelError(f"{path}: its decision was made for other features; train it again")
        inputs = len(FEATURE_NAMES)
        together = Network.stored(arrays, inputs, number)
        names, words = (stored_numbers(arrays, name, TABLE_SIZE) for name in ("names", "words"))
        mean, scale = (stored_numbers(arrays, name, inputs) for name in ("mean", "scale"))
        sequence = SequenceNetwork.stored(arrays, inputs) if header.get("sequence") else None
        decision = LearnedDecision.stored(arrays) if header.get("decision") else None
        return cls.of(TokenTables(names, words), mean, scale, together.unstacked(), sequence, decision)


def _arrays(
    tables: TokenTables,
    mean: Matrix,
    scale: Matrix,
    networks: Sequence[Network],
    sequence: SequenceNetwork | None,
    decision: LearnedDecision | None,
) -> dict[str, NDArray[Any]]:
    """The arrays as they are stored: tables and sequence in half precision, the networks behind each other."""
    stored: dict[str, NDArray[Any]] = {
        "names": tables.names.astype(np.float16),
        "words": tables.words.astype(np.float16),
        "mean": mean,
        "scale": scale,
    }
    stored |= dict(zip(ARRAY_NAMES, Network.stacked(networks).arrays, strict=True))
    stored |= sequence.arrays() if sequence else {}
    return stored | decision.arrays() if decision else stored


# ---- What each feature did to the score of each block: the score with it, against the score without it (occlusion).

_MAX_BLOCKS: Final = 1_500
"""Blocks of a page beyond which features are taken away by families, as ``"container 0"`` and ``"words"``."""

_EPSILON: Final = 1e-6


@dataclass(frozen=True, eq=False, slots=True)
class Attribution:
    """Parts of the scores of a page's blocks; correlated features share theirs, so they need not add up to the score.

    Attributes:
        names: name of each of k features, or families of features.
        parts: float32[m, k], change of the logit of templateness that is due to each, above 0 towards template.
        values: float32[m, k], the features themselves; NaN for families.
    """

    names: tuple[str, ...]
    parts: Matrix
    values: Matrix

    def heaviest(self, blocks: Sequence[int], most: int = 6) -> list[tuple[str, float, float | None]]:
        """Return what did most to some blocks on average: its name, its part and its mean value, the heaviest first."""
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
    """Find out what each feature did on a page, by putting its mean in its place on all blocks.

    It takes as many evaluations of the model as there are features.
    """
    features = features_of(page)
    matrix, windows = features.matrix(model.tables), features.windows
    families: dict[str, list[int]] = {}
    for at, name in enumerate(FEATURE_NAMES):
        family = name.partition(":")[0] if len(matrix) > _MAX_BLOCKS else name
        families.setdefault(family, []).append(at)
    score = log_odds(model.content_probability(matrix, windows), _EPSILON)
    parts = np.zeros((len(matrix), len(families)), np.float32)
    values = np.full((len(matrix), len(families)), np.nan, np.float32)
    for at, columns in enumerate(families.values()):
        kept = matrix[:, columns].copy()
        if len(columns) == 1:
            values[:, at] = kept[:, 0]
        matrix[:, columns] = model.mean[columns]
        parts[:, at] = log_odds(model.content_probability(matrix, windows), _EPSILON) - score
        matrix[:, columns] = kept
    return Attribution(tuple(families), parts, values)
