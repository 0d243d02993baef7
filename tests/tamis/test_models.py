"""Page-level models: their files, their networks, the scores of blocks, and the decision where to cut."""

import io
import pickle
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import tamis
from tamis.features import FEATURE_NAMES, TABLE_SIZE, TokenTables, features_of
from tamis.models import CLIP, load_model, log_odds, shipped_models
from tamis.models.blocks import ARRAY_NAMES, WIDTH, BlockModel, SequenceNetwork, attribute_scores
from tamis.models.decision import (
    ARTICLE,
    BETAS,
    CONFIDENCE_INPUTS,
    KIND_INPUTS,
    PAGE_KINDS,
    TOKENS,
    KindHead,
    KindInputs,
    LearnedDecision,
    PageDecision,
    expected_f1_threshold,
)
from tamis.models.files import FORMAT, ModelError, read_model_file, write_model_file
from tamis.page.page import Page
from tamis.smoothing import smooth
from tests.tamis.chosen import tags_of

K = len(FEATURE_NAMES)
WEIGHTS = Path(tamis.__file__).parent / "models" / "weights"
STORY = f"""
<html><head><title>The otters</title></head><body>
<nav><ul>{"".join(f"<li><a href=/{k}>Section {k}</a></li>" for k in range(6))}</ul></nav>
<main><h1>The otters</h1>{"<p>Ordinary words of a story, told at some length.</p>" * 4}
<div style="display:none"><p>Out of sight</p></div></main></body></html>
"""


