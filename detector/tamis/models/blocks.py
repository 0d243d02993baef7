"""The default page-level model: scores the text blocks of a page with a recurrent network.

Whether a short line is content depends on the blocks before and after it. A dense layer takes the features of one
block; a gated recurrent unit (Cho et al. 2014, "Learning phrase representations using RNN encoder-decoder") runs in
each direction; a second dense layer computes the logit of content from both states of the block, and from their means
and maxima over the page, which tell what kind of page the block is on.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

import numpy as np

from tamis.core import core
from tamis.features import FEATURE_NAMES, PAGE_FEATURE_NAMES, TABLE_SIZE, TokenTables, features_of, page_arguments
from tamis.models import BLOCKS, CLIP, Scores, log_odds
from tamis.models.decision import KIND_INPUTS, PROPERTY_COLUMNS, KindInputs, LearnedDecision, PageDecision
from tamis.models.files import ModelError, fingerprint_of, read_model_file, required_array, write_model_file
from tamis.page.tree import cached_on_page

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from tamis.arrays import Floats, Singles
    from tamis.models.files import Arrays
    from tamis.page.page import Page


WIDTH: Final = 64
"""Units of the first layer, of the state in each direction, and of the last layer."""


@dataclass(frozen=True, eq=False)
class SequenceNetwork:
    """Weights of the network; d is the direction: forwards, backwards; u is :data:`WIDTH`.

    Attributes:
        dense_weight, dense_bias: float32[k, u], float32[u], from the features of a block to the first layer.
        input_weight, input_bias: float32[d, u, 3 * u], float32[d, 3 * u], from the first layer to the gates: update,
            reset, candidate.
        state_weight, state_bias: float32[d, u, 3 * u], float32[d, u], from the previous state to the gates; the reset
            gate applies to the candidate's part and to the bias, which belongs to it.
        output_weight, output_bias: float32[2 * u, u], float32[u], from the states of both directions to the last layer.
        page_weight: float32[4 * u, u], from means, then maxima, of these states over the page to the last layer.
        last_weight, last_bias: float32[u], float32[1], from the last layer to the logit of content.
    """

    dense_weight: Singles
    dense_bias: Singles
    input_weight: Singles
    input_bias: Singles
    state_weight: Singles
    state_bias: Singles
    output_weight: Singles
    output_bias: Singles
    page_weight: Singles
    last_weight: Singles
    last_bias: Singles

    @classmethod
    def stored(cls, arrays: Arrays, inputs: int) -> Self:
        """Read a network with this many input features from the arrays of a model file.

        Raises:
            ModelError: an array is missing, has another shape or type, or is not finite.
        """
        named = zip(ARRAY_NAMES, cls.shapes(inputs), strict=True)
        return cls(*(required_array(arrays, f"network {name}", *shape).astype(np.float32) for name, shape in named))

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return the weights as stored: in half precision."""
        return {f"network {name}": getattr(self, name).astype(np.float16) for name in ARRAY_NAMES}

    def rounded(self) -> SequenceNetwork:
        """Return the network with the weights rounded to half precision, as it is loaded from its file."""
        return SequenceNetwork(*(array.astype(np.float32) for array in self.arrays().values()))

    @classmethod
    def shapes(cls, inputs: int) -> tuple[tuple[int, ...], ...]:
        """Shapes of :attr:`arrays` for this number of features."""
        u = WIDTH
        return (
            (inputs, u), (u,), (2, u, 3 * u), (2, 3 * u), (2, u, 3 * u), (2, u),
            (2 * u, u), (u,), (4 * u, u), (u,), (1,),
        )  # fmt: skip

    @cached_property
    def panels(self) -> tuple[NDArray[Any], ...]:
        """The arrays as the core takes them, most weights as integers; and the scales of these: float32[4]."""
        arrays: dict[str, NDArray[Any]] = {name: getattr(self, name) for name in ARRAY_NAMES}
        arrays["state_bias"] = np.pad(self.state_bias, ((0, 0), (2 * WIDTH, 0)))
        scales = []
        for name in ("dense_weight", "input_weight", "state_weight", "output_weight"):
            arrays[name], scale = _in_panels(arrays[name], 3 * WIDTH if name == "state_weight" else WIDTH)
            scales.append(scale)
        return (*arrays.values(), np.array(scales, np.float32))


ARRAY_NAMES: Final = tuple(field.name for field in fields(SequenceNetwork))
"""Names of the arrays of a network, in order."""


