"""The default page-level model: a few small networks over the features of text blocks, whose logits are averaged.

Each network looks at every block of a page, and at what it has made of the blocks around it. It has two hidden layers.
The first sees the features of one block. The second sees what the first has made of the block and, averaged, of the
blocks of each of its context windows: its neighbours, its innermost containers, and the page. Whether a short line is
content depends on whether it stands in the main content or in a grid of teasers. This is the context that smoothing and
a stack of two classifiers look for, too, but it is learned together with the rest.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

import numpy as np

from winnow.core import core
from winnow.features.blocks import FEATURE_NAMES, features_of
from winnow.features.context import WINDOWS
from winnow.features.tokens import TABLE_SIZE, TokenTables
from winnow.models.decision import ROW_NAMES, LearnedDecision, PageDecision, PageView
from winnow.models.files import ModelError, fingerprint_of, read_model_file, stored_numbers, write_model_file
from winnow.models.scores import ExpectedF1, Scores, log_odds

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from winnow.features.context import ContextWindows
    from winnow.models.files import Arrays
    from winnow.page.page import Page

    Matrix = NDArray[np.float32]

BLOCKS: Final = "blocks"
"""Name of this kind of model."""

PENALTY: Final = 0.1
"""Cost of a section anywhere, chosen on held-out folds; penalties by area, the paper's choice, lose short blocks."""

PANEL: Final = 16
"""Columns of a matrix that the compiled core takes together; ``networks.c`` has the same number."""

CLIP: Final = 4.0
"""Most standard deviations from the mean that a network is shown."""

_PARTS: Final = 1 + len(WINDOWS)  # of the second layer's input: the block itself, and each of its windows
_MAX_UNITS: Final = 1_024  # of a hidden layer, in a file
_MAX_NETWORKS: Final = 16
_LONG_PAGE: Final = 4_096  # blocks
_MAX_LOGIT: Final = 30.0


@dataclass(frozen=True, eq=False, slots=True)
class Network:
    """The weights of one network.

    Attributes:
        block_weight, block_bias: float32[k, c], float32[c], from the features of a block to the first hidden layer.
        context_weight: float32[c, (1 + len(WINDOWS)) * d], from the first to the second: of the block itself, then of
            each of :data:`winnow.features.context.WINDOWS`.
        context_bias: float32[d].
        output_weight, output_bias: float32[d, 1], float32[1], to the logit of content.
    """

    block_weight: Matrix
    block_bias: Matrix
    context_weight: Matrix
    context_bias: Matrix
    output_weight: Matrix
    output_bias: Matrix

    @classmethod
    def stored(cls, arrays: Arrays, inputs: int, *several: int) -> Self:
        """Take a network out of the arrays of a model file.

        Args:
            arrays: by name; those of :data:`ARRAY_NAMES` are read.
            inputs: how many features it has.
            several: how many networks are :meth:`stacked` there, where they are.

        Raises:
            ModelError: an array is missing, misshapen, or holds something else than numbers.
        """

        def units(name: str) -> int:
            bias = arrays.get(name)
            known = bias is not None and bias.ndim == len(several) + 1 and 0 < bias.shape[-1] <= _MAX_UNITS
            return bias.shape[-1] if known and bias is not None else 1

        shapes = cls.shapes(inputs, units("block_bias"), units("context_bias"))
        named = zip(ARRAY_NAMES, shapes, strict=True)
        return cls(*(stored_numbers(arrays, name, *several, *shape) for name, shape in named))

    @property
    def arrays(self) -> tuple[Matrix, ...]:
        """The weights, in the order of the attributes; not copies."""
        return tuple(getattr(self, name) for name in ARRAY_NAMES)

    @classmethod
    def shapes(cls, inputs: int, block_units: int, context_units: int) -> tuple[tuple[int, ...], ...]:
        """Shapes of :attr:`arrays` for a network of so many features and hidden units."""
        return (
            (inputs, block_units), (block_units,), (block_units, _PARTS * context_units), (context_units,),
            (context_units, 1), (1,),
        )  # fmt: skip

    @classmethod
    def stacked(cls, networks: Sequence[Network]) -> Self:
        """Networks of one shape behind each other: every array has one dimension more, in front."""
        return cls(*(np.stack(arrays) for arrays in zip(*(network.arrays for network in networks), strict=True)))

    def unstacked(self) -> tuple[Network, ...]:
        """Undo :meth:`stacked`."""
        return tuple(Network(*arrays) for arrays in zip(*self.arrays, strict=True))


