"""Page-level models, which score how likely every unit of a page is template."""

from __future__ import annotations

from functools import cache, lru_cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypeVar, cast

import numpy as np

from tamis.core import core
from tamis.models.files import ModelError, read_model_file

if TYPE_CHECKING:
    from tamis.arrays import Flags, Floats, Integers, Singles
    from tamis.models.decision import Decision
    from tamis.page.page import Page

    Inputs = TypeVar("Inputs", Singles, Floats)

__all__ = ["DEFAULT_MODEL", "Model", "ModelError", "Scores", "StoredModel", "load_model", "shipped_models"]


class Scores(NamedTuple):
    """Classifier output over the units of a page: its ``n`` elements, then its ``m`` text blocks.

    Attributes:
        templateness: float64[n + m] in 0..1, probability that the unit is template.
        weight: int64[n + m], weight of the unit in smoothing, as a number of nodes; 0 ignores its score.
        in_tree: bool[n + m], false for hidden units, which are not smoothed and take their parent's value.
        penalty: float64[n + m], cost of starting a section at each unit when scores are smoothed; ``inf`` never does.
        decision: chooses the threshold, for these scores or adjusted ones.
    """

    templateness: Floats
    weight: Integers
    in_tree: Flags
    penalty: Floats
    decision: Decision

    @property
    def threshold(self) -> float:
        """Score from which a unit counts as template on this page by the model alone."""
        return self.decision.threshold

    def adjusted(self, evidence: Floats) -> Scores:
        """Return a copy with log-odds, float64[n + m], added to the scores; above 0 is evidence of template."""
        adjusted = np.empty(len(evidence))
        core.adjust_scores(self.templateness, evidence, adjusted)
        return self._replace(templateness=adjusted)


class Model(Protocol):
    """A page-level model; loading one never executes code from its file."""

    @property
    def name(self) -> str:
        """Kind of model, such as ``"blocks"``."""
        ...

    @property
    def version(self) -> str:
        """Identifier of the weights; it is stored with every item."""
        ...

    def score(self, page: Page) -> Scores:
        """Score every unit of the page."""
        ...


class StoredModel(Model, Protocol):
    """A model that can be saved to a file."""

    def save(self, path: Path) -> None:
        """Write the model to an ``.npz`` file."""
        ...


def logistic(logits: Floats) -> Floats:
    """float64[...], probabilities of log-odds, which are clipped to plus or minus 30."""
    return np.asarray(1 / (1 + np.exp(-np.minimum(np.maximum(logits, -30.0), 30.0))))


def log_odds(probabilities: Floats | np.float64, epsilon: float) -> Floats:
    """float64[...], log-odds of probabilities, clipped to ``epsilon`` and ``1 - epsilon``."""
    bounded = np.minimum(np.maximum(probabilities, epsilon), 1 - epsilon)
    odds: Floats = np.log(bounded / (1 - bounded))
    return odds


CLIP: Final = 4.0
"""Standardised inputs of models are clipped to this many standard deviations."""


def standardise(inputs: Inputs, mean: Inputs, scale: Inputs) -> Inputs:
    """float[..., k], standardised inputs of the same dtype, clipped; NaN becomes the mean."""
    standardised: Inputs = np.minimum(np.maximum((inputs - mean) * scale, -CLIP), CLIP)
    standardised[np.isnan(standardised)] = 0.0
    return standardised


BLOCKS: Final = "blocks"
"""Name of the kind of model that is the default."""

DEFAULT_MODEL: Final = BLOCKS
"""Name of the default model."""

_WEIGHTS: Final = Path(__file__).parent / "weights"
ENTRY_POINTS: Final = "tamis.models"
"""Group of the entry points of further kinds of models: classes with ``load``, and ``shipped`` if they have a file."""


def _further_kind(name: str) -> Any:
    """Return the class of a kind of model that another package brings; ``None`` if there is none of this name."""
    return next((found.load() for found in entry_points(group=ENTRY_POINTS, name=name)), None)


def shipped_models() -> list[str]:
    """Names of the models that come with the package."""
    return sorted([*(file.stem for file in _WEIGHTS.glob("*.npz")), *entry_points(group=ENTRY_POINTS).names])


def load_model(name_or_path: str | Path | None = None) -> StoredModel:
    """Load a model, once per process and file. Loading never executes code from the file.

    Args:
        name_or_path: name of a model that comes with the package, or the path of a file written by ``tamis train``;
            by default :data:`DEFAULT_MODEL`.

    Raises:
        FileNotFoundError: there is neither a model of that name nor such a file.
        ModelError: the file is not a model, is damaged, or is of a kind or version that this package cannot use.
    """
    return _default_model() if name_or_path is None else _load_named(str(name_or_path))


def usable_model(model: Model | str | Path | None) -> Model:
    """Return the model, loading it if a name or file is given."""
    if model is None or isinstance(model, str | Path):
        return load_model(model)
    if not hasattr(model, "score"):
        raise TypeError(f"model must be a model, its name or its file, not {type(model).__name__}")
    return model


@cache
def _default_model() -> StoredModel:
    return _load_named(DEFAULT_MODEL)


def _load_named(name: str) -> StoredModel:
    file = _WEIGHTS / f"{name}.npz" if Path(name).name == name else Path(name)
    if not file.is_file():
        file = Path(name) if Path(name).is_file() else getattr(_further_kind(name), "shipped", Path(name))
    if not file.is_file():
        shipped = ", ".join(shipped_models()) or "none"
        raise FileNotFoundError(f"no model named {name!r} and no such file; shipped with the package: {shipped}")
    status = file.stat()
    return _load(file.absolute(), status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=8)
def _load(file: Path, _modified: int, _size: int) -> StoredModel:
    header, _ = read_model_file(file, only_header=True)
    name = str(header.get("name"))
    if name == BLOCKS:
        from tamis.models.blocks import BlockModel  # noqa: PLC0415  (it imports this module)

        return BlockModel.load(file)
    kind = _further_kind(name)
    if kind is None:
        raise ModelError(f"{file}: unknown kind of model: {name!r}")
    return cast("StoredModel", kind.load(file))
