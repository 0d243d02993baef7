"""Page-level models: how likely every unit of a page is to be template, and what is to be kept."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Final

from winnow.models.files import ModelError, read_model_file
from winnow.models.logistic.model import LOGISTIC, LogisticModel
from winnow.models.networks import BLOCKS, BlockPerceptron
from winnow.models.scores import Model, Scores, StoredModel

__all__ = ["DEFAULT_MODEL", "Model", "ModelError", "Scores", "StoredModel", "load_model", "shipped_models"]

DEFAULT_MODEL: Final = BLOCKS
"""Name of the model that is used when none is named."""

_SHIPPED: Final = Path(__file__).with_name("weights")
_KINDS: Final[dict[str, type[BlockPerceptron] | type[LogisticModel]]] = {
    BLOCKS: BlockPerceptron,
    LOGISTIC: LogisticModel,
}


def shipped_models() -> list[str]:
    """Names of the models that come with the package."""
    return sorted(file.stem for file in _SHIPPED.glob("*.npz"))


def load_model(name_or_path: str | Path | None = None) -> StoredModel:
    """Load a model, once per process and file. Loading never executes anything.

    Args:
        name_or_path: name of a model that comes with the package, or the path of a file written by ``winnow train``;
            by default :data:`DEFAULT_MODEL`.

    Raises:
        FileNotFoundError: there is neither a model of that name nor such a file.
        ModelError: the file is not a model, is damaged, or is of a kind or version that this package cannot use.
    """
    file = _find_file(DEFAULT_MODEL if name_or_path is None else str(name_or_path))
    status = file.stat()
    return _load(file, status.st_mtime_ns, status.st_size)


def _find_file(name: str) -> Path:
    file = _SHIPPED / f"{name}.npz"
    if Path(name).name != name or not file.is_file():
        file = Path(name)
    if not file.is_file():
        shipped = ", ".join(shipped_models()) or "none"
        raise FileNotFoundError(f"no model named {name!r} and no such file; shipped with the package: {shipped}")
    return file.absolute()


@lru_cache(maxsize=8)
def _load(file: Path, _modified: int, _size: int) -> StoredModel:
    header, _ = read_model_file(file)
    kind = _KINDS.get(str(header.get("name")))
    if kind is None:
        raise ModelError(f"{file}: a model of a kind that this version does not know: {header.get('name')!r}")
    return kind.load(file)
