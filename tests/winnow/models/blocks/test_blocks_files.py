"""The perceptron comes back from its file as it was, and alien, damaged or misshapen files are refused."""

import io
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import winnow
from winnow.features.blocks import FEATURE_NAMES
from winnow.features.context import NAMES, ContextWindows
from winnow.features.tokens import TABLE_SIZE, TokenTables
from winnow.models import load_model, shipped_models
from winnow.models.files import ModelError, write_model_file
from winnow.models.networks import ARRAY_NAMES, BlockPerceptron, Network

K = len(FEATURE_NAMES)
HIDDEN = (6, 3)
NETWORKS = 2


def arrays_of(seed: int = 3) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    tables = random.normal(size=(2, TABLE_SIZE)).astype(np.float16)
    arrays = {"names": tables[0], "words": tables[1], "mean": random.normal(size=K), "scale": random.random(K)}
    for name, shape in zip(ARRAY_NAMES, Network.shapes(K, *HIDDEN), strict=True):
        arrays[name] = random.normal(size=(NETWORKS, *shape)) / 4  # or all is certain
    return {name: array.astype(np.float32) for name, array in arrays.items()}


def model_of(arrays: dict[str, np.ndarray]) -> BlockPerceptron:
    tables = TokenTables(arrays["names"], arrays["words"])
    together = Network(*(arrays[name] for name in ARRAY_NAMES))
    return BlockPerceptron.of(tables, arrays["mean"], arrays["scale"], together.unstacked())


def windows(m: int) -> ContextWindows:
    """Every stretch is the whole page."""
    edges = np.zeros((len(NAMES), m), np.int64)
    scale = np.full((len(NAMES), m, 1), 1 / m, np.float32)
    return ContextWindows(edges, edges + m, np.ones(m, np.float32), scale)


@pytest.fixture
def model() -> BlockPerceptron:
    return model_of(arrays_of())


def test_a_model_comes_back_as_it_was(model: BlockPerceptron, tmp_path: Path):
    file = tmp_path / "own.npz"
    model.save(file)
    loaded = load_model(file)
    assert isinstance(loaded, BlockPerceptron)
    assert (loaded.name, loaded.version) == ("blocks", model.version)
    for name in ("mean", "scale"):
        assert np.array_equal(getattr(loaded, name), getattr(model, name))
    assert len(loaded.networks) == NETWORKS
    for ours, theirs in zip(loaded.networks, model.networks, strict=True):
        for name in ARRAY_NAMES:
            assert getattr(ours, name).dtype == np.float32
            assert np.array_equal(getattr(ours, name), getattr(theirs, name))
    matrix = np.random.default_rng(1).normal(size=(9, K)).astype(np.float32)
    around = windows(9)
    probability = model.content_probability(matrix, around)
    assert len(set(probability.tolist())) == 9
    assert np.array_equal(loaded.content_probability(matrix, around), probability)


def test_networks_have_the_same_say(model: BlockPerceptron):
    matrix, around = np.random.default_rng(1).normal(size=(9, K)).astype(np.float32), windows(9)
    alone = [
        BlockPerceptron.of(model.tables, model.mean, model.scale, [network]).content_probability(matrix, around)
        for network in model.networks
    ]
    logits = [np.log(each / (1 - each)) for each in alone]
    both = model.content_probability(matrix, around)
    inner = (both > 1e-4) & (both < 1 - 1e-4)
    assert inner.any()
    assert np.allclose(np.log(both / (1 - both))[inner], np.mean(logits, axis=0)[inner], rtol=1e-3, atol=1e-3)


def test_the_same_weights_give_the_same_bytes(model: BlockPerceptron, tmp_path: Path):
    for name in ("a.npz", "b.npz"):
        model.save(tmp_path / name)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


@pytest.mark.parametrize("name", sorted(arrays_of()))
def test_the_version_changes_with_every_array(name: str, model: BlockPerceptron):
    arrays = arrays_of()
    arrays[name] = arrays[name] + np.float32(0.5)
    assert model_of(arrays).version != model.version


