"""The default page-level model: a small perceptron over the features of text blocks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, Final, Self

import numpy as np
from threadpoolctl import ThreadpoolController

from detector.blocks.features import FEATURE_NAMES, BlockFeatures
from detector.blocks.tokens import TABLE_SIZE, TokenTables
from detector.model_file import ModelError, fingerprint_of, read_model_file, required_array, write_model_file
from detector.penalties import constant
from detector.scores import Scores
from detector.threshold import expected_f1_threshold

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from detector.page import Page

    Matrix = NDArray[np.float32]

BLOCKS: Final = "blocks"
"""Name of this kind of model."""

PENALTY: Final = 0.2
"""Cost of a section anywhere, chosen on held-out folds; penalties by area, the paper's choice, lose short blocks."""

_CLIP: Final = 4.0  # standard deviations
_MOST_LAYERS: Final = 4


@dataclass(frozen=True, eq=False)
class BlockPerceptron:
    """Scores the text blocks of a page; elements have no opinion of their own and are smoothed between their blocks.

    Attributes:
        tables: log-odds of names and words.
        mean, scale: float32[k], what features are standardised by.
        weights: float32[inputs, outputs] of each layer, the last with one output.
        biases: float32[outputs] of each layer.
        version: identifies the weights.
    """

    name: ClassVar[str] = BLOCKS
    tables: TokenTables
    mean: Matrix
    scale: Matrix
    weights: tuple[Matrix, ...]
    biases: tuple[Matrix, ...]
    version: str

    def score(self, page: Page) -> Scores:
        """Score every unit of the page; the threshold is the one of its highest expected F1."""
        features = BlockFeatures.of(page)
        templateness = 1.0 - self.content_probability(features.matrix(self.tables))
        held = page.block_end - page.block_begin
        branches = held > 1
        branches[1:] &= held[1:] != held[page.parent[1:]]
        return Scores(
            templateness=np.concatenate([np.full(page.n, 0.5), templateness]),
            weight=np.concatenate([np.zeros(page.n, np.int64), _weight(features.words)]),
            in_tree=np.concatenate([branches, np.ones(page.m, bool)]),
            penalty=constant(page.n + page.m, PENALTY),
            threshold=expected_f1_threshold(templateness, features.words),
        )

    def content_probability(self, matrix: Matrix) -> NDArray[np.float64]:
        """float64[m], probability of content from float32[m, k] features."""
        layer = standardised(matrix, self.mean, self.scale)
        with _libraries().limit(limits=1, user_api="blas"):  # for one page, more threads cost five times the time
            for weights, biases in zip(self.weights[:-1], self.biases[:-1], strict=True):
                layer = np.maximum(layer @ weights + biases, 0)
            logit = (layer @ self.weights[-1] + self.biases[-1])[:, 0].astype(np.float64)
        return 1 / (1 + np.exp(-np.clip(logit, -30, 30)))

    @classmethod
    def from_arrays(
        cls, tables: TokenTables, mean: Matrix, scale: Matrix, weights: Sequence[Matrix], biases: Sequence[Matrix]
    ) -> Self:
        """Make a model of its arrays; equal arrays give the same version."""
        arrays = _arrays(tables, mean, scale, weights, biases)
        version = f"{BLOCKS}-{fingerprint_of(arrays)}"
        return cls(tables, mean, scale, tuple(weights), tuple(biases), version)

    def save(self, path: Path) -> None:
        """Write the model to an ``.npz`` file."""
        header = {"name": self.name, "version": self.version, "features": FEATURE_NAMES, "layers": len(self.weights)}
        write_model_file(path, header, _arrays(self.tables, self.mean, self.scale, self.weights, self.biases))

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a model.

        Raises:
            FileNotFoundError: there is no such file.
            ModelError: the file is damaged, of another kind, or made for other features.
        """
        header, arrays = read_model_file(path)
        layers = header.get("layers")
        if header.get("name") != BLOCKS or not isinstance(layers, int) or not 1 <= layers <= _MOST_LAYERS:
            raise ModelError(f"{path}: not a model of the kind {BLOCKS!r}")
        if header.get("features") != list(FEATURE_NAMES):
            raise ModelError(f"{path}: made for other features than this version computes; train it again")
        inputs = len(FEATURE_NAMES)

        def array(name: str, *shape: int) -> Matrix:
            return required_array(arrays, name, shape).astype(np.float32)

        mean, scale = array("mean", inputs), array("scale", inputs)
        weights, biases = [], []
        for number in range(layers):
            bias = arrays.get(f"bias{number}")
            outputs = 1 if number + 1 == layers else (len(bias) if bias is not None and bias.ndim == 1 else 0)
            weights.append(array(f"weight{number}", inputs, outputs))
            biases.append(array(f"bias{number}", outputs))
            inputs = outputs
        tables = TokenTables(array("names", TABLE_SIZE), array("words", TABLE_SIZE))
        return cls.from_arrays(tables, mean, scale, weights, biases)


@lru_cache(maxsize=1)
def _libraries() -> ThreadpoolController:
    """Find the linear algebra libraries of the process, once: that takes a millisecond, limiting them nothing."""
    return ThreadpoolController()


def standardised(matrix: Matrix, mean: Matrix, scale: Matrix) -> Matrix:
    """float32[m, k], features in standard deviations from their mean, 4 at most."""
    result = (matrix - mean) * scale
    return np.clip(result, -_CLIP, _CLIP, out=result)


def _weight(words: NDArray[np.float64]) -> NDArray[np.int64]:
    """int64[m], how much each block says when scores are smoothed: the square root of its words."""
    return np.maximum(np.rint(np.sqrt(words)), 1).astype(np.int64)


def _arrays(
    tables: TokenTables, mean: Matrix, scale: Matrix, weights: Sequence[Matrix], biases: Sequence[Matrix]
) -> dict[str, Matrix | NDArray[np.float16]]:
    """The arrays as they are stored: the tables in half precision."""
    stored: dict[str, Matrix | NDArray[np.float16]] = {
        "names": tables.names.astype(np.float16),
        "words": tables.words.astype(np.float16),
        "mean": mean,
        "scale": scale,
    }
    for number, (weight, bias) in enumerate(zip(weights, biases, strict=True)):
        stored[f"weight{number}"], stored[f"bias{number}"] = weight, bias
    return stored