def random_arrays(seed: int = 3) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    tables = random.normal(size=(2, TABLE_SIZE)).astype(np.float16)
    arrays = {"names": tables[0], "words": tables[1], "mean": random.normal(size=K), "scale": random.random(K)}
    for name, shape in zip(ARRAY_NAMES, SequenceNetwork.shapes(K), strict=True):
        arrays[f"network {name}"] = random.normal(size=shape) / 4  # or all is certain
    arrays |= {"kind mean": np.zeros(len(KIND_INPUTS)), "kind scale": random.random(len(KIND_INPUTS))}
    arrays["kind weight"] = random.normal(size=(len(KIND_INPUTS), len(PAGE_KINDS)))
    arrays["kind bias"] = np.zeros(len(PAGE_KINDS))
    arrays["kind tokens"] = np.tile(random.normal(size=(64, len(PAGE_KINDS))), (TOKENS // 64, 1))  # is soon compressed
    arrays["confidence"] = random.random(len(CONFIDENCE_INPUTS)) / 9
    return {name: array.astype(np.float32) for name, array in arrays.items()}


def model_of(arrays: dict[str, np.ndarray]) -> BlockModel:
    tables = TokenTables(arrays["names"], arrays["words"])
    network, decision = SequenceNetwork.stored(arrays, K), LearnedDecision.stored(arrays)
    return BlockModel.create(tables, arrays["mean"], arrays["scale"], network, decision)


@pytest.fixture(scope="module")
def model() -> BlockModel:
    return model_of(random_arrays())


# ---- Files


def test_a_model_comes_back_from_its_file_as_it_was(model: BlockModel, tmp_path: Path):
    files = tmp_path / "a.npz", tmp_path / "b.npz"
    for file in files:
        model.save(file)
    assert files[0].read_bytes() == files[1].read_bytes()
    loaded = load_model(files[0])
    assert (loaded.name, loaded.version) == ("blocks", model.version)
    page = Page.parse(STORY)
    assert np.array_equal(loaded.score(page).templateness, model.score(page).templateness)


@pytest.mark.parametrize("name", sorted(random_arrays()))
def test_the_version_changes_with_every_array(name: str, model: BlockModel):
    arrays = random_arrays()
    arrays[name] = arrays[name] + np.float32(0.5)
    assert model_of(arrays).version != model.version


def test_nothing_is_executed_while_a_file_is_read(model: BlockModel, tmp_path: Path):
    class Trap:
        def __reduce__(self) -> tuple[Any, ...]:
            return (Path.touch, (tmp_path / "executed",))

    stream = io.BytesIO()
    np.savez(stream, header=np.array([Trap()], object))
    contents = [stream.getvalue(), pickle.dumps(Trap())]
    model.save(tmp_path / "whole.npz")
    with np.load(tmp_path / "whole.npz") as stored:
        stream = io.BytesIO()
        np.savez(stream, **{**stored, "network dense_weight": np.array([Trap()], object)})
        contents.append(stream.getvalue())
    for content in contents:
        (tmp_path / "trap.npz").write_bytes(content)
        with pytest.raises(ModelError):
            BlockModel.load(tmp_path / "trap.npz")
    assert not (tmp_path / "executed").exists()


SHIPPED = (WEIGHTS / "blocks-self-taught.npz").read_bytes()


@settings(max_examples=100, deadline=None)
@given(
    changes=st.lists(st.tuples(st.integers(-400, 400), st.integers(0, 255)), min_size=1, max_size=4),
    end=st.one_of(st.just(len(SHIPPED)), st.integers(0, len(SHIPPED))),
)
def test_a_damaged_file_is_a_model_error_or_reads_as_before(tmp_path_factory, changes, end):
    file = tmp_path_factory.getbasetemp() / "damaged.npz"
    data = bytearray(SHIPPED)
    for place, value in changes:
        data[place] = value
    file.write_bytes(data[:end])
    with suppress(ModelError):
        header, _ = read_model_file(file)
        assert header["format"] == FORMAT


HEADER = {"name": "blocks", "features": FEATURE_NAMES, "decision": list(KIND_INPUTS)}


@pytest.mark.parametrize(
    "change",
    [
        *({"name": "other"}, {"features": FEATURE_NAMES[::-1]}, {"names": np.zeros(TABLE_SIZE - 1)}, {"words": None}),
        *({"mean": np.zeros(K + 1)}, {"scale": np.full(K, np.inf)}),
        *({"network dense_weight": np.zeros((K - 1, WIDTH))}, {"network dense_bias": np.zeros(0)}),
        *({"network state_bias": np.zeros((2, WIDTH + 1))}, {"network last_bias": np.array(["a"])}),
        *({"decision": list(KIND_INPUTS)[::-1]}, {"kind weight": np.zeros((len(KIND_INPUTS), 2))}),
        {"confidence": None},
    ],
    ids=" ".join,
)
def test_models_that_do_not_fit_this_version_are_refused(change: dict[str, Any], tmp_path: Path):
    file = tmp_path / "model.npz"
    kept = {name: change.get(name, array) for name, array in random_arrays().items()}
    header = {name: change.get(name, value) for name, value in HEADER.items()}
    write_model_file(file, header, {name: array for name, array in kept.items() if array is not None})
    with pytest.raises(ModelError):
        load_model(file)


def test_every_model_of_the_package_loads_by_its_name_and_has_a_card():
    assert {"blocks", "blocks-self-taught"} <= set(shipped_models())
    for name in shipped_models():
        model = load_model(name)
        assert name.startswith(model.name)
        card = next(Path(tamis.__file__).parents[1].glob(f"**/weights/{name}.md"))
        assert f"`{model.version}`" in card.read_text(encoding="utf-8")


# ---- The network


def read_in_order(network: SequenceNetwork, inputs: np.ndarray) -> np.ndarray:
    """Logits of blocks, worked out one after the other in double precision."""
    blocks = np.maximum(inputs.clip(-CLIP, CLIP) @ network.dense_weight + network.dense_bias, 0)
    ways = []
    for way, turn in enumerate((slice(None), slice(None, None, -1))):
        states = [np.zeros(network.state_bias.shape[1])]
        for own in np.split((blocks @ network.input_weight[way] + network.input_bias[way])[turn], len(blocks)):
            gates = np.split(own[0], 3), np.split(states[-1] @ network.state_weight[way], 3)
            update, reset = (1 / (1 + np.exp(-(gates[0][gate] + gates[1][gate]))) for gate in range(2))
            new = np.tanh(gates[0][2] + reset * (gates[1][2] + network.state_bias[way]))
            states.append((1 - update) * new + update * states[-1])
        ways.append(np.stack(states[1:])[turn])
    states = np.concatenate(ways, axis=1)
    of_page = np.concatenate([states.mean(axis=0), states.max(axis=0)]) @ network.page_weight
    last = np.maximum(states @ network.output_weight + network.output_bias + of_page, 0)
    return last @ network.last_weight + network.last_bias


@pytest.mark.parametrize("m", [1, 8, 21, 4_101])
def test_blocks_are_read_in_order_there_and_back(m: int):
    random = np.random.default_rng(4)
    tables = TokenTables(*random.normal(size=(2, TABLE_SIZE)).astype(np.float32))
    weights = (random.normal(size=size).astype(np.float32) / 8 for size in SequenceNetwork.shapes(len(FEATURE_NAMES)))
    page = Page.parse("".join(f"<p class=c{k % 7}>{'word ' * k}" for k in random.integers(1, 40, m).tolist()))
    matrix, network = features_of(page, tables)[0], SequenceNetwork(*weights).rounded()
    mean, scale = matrix.mean(axis=0), 1 / (matrix.std(axis=0) + 1)
    found = BlockModel(tables, mean, scale, network, None, "").content_probability(page)
    logits = read_in_order(network, (matrix - mean) * scale)
    np.testing.assert_allclose(log_odds(found, 1e-13), logits, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("size", [1e-20, 0.1, 1e5])
def test_no_sum_of_products_overflows_however_large_the_weights_are(size: float):
    weights = (np.full(shape, -size, np.float32) for shape in SequenceNetwork.shapes(K))
    for panels in SequenceNetwork(*weights).panels:
        if panels.dtype == np.int16:
            sums = np.abs(panels.astype(float)).sum(axis=(-3, -1))
            assert 0.9 * 2**31 < sums.max() * 8192 < 2**31


# ---- Scores


def test_blocks_are_scored_and_elements_have_no_opinion(model: BlockModel):
    page = Page.parse(STORY)
    scores = model.score(page)
    for values in (scores.templateness, scores.weight, scores.in_tree, scores.penalty):
        assert values.shape == (page.n + page.m,)
    assert ((scores.templateness >= 0) & (scores.templateness <= 1)).all()
    assert len(set(scores.templateness[page.n :])) > 3
    assert not scores.weight[: page.n].any()
    assert (scores.penalty > 0).all()
    assert 0 < scores.threshold < 2
    again = model.score(Page.parse(STORY))
    assert np.array_equal(scores.templateness, again.templateness)


def test_longer_blocks_weigh_more(model: BlockModel):
    page = Page.parse(f"<p>one</p><p>{'word ' * 16}</p><p>{'word ' * 400}</p>")
    assert model.score(page).weight[page.n :].tolist() == [1, 4, 20]


def test_only_elements_where_the_text_branches_are_in_the_tree(model: BlockModel):
    page = Page.parse("<body><div><div><section><p>one</p><p>two</p></section></div></div><p>three</p></body>")
    in_tree = model.score(page).in_tree
    assert tags_of(page, in_tree) == ["html", "div"]
    assert in_tree[page.n :].all()
    assert np.isfinite(smooth(page.unit_parent, model.score(page)).value).all()


# ---- The threshold that the scores themselves expect to be best


def expected_f1(templateness: np.ndarray, words: np.ndarray, kept: np.ndarray) -> float:
    mass = np.maximum(words, 0.5)
    content = (1 - templateness) * mass
    return float(2 * content[kept].sum() / (mass[kept].sum() + content.sum()))


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 500)), min_size=1, max_size=12))
@example([(0.0, 10), (5e-324, 10), (1.0, 10)])
@example([(0.5, 10), (0.5, 20), (0.5, 1)])
@example([(0.2, 1), (float(np.nextafter(0.2, 1)), 100)])
@example([(1.0, 1)])
def test_no_other_cut_has_a_higher_expected_f1(blocks: list[tuple[float, int]]):
    templateness = np.array([score for score, _ in blocks])
    words = np.array([count for _, count in blocks], np.float64)
    threshold = expected_f1_threshold(templateness, words)
    assert 0 <= threshold <= np.nextafter(1, 2)
    kept = templateness < threshold
    assert kept.any()
    best = max(expected_f1(templateness, words, templateness <= score) for score in set(templateness.tolist()))
    assert expected_f1(templateness, words, kept) >= best - 1e-9


