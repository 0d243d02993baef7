"""Page-level models, which score how likely every unit of a page is template."""

from __future__ import annotations

from functools import cache, lru_cache
from importlib import import_module
from pathlib import Path
from typing import Final, cast

from winnow.models.blocks import BLOCKS
from winnow.models.files import ModelError, read_model_file
from winnow.models.scores import Model, Scores, StoredModel

__all__ = ["DEFAULT_MODEL", "Model", "ModelError", "Scores", "StoredModel", "load_model", "shipped_models"]

DEFAULT_MODEL: Final = BLOCKS
"""Name of the default model."""

_PACKAGE: Final = Path(__file__).parents[1]
_WEIGHTS: Final = _PACKAGE / "models" / "weights", _PACKAGE / "papers" / "weights"
_KINDS: Final = {
    BLOCKS: ("winnow.models.blocks", "BlockModel"),
    "logistic": ("winnow.papers.page_level", "LogisticModel"),  # imported on demand
}
"""Module and class of each kind of model."""


def shipped_models() -> list[str]:
    """Names of the models that come with the package."""
    return sorted(file.stem for folder in _WEIGHTS for file in folder.glob("*.npz"))


def load_model(name_or_path: str | Path | None = None) -> StoredModel:
    """Load a model, once per process and file. Loading never executes code from the file.

    Args:
        name_or_path: name of a model that comes with the package, or the path of a file written by ``winnow train``;
            by default :data:`DEFAULT_MODEL`.

    Raises:
        FileNotFoundError: there is neither a model of that name nor such a file.
        ModelError: the file is not a model, is damaged, or is of a kind or version that this package cannot use.
    """
    return _default_model() if name_or_path is None else _load_file(_find_file(str(name_or_path)))


@cache
def _default_model() -> StoredModel:
    return _load_file(_find_file(DEFAULT_MODEL))


def _load_file(file: Path) -> StoredModel:
    status = file.stat()
    return _load(file, status.st_mtime_ns, status.st_size)


def _find_file(name: str) -> Path:
    shipped_files = [folder / f"{name}.npz" for folder in _WEIGHTS] if Path(name).name == name else []
    file = next(filter(Path.is_file, [*shipped_files, Path(name)]), None)
    if file is None:
        shipped = ", ".join(shipped_models()) or "none"
        raise FileNotFoundError(f"no model named {name!r} and no such file; shipped with the package: {shipped}")
    return file.absolute()


@lru_cache(maxsize=8)
def _load(file: Path, _modified: int, _size: int) -> StoredModel:
    header, _ = read_model_file(file)
    name = str(header.get("name"))
    if name not in _KINDS:
        raise ModelError(f"{file}: unknown kind of model: {name!r}")
    module, class_name = _KINDS[name]
    return cast("StoredModel", getattr(import_module(module), class_name).load(file))