def test_nothing_is_executed_while_a_file_is_read(tmp_path: Path):
    class Trap:
        def __reduce__(self) -> tuple[Any, ...]:
            return (Path.touch, (tmp_path / "executed",))

    stream = io.BytesIO()
    np.savez(stream, header=np.array([Trap()], object))
    contents = [stream.getvalue(), pickle.dumps(Trap())]
    model_of(arrays_of()).save(tmp_path / "whole.npz")
    with np.load(tmp_path / "whole.npz") as stored:
        stream = io.BytesIO()
        np.savez(stream, **{**stored, "block_weight": np.array([Trap()], object)})
        contents.append(stream.getvalue())
    for content in contents:
        (tmp_path / "trap.npz").write_bytes(content)
        with pytest.raises(ModelError):
            BlockPerceptron.load(tmp_path / "trap.npz")
    assert not (tmp_path / "executed").exists()


@pytest.mark.parametrize("place", [0.0, 0.2, 0.5, 0.8, 0.999])
def test_cut_files_are_refused(place: float, model: BlockPerceptron, tmp_path: Path):
    file = tmp_path / "model.npz"
    model.save(file)
    whole = file.read_bytes()
    file.write_bytes(whole[: int(len(whole) * place)])
    with pytest.raises(ModelError):
        BlockPerceptron.load(file)


def test_a_changed_byte_is_noticed(model: BlockPerceptron, tmp_path: Path):
    file = tmp_path / "model.npz"
    model.save(file)
    whole = file.read_bytes()
    at = len(whole) // 2
    file.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
    with pytest.raises(ModelError):
        BlockPerceptron.load(file)


HEADER = {"name": "blocks", "features": FEATURE_NAMES, "networks": NETWORKS}


@pytest.mark.parametrize(
    "change",
    [
        {"name": "logistic"},
        {"name": "other"},
        {"features": FEATURE_NAMES[:-1]},
        {"features": FEATURE_NAMES[::-1]},
        {"networks": 0},
        {"networks": 1},
        {"networks": 3},
        {"networks": 99},
        {"networks": "three"},
        {"names": np.zeros(TABLE_SIZE - 1)},
        {"words": None},
        {"mean": np.zeros(K + 1)},
        {"scale": np.full(K, np.inf)},
        {"block_weight": np.zeros((NETWORKS, K - 1, HIDDEN[0]))},
        {"block_bias": np.zeros((NETWORKS, HIDDEN[0], 1))},
        {"block_bias": np.zeros((NETWORKS, 0))},
        {"block_bias": None},
        {"context_weight": np.zeros((NETWORKS, HIDDEN[0], HIDDEN[1]))},
        {"context_bias": np.zeros((NETWORKS, HIDDEN[1] + 1))},
        {"output_weight": np.zeros((NETWORKS, HIDDEN[1], 2))},
        {"output_bias": np.array(["a"])},
    ],
    ids=" ".join,
)
def test_models_that_do_not_fit_this_version_are_refused(change: dict[str, Any], tmp_path: Path):
    file = tmp_path / "model.npz"
    write_model_file(file, HEADER, arrays_of())
    BlockPerceptron.load(file)
    kept = {name: change.get(name, array) for name, array in arrays_of().items()}
    header = {name: change.get(name, value) for name, value in HEADER.items()}
    write_model_file(file, header, {name: array for name, array in kept.items() if array is not None})
    with pytest.raises(ModelError):
        BlockPerceptron.load(file)


def test_a_missing_file_is_named(tmp_path: Path):
    with pytest.raises(FileNotFoundError, match="absent"):
        BlockPerceptron.load(tmp_path / "absent.npz")


def test_every_model_of_the_package_loads_by_its_name_and_has_a_card():

    assert "logistic" in shipped_models()
    for name in shipped_models():
        model = load_model(name)
        assert name.startswith(model.name)
        card = Path(winnow.__file__).parent / "models" / "weights" / f"{name}.md"
        assert f"`{model.version}`" in card.read_text(encoding="utf-8")