# ---- What is decided of a page as a whole


def decision_of(kind: str) -> tuple[PageDecision, np.ndarray]:
    """A decision for a page that is certainly of a kind, with ten clear blocks and ten doubtful ones."""
    bias = np.where(np.array(PAGE_KINDS) == kind, 50.0, 0.0)
    d, tokens = len(KIND_INPUTS), np.zeros((TOKENS, len(PAGE_KINDS)), np.float32)
    head = KindHead(np.zeros(d), np.ones(d), np.zeros((d, len(PAGE_KINDS))), bias, tokens)
    scores = np.array([0.05] * 10 + [0.55] * 10)
    learned, inputs = LearnedDecision(head, np.array([0, 1, 0, 0, 0, 0.0])), KindInputs(np.zeros(d), np.array([], int))
    return PageDecision(learned, inputs, np.full(20, 6.0), scores, None), scores


def test_an_article_is_cut_at_even_odds_and_other_pages_where_the_best_text_is_expected():
    for kind in PAGE_KINDS:
        decision, scores = decision_of(kind)
        own = decision.choose(scores, scope="auto", favor="balanced")
        assert own.kind == kind
        best = expected_f1_threshold(scores, decision.words)
        assert own.threshold == pytest.approx(0.5 if kind == PAGE_KINDS[ARTICLE] else best)
        article = decision.choose(scores, scope="article", favor="balanced").threshold
        page = decision.choose(scores, scope="page", favor="balanced").threshold
        assert (article, page) == pytest.approx((0.5, best))
    assert best > 0.55