ARRAY_NAMES: Final = tuple(field.name for field in fields(Network))
"""Attributes of a network, in their order."""


class Ensemble:
    """Networks of one shape side by side, as the compiled core takes them; it gives the mean of their logits."""

    def __init__(self, networks: Sequence[Network]) -> None:
        self._networks = len(networks)
        self._block_panels = _panels(np.concatenate([network.block_weight for network in networks], axis=1))
        self._block_bias = np.concatenate([network.block_bias for network in networks])
        self._context_panels = np.stack(
            [[_panels(part) for part in np.split(net.context_weight, _PARTS, axis=1)] for net in networks]
        )
        self._context_bias = np.concatenate([network.context_bias for network in networks])
        output_weight = np.concatenate([network.output_weight[:, 0] for network in networks]).astype(np.float32)
        self._output_weight = output_weight * np.float32(1 / len(networks))
        self._output_bias = float(np.mean([network.output_bias for network in networks]))

    def logits(self, parts: Sequence[Matrix], mean: Matrix, scale: Matrix, windows: ContextWindows) -> Matrix:
        """float32[m], mean of the networks' logits that each of m blocks is content.

        Args:
            parts: float32[m, ...] each, features that stand side by side; a long page's are not put together.
            mean: float32[k], of the features together.
            scale: float32[k], one over their standard deviations.
            windows: context of the blocks.
        """
        logits = np.empty(len(parts[0]), np.float32)
        if len(logits):
            core.network_logits(
                *(tuple(np.ascontiguousarray(part.T) for part in parts), CLIP),  # as features are computed: no copies
                *(mean, scale, self._block_panels, self._block_bias),
                *(windows.weight, windows.begin, windows.end, windows.scale, self._context_panels, self._context_bias),
                *(self._output_weight, self._output_bias, self._networks, logits),
            )
        return logits


def _panels(weight: Matrix) -> Matrix:
    """float32[panels, k, PANEL] from float32[k, columns], filled up with zeros."""
    k, columns = weight.shape
    number = -(-columns // PANEL)
    filled = np.zeros((k, number * PANEL), np.float32)
    filled[:, :columns] = weight
    return np.ascontiguousarray(filled.reshape(k, number, PANEL).swapaxes(0, 1))


def standardise(matrix: Matrix, mean: Matrix, scale: Matrix) -> Matrix:
    """float32[m, k], features in standard deviations from their mean, 4 at most, as networks are shown them."""
    result: Matrix = matrix - mean
    result *= scale
    np.maximum(result, -CLIP, out=result)  # np.clip takes as long as both together
    return np.minimum(result, CLIP, out=result)


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
        decision = (
            ExpectedF1(features.words, scores)
            if self.decision is None or not page.m
            else PageDecision(self.decision, PageView.of(page, features), scores)
        )
        return Scores(templateness, weight, in_tree, np.full(units, PENALTY), decision)

    def content_probability(self, matrix: Matrix, windows: ContextWindows) -> NDArray[np.float64]:
        """float64[m], probability of content from float32[m, k] features and the context of the blocks."""
        if len(matrix) <= _LONG_PAGE:
            logit = self._ensemble.logits([matrix], self.mean, self.scale, windows).astype(np.float64)
        else:  # one by one, which is slower and takes less memory
            each = [Ensemble([network]).logits([matrix], self.mean, self.scale, windows) for network in self.networks]
            logit = np.mean(each, axis=0, dtype=np.float64)
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
        if header.get("name") != BLOCKS or not isinstance(number, int) or not 1 <= number <= _MAX_NETWORKS:
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


def attribute_scores(model: BlockPerceptron, page: Page) -> Attribution:
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
