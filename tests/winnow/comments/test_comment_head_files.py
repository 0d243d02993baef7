"""The weights of the comments head are numbers in a file, each checked when it is read."""

from pathlib import Path

import numpy as np
import pytest

from winnow.evidence.comment_model import CommentHead
from winnow.evidence.comments import WEIGHTS
from winnow.models.files import ModelError, read_model_file, write_model_file


@pytest.mark.parametrize(
    ("name", "array"),
    [
        *(("words", None), ("mean", np.zeros(3)), ("scale", np.array(["a"])), ("forum_weight", np.full(7, np.nan))),
        ("network output_weight", np.full((32, 12), np.inf)),
    ],
)
def test_a_damaged_file_is_refused(tmp_path: Path, name: str, array: np.ndarray | None) -> None:
    header, arrays = read_model_file(WEIGHTS)
    if array is None:
        del arrays[name]
    else:
        arrays[name] = array
    write_model_file(tmp_path / "head.npz", header, arrays)
    with pytest.raises(ModelError, match=name):
        CommentHead.load(tmp_path / "head.npz")


@pytest.mark.parametrize("change", [{"name": "blocks"}, {"features": ["another"]}])
def test_a_file_of_another_kind_or_for_other_features_is_refused(tmp_path: Path, change: dict[str, object]) -> None:
    header, arrays = read_model_file(WEIGHTS)
    write_model_file(tmp_path / "head.npz", {**header, **change}, arrays)
    with pytest.raises(ModelError, match=r"kind|other features"):
        CommentHead.load(tmp_path / "head.npz")