@pytest.mark.parametrize("kind", ["article", "listing"])
def test_a_favor_moves_the_threshold_and_confidence_is_what_the_scores_expect(kind: str):
    decision, scores = decision_of(kind)
    chosen = {
        favor: decision.choose(scores, scope="auto", favor=favor) for favor in ("precision", "balanced", "recall")
    }
    thresholds = [choice.threshold for choice in chosen.values()]
    assert thresholds == sorted(thresholds)
    assert thresholds[0] < thresholds[2]
    kept = scores < chosen["balanced"].threshold
    expected = 2 * (1 - scores)[kept].sum() / (kept.sum() + (1 - scores).sum())
    assert chosen["balanced"].confidence == pytest.approx(expected)


@pytest.mark.parametrize(("favor", "most"), [("precision", 0.6), ("balanced", 0.75), ("recall", 0.9)])
def test_what_is_nearly_surely_template_goes_though_the_scores_expect_a_better_text_with_it(favor: str, most: float):
    decision, _ = decision_of("product")
    poor = np.append(0.55, np.full(19, most + 0.02))
    assert expected_f1_threshold(poor, decision.words, BETAS[favor]) > most + 0.02
    assert decision.choose(poor, scope="auto", favor=favor).threshold == pytest.approx(most)
    assert decision.choose(poor[1:].repeat(2)[:20], scope="auto", favor=favor).threshold > most + 0.02


# ---- Attribution


def test_what_a_feature_did_is_the_change_of_the_score_without_it():
    model, page = load_model("blocks"), Page.parse(STORY)
    assert isinstance(model, BlockModel)
    found = attribute_scores(model, page)
    matrix, _ = features_of(page, model.tables)
    at = FEATURE_NAMES.index("enclosed by nav")
    assert found.names == FEATURE_NAMES
    np.testing.assert_array_equal(found.values[:, at], matrix[:, at])
    inputs = (matrix - model.mean) * model.scale
    before = read_in_order(model.network, inputs)
    inputs[:, at] = 0
    change = read_in_order(model.network, inputs) - before
    np.testing.assert_allclose(found.parts[:, at], change, atol=1e-3)
    heaviest = found.heaviest([0, 1], most=4)
    parts = [abs(part) for _, part, _ in heaviest]
    assert len(heaviest) == 4
    assert parts == sorted(parts, reverse=True)
    assert all(value is not None for _, _, value in heaviest)
    assert found.heaviest([]) == []
