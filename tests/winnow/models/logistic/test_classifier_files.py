"""Weights come back from their file as they were, and alien or damaged files are refused with a reason."""

import io
import json
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from winnow.models.files import FORMAT, ModelError, read_model_file, write_model_file
from winnow.papers.element_features import NODE_FEATURES
from winnow.papers.page_level import BUCKETS, LogisticModel

K = len(NODE_FEATURES)


@pytest.fixture
def model() -> LogisticModel:
    random = np.random.default_rng(3)
    low, high, weight = random.normal(size=(3, BUCKETS, K))
    return LogisticModel.from_arrays(0.6, low, high, weight, random.normal(size=BUCKETS))


def test_a_model_comes_back_as_it_was(model: LogisticModel, tmp_path: Path):
    file = tmp_path / "model.npz"
    model.save(file)
    loaded = LogisticModel.load(file)
    assert (loaded.threshold, loaded.version, loaded.name) == (0.6, model.version, "logistic")
    for name in ("low", "high", "weight", "intercept"):
        assert np.array_equal(getattr(loaded, name), getattr(model, name))


def test_the_same_weights_give_the_same_bytes_and_others_another_version(model: LogisticModel, tmp_path: Path):
    model.save(tmp_path / "a.npz")
    model.save(tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    other = LogisticModel.from_arrays(0.6, model.low, model.high, model.weight + 1e-9, model.intercept)
    assert other.version != model.version


def test_a_missing_file_is_named(tmp_path: Path):
    with pytest.raises(FileNotFoundError, match="absent"):
        LogisticModel.load(tmp_path / "absent.npz")


def pickled() -> bytes:
    return pickle.dumps({"weight": 1})


def array_of_objects() -> bytes:
    stream = io.BytesIO()
    np.savez(stream, header=np.array([{"a": 1}], object))
    return stream.getvalue()


def no_header() -> bytes:
    stream = io.BytesIO()
    np.savez(stream, weight=np.zeros(3))
    return stream.getvalue()


def bomb() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("weight.npy", b"\0" * 70_000_000)
    return stream.getvalue()


def other_zip() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("header", b"{}")
    return stream.getvalue()


@pytest.mark.parametrize(
    "contents",
    [bytes, lambda: b"PK\x03\x04 nothing", lambda: b"<html>", pickled, array_of_objects, no_header, other_zip, bomb],
)
def test_alien_files_are_refused(contents: Callable[[], bytes], tmp_path: Path):
    file = tmp_path / "alien.npz"
    file.write_bytes(contents())
    with pytest.raises(ModelError, match=r"alien\.npz"):
        LogisticModel.load(file)


def test_nothing_is_executed_while_a_file_is_read(tmp_path: Path):
    class Trap:
        def __reduce__(self) -> tuple[Any, ...]:
            return (Path.touch, (tmp_path / "executed",))

    stream = io.BytesIO()
    np.savez(stream, header=np.array([Trap()], object))
    (tmp_path / "trap.npz").write_bytes(stream.getvalue())
    (tmp_path / "trap2.npz").write_bytes(pickle.dumps(Trap()))
    for name in ("trap.npz", "trap2.npz"):
        with pytest.raises(ModelError):
            LogisticModel.load(tmp_path / name)
    assert not (tmp_path / "executed").exists()


@pytest.mark.parametrize("place", [0.1, 0.3, 0.5, 0.7, 0.9, 0.999])
def test_damaged_and_cut_files_are_refused(place: float, model: LogisticModel, tmp_path: Path):
    file = tmp_path / "model.npz"
    model.save(file)
    whole = file.read_bytes()
    at = int(len(whole) * place)
    file.write_bytes(whole[:at])
    with pytest.raises(ModelError):
        LogisticModel.load(file)
    file.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
    try:
        damaged = LogisticModel.load(file)
    except ModelError:
        return
    assert damaged.version == model.version  # the byte was in a field that zip keeps twice


HEADER = {
    "name": "logistic",
    "threshold": 0.5,
    "features": [f.name for f in NODE_FEATURES],
    "area_bounds": [2e4, 1e5, 4e5],
}


@pytest.mark.parametrize(
    "change",
    [
        {"name": "other"},
        {"features": ["depth"]},
        {"area_bounds": [1, 2, 3]},
        {"threshold": 2.0},
        {"threshold": "high"},
        {"weight": np.zeros((BUCKETS, K + 1))},
        {"weight": np.full((BUCKETS, K), np.nan)},
        {"intercept": np.array(["a"] * BUCKETS)},
        {"low": None},
    ],
)
def test_models_that_do_not_fit_this_version_are_refused(change: dict[str, Any], tmp_path: Path):
    arrays = {name: np.zeros((BUCKETS, K)) for name in ("low", "high", "weight")} | {"intercept": np.zeros(BUCKETS)}
    file = tmp_path / "model.npz"
    write_model_file(file, HEADER, arrays)
    LogisticModel.load(file)
    header = {name: change.get(name, value) for name, value in HEADER.items()}
    kept = {name: change.get(name, value) for name, value in arrays.items()}
    write_model_file(file, header, {name: value for name, value in kept.items() if value is not None})
    with pytest.raises(ModelError):
        LogisticModel.load(file)


def test_a_model_of_another_format_is_refused(tmp_path: Path):
    file = tmp_path / "model.npz"
    header = np.frombuffer(json.dumps({"format": FORMAT + "0"}).encode(), np.uint8)
    np.savez(file, header=header)
    with pytest.raises(ModelError, match="format"):
        read_model_file(file)
