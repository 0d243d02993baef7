"""Page-level models: a :class:`~winnow.page.Page` in, the templateness of each of its units out."""

from winnow.models.base import Model, Scores
from winnow.models.files import ModelError
from winnow.models.registry import DEFAULT_MODEL, load_model, shipped_models

__all__ = ["DEFAULT_MODEL", "Model", "ModelError", "Scores", "load_model", "shipped_models"]