def _in_panels(weight: Singles, width: int) -> tuple[NDArray[np.int16], float]:
    """int16[..., columns / width, k / 2, width, 2], the columns of float32[..., k, columns] by twos of k; the scale.

    No sum of products with inputs overflows 32 bits. The cache takes a panel in one stream. Rows begin where its lines
    do: a vector in two takes twice as long to load.
    """
    *outer, k, columns = weight.shape
    cache_line = 64  # bytes
    most, sizes = (2**31 - 1) / core.LARGEST_INPUT - k, np.abs(weight)
    scale = max(float(sizes.max()) / 32_767, float(sizes.sum(axis=-2).max()) / most, 1e-30)
    integers = np.rint(np.pad(weight, [(0, 0)] * len(outer) + [(0, k % 2), (0, 0)]) / scale)
    memory: NDArray[np.int16] = np.empty(integers.size + cache_line, np.int16)
    first = -memory.ctypes.data % cache_line // memory.itemsize
    panels = memory[first : first + integers.size].reshape(*outer, columns // width, -1, width, 2)
    panels[...] = np.einsum("...kjpu->...pkuj", integers.reshape(*outer, -1, 2, columns // width, width))
    return panels, scale


PENALTY: Final = 0.1
"""Cost of a section, chosen on held-out folds; the paper's penalties by area lose short blocks."""

PENALTY_INSIDE: Final = 1.0
"""The same for a section that starts inside a table, a list or a run of like siblings, if all siblings are alike."""


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
    mean: Singles
    scale: Singles
    network: SequenceNetwork
    decision: LearnedDecision | None
    version: str

    def __repr__(self) -> str:
        return f"<BlockModel {self.version}>"

    def score(self, page: Page) -> Scores:
        """Score every unit of the page; a page is scored when it is counted, and not again when it is cleaned."""
        return _score_once(page, self)[0]

    def content_probability(self, page: Page) -> Floats:
        """float64[m], probability that each block is content."""
        return 1 - score_blocks(page, self)[0].templateness[page.n :]

    @classmethod
    def create(
        cls,
        tables: TokenTables,
        mean: Singles,
        scale: Singles,
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
        return cls.create(TokenTables(names, words), mean, scale, network, decision)


def _arrays(
    tables: TokenTables, mean: Singles, scale: Singles, network: SequenceNetwork, decision: LearnedDecision | None
) -> dict[str, NDArray[Any]]:
    """The arrays as they are stored: tables and network in half precision."""
    names, words = tables.names.astype(np.float16), tables.words.astype(np.float16)
    stored: dict[str, NDArray[Any]] = {"names": names, "words": words, "mean": mean, "scale": scale, **network.arrays()}
    return stored | decision.arrays() if decision else stored


# ---- Attribution of scores to features by occlusion: the score with a feature against the score without it.


@dataclass(frozen=True, eq=False, slots=True)
class Attribution:
    """Contributions of features to the scores of a page's blocks; correlated features share their attribution.

    Attributes:
        names: names of the k features, or families of features.
        parts: float32[m, k], change of the logit of templateness by each feature, above 0 towards template.
        values: float32[m, k], the feature values; NaN for families.
    """

    names: tuple[str, ...]
    parts: Singles
    values: Singles

    def heaviest(self, blocks: Sequence[int], most: int = 6) -> list[tuple[str, float, float | None]]:
        """Return name, mean part and mean value of the features with the largest mean part on these blocks."""
        if not len(blocks):
            return []
        rows = np.asarray(blocks)
        parts = self.parts[rows].mean(axis=0)
        values = self.values[rows].mean(axis=0)
        order = np.argsort(-np.abs(parts))[:most]
        return [
            (self.names[at], float(parts[at]), None if np.isnan(values[at]) else float(values[at]))
            for at in order.tolist()
            if abs(parts[at]) >= 0.01
        ]


def attribute_scores(model: BlockModel, page: Page) -> Attribution:
    """Attribute the scores of a page to features: replace each feature by its mean on all blocks, and score again.

    This evaluates the model once per feature; on pages of more than 1,500 blocks once per family of features.
    """
    matrix, _ = features_of(page, model.tables)
    families: dict[str, list[int]] = {}
    for at, name in enumerate(FEATURE_NAMES):
        family = name.partition(":")[0] if len(matrix) > 1_500 else name  # such as "container 0"
        families.setdefault(family, []).append(at)
    score = log_odds(model.content_probability(page), 1e-6)
    parts = np.zeros((len(matrix), len(families)), np.float32)
    values = np.full((len(matrix), len(families)), np.nan, np.float32)
    for at, columns in enumerate(families.values()):
        if len(columns) == 1:
            values[:, at] = matrix[:, columns[0]]
        scale = model.scale.copy()
        scale[columns] = 0  # standardised, every value is the mean
        parts[:, at] = log_odds(replace(model, scale=scale).content_probability(page), 1e-6) - score
    return Attribution(tuple(families), parts, values)


def score_blocks(page: Page, model: BlockModel) -> tuple[Scores, KindInputs]:
    """Score the blocks of a page; and the inputs of its kind, without its address. Elements have even scores."""
    units, numbers = page.n + page.m, np.empty(len(KIND_INPUTS))
    numbers.fill(np.nan)
    templateness, words, penalty = np.empty(units), np.empty(page.m), np.empty(units)
    weight, in_tree = np.empty(units, int), np.empty(units, bool)
    arrays = templateness, words, weight, in_tree, penalty
    network = model.mean, model.scale, *model.network.panels
    chosen = CLIP, PENALTY, PENALTY_INSIDE
    of_page = numbers[: len(PAGE_FEATURE_NAMES) + 2 * len(PROPERTY_COLUMNS) + 1]
    tokens = core.score_blocks(page_arguments(page, model.tables), network, chosen, PROPERTY_COLUMNS, arrays, of_page)
    for array in arrays:
        array.setflags(write=False)  # the core reads them with the lock released
    inputs = KindInputs(numbers, np.frombuffer(tokens, np.int64))
    scores = templateness[page.n :]
    decision = PageDecision(model.decision if page.m else None, inputs, words, scores, page.url)
    return Scores(templateness, weight, in_tree, penalty, decision), inputs


_score_once = cached_on_page(score_blocks)
