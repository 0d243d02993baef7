"""Sites alone, or sites and gold text, become a model that finds the content of sites it has not seen."""

import json
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import tamis
from demo.web import build_site
from tamis import Page
from tamis.features import FEATURE_NAMES, features_of
from tamis.models.blocks import BlockModel
from tamis.models.decision import CONFIDENCE_INPUTS, KIND_INPUTS, PAGE_KINDS, KindInputs
from tamis_papers.pages import find_sites
from tamis_papers.training import blocks, gold, sequences
from tamis_papers.training.blocks import KindExample, learn_confidence, learn_kinds, train_blocks
from tamis_papers.training.examples import (
    BlockPage,
    block_page,
    label_gold_page,
    label_pages,
    label_site,
    label_site_by_counts,
)
from tamis_papers.training.gold import gold_examples
from tamis_papers.training.networks import fit_block_model, learn_tables, stacked_token_features, train_block_model
from tamis_papers.training.report import GOLD_LABELS, SITE_LABELS, Trained
from tamis_papers.training.sequences import SequencePage, fit_sequence
from tests.tamis.test_models import read_in_order
from tests.tamis_papers.training.conftest import small_network
from tests.tamis_papers.training.test_gold import html

HOSTS = ("news", "docs", "blog")
FOLDS = 3  # each is trained without


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three sites, and articles of two of them and of further hosts as gold pages."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "gold" / "html").mkdir(parents=True)
    lines = []
    for name in (*HOSTS, "forum", "council"):
        site = build_site(name, seed=3, pages=11)
        (folder / "sites" / name).mkdir(parents=True)
        for number, (path, truth) in enumerate(site.truth.items()):
            resource = site.resources[path]
            if resource.status == 200 and resource.body and name in HOSTS:
                (folder / "sites" / name / f"{number}.html").write_bytes(resource.body)
            if truth.kind == "article" and number % 2 and name != "news":
                page_id = f"{name}-{number}"
                (folder / "gold" / "html" / f"{page_id}.html").write_bytes(resource.body)
                url = f"http://{name}{number % 3}.test{path}"
                lines.append(json.dumps({"id": page_id, "url": url, "gold_text": truth.content_text}))
        if name not in HOSTS:
            (folder / "sites" / name).rmdir()
    (folder / "gold" / "pages.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def site_pages(data: Path) -> list[BlockPage]:
    return label_pages(partial(label_site, seed=1), find_sites(data / "sites"))


@pytest.fixture(scope="module")
def trained(data: Path) -> Trained:
    with pytest.MonkeyPatch.context() as patch:
        for module in (blocks, gold):
            patch.setattr(module, "FOLDS", FOLDS)
        return train_blocks(find_sites(data / "sites"), gold_examples([data / "gold" / "pages.jsonl"]), seed=1)


def test_learned_features_of_a_source_come_from_the_others(site_pages: list[BlockPage]):
    weight = np.ones(len(site_pages))
    matrices = stacked_token_features(site_pages, weight, seed=0)
    news = [number for number, page in enumerate(site_pages) if page.source == "news"]
    others = [number for number, page in enumerate(site_pages) if page.source != "news"]
    tables = learn_tables([site_pages[number] for number in others], weight[others])
    for number in news:
        assert np.array_equal(matrices[number], features_of(site_pages[number].page, tables)[0])


def test_labels_of_one_kind_teach_nothing(data: Path):
    examples = gold_examples([data / "gold" / "pages.jsonl"])[:3]
    without_gold = [replace(example, gold=replace(example.gold, text="")) for example in examples]
    with pytest.raises(ValueError, match="no labels of both kinds"):
        train_block_model(label_pages(label_gold_page, without_gold), [])


def test_content_is_found_on_sources_that_were_held_out(trained: Trained):
    assert (trained.sites, len(trained.metrics)) == (3, 2)
    assert trained.gold_pages > 10
    for metrics in trained.metrics.values():
        assert metrics.auc > 0.7
        assert metrics.content_f_measure > 0.5
    assert trained.metrics[GOLD_LABELS].text_f1 > 0.6
    assert trained.metrics[SITE_LABELS].text_f1 is None


def test_sites_alone_are_enough_and_are_calibrated_on_some_held_out_and_the_same_seed_gives_the_same_weights(
    data: Path, site_pages: list[BlockPage]
):
    steps: list[tuple[int, int, str]] = []
    sites = find_sites(data / "sites")
    report = train_blocks(sites, seed=1, progress=lambda *step: steps.append(step))
    assert list(report.metrics) == [SITE_LABELS]
    assert (report.gold_pages, report.labels.startswith("`site-level`, no human ones")) == (0, True)
    assert steps == [
        *((1, 3, "site blog"), (2, 3, "site docs"), (3, 3, "site news")),
        *((0, 2, "training for the metrics"), (1, 2, "training for the weights"), (2, 2, "trained")),
    ]
    assert isinstance(report.model, BlockModel)
    as_fitted = train_block_model([], sites, labelled=site_pages, seed=1)
    network, fitted = report.model.network, as_fitted.network
    assert np.array_equal(network.state_weight, fitted.state_weight)
    assert np.array_equal(report.model.tables.names, as_fitted.tables.names)
    assert np.array_equal(report.model.tables.words, as_fitted.tables.words)
    scales = (network.last_weight / fitted.last_weight)[np.abs(fitted.last_weight) > 0.05]
    assert np.ptp(scales) < 2e-3 * np.mean(scales)  # stored in half precision
    assert abs(np.mean(scales) - 1) > 0.01


def test_the_counts_of_a_site_label_what_a_page_alone_does_not_show(trained: Trained, data: Path):
    label = partial(label_site_by_counts, model=trained.model, seed=1)
    pages = label_pages(label, find_sites(data / "sites"))
    assert {page.source for page in pages} == set(HOSTS)
    menus, alone, tables = [], [], trained.model.tables
    for page in pages:
        matrix, _ = features_of(page.page, tables)
        is_menu = matrix[:, FEATURE_NAMES.index("enclosed by nav")] > 0
        menus += page.label[is_menu].tolist()
        alone += trained.model.content_probability(page.page)[is_menu].tolist()
    assert np.mean(menus) < 0.7 * np.mean(alone)


def test_one_source_is_not_enough(data: Path):
    (site,) = (site for site in find_sites(data / "sites") if site.name == "docs")
    with pytest.raises(ValueError, match="two sources"):
        train_blocks([site])
    examples = gold_examples([data / "gold" / "pages.jsonl"])
    of_one = [example for example in examples if example.source == examples[0].source]
    with pytest.raises(ValueError, match="gold pages of more sites are needed"):
        train_blocks(find_sites(data / "sites"), of_one)


def test_the_trained_model_cleans_pages_from_its_file(trained: Trained, data: Path, tmp_path: Path):
    trained.model.save(tmp_path / "own.npz")
    page = (data / "sites" / "news" / "3.html").read_bytes()
    ours, theirs = (tamis.clean(page, model=model) for model in (trained.model, tmp_path / "own.npz"))
    assert (ours.text, ours.confidence, ours.kind) == (theirs.text, theirs.confidence, theirs.kind)
    assert ours.text
    assert 0 <= ours.confidence <= 1
    assert ours.kind == "article"  # what the gold pages are that it was taught by


def test_each_fold_has_a_model_that_has_not_seen_it(trained: Trained):
    assert len({model.version for model in trained.fold_models}) == len(trained.fold_models) == FOLDS
    assert set(trained.fold_of.values()) == set(range(FOLDS))
    assert set(HOSTS) <= set(trained.fold_of)


# ---- What a network and a decision on whole pages learn


def network_page(random: np.random.Generator, blocks: int, signs: np.ndarray, target: np.ndarray) -> SequencePage:
    """A page of a few features that say something, and as many others as blocks have, so that one step serves all."""
    inputs = np.zeros((blocks, len(FEATURE_NAMES)), np.float32)
    inputs[:, :3], inputs[:, 3:5] = signs, random.normal(size=(blocks, 2))
    return SequencePage(inputs, target.astype(np.float32), np.ones(blocks, np.float32), copy=False)


def test_what_other_blocks_and_their_order_tell_is_learned(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sequences, "MIN_STEPS", 40)
    random, at, pages = np.random.default_rng(6), np.arange(12), []
    for number in range(96):
        kind, place, is_content = number % 3, random.integers(1, 11), number % 2
        targets = np.full(12, is_content), at > place, at < place  # what the page is, what begins and ends there
        signs = np.zeros((12, 3))
        signs[place, kind] = 4 if kind or is_content else -4
        pages.append(network_page(random, 12, signs, targets[kind]))
    network = fit_sequence(pages, 0.0, seed=1)
    for kind in range(3):
        right = [(read_in_order(network, page.inputs) > 0) == (page.target > 0.5) for page in pages[kind::3]]
        assert np.mean(right) > 0.95


def test_blocks_without_weight_teach_nothing_and_the_same_seed_gives_the_same_network():
    weight, fitted = (np.arange(12) < 6).astype(np.float32), []
    for other, seed in ((0.0, 1), (1.0, 1), (0.0, 2)):
        random = np.random.default_rng(2)
        drawn = (random.random((2, 12)) for _ in range(40))
        pages = [network_page(random, 12, one[:, None], np.where(weight > 0, two, other)) for one, two in drawn]
        fitted.append(fit_sequence([page._replace(weight=weight) for page in pages], 0.2, seed).arrays())
    assert all(np.array_equal(fitted[0][name], fitted[1][name]) for name in fitted[0])
    assert not np.array_equal(fitted[0]["network dense_weight"], fitted[2]["network dense_weight"])


def examples(site: str, *, story: float, teaser: float) -> list[BlockPage]:
    content = np.array([0, story, teaser, teaser, teaser], np.float32)
    names = ("wide", "text", "left", "post")
    return [block_page(Page.parse(html(number, f"class={name}")), content, site) for number, name in enumerate(names)]


def test_what_authors_mark_outweighs_that_teasers_are_unique_on_their_site():
    sites = [page for number in range(6) for page in examples(f"site{number}", story=1, teaser=1)]
    marked = [page for number in range(6) for page in examples(f"site{number}", story=1, teaser=0)]
    without, with_marks = fit_block_model([], sites), fit_block_model([], sites, marked=marked)
    page = Page.parse(html(3))
    teasers = slice(page.n + 2, None)
    assert with_marks.score(page).templateness[teasers].min() > without.score(page).templateness[teasers].max() + 0.1
    assert with_marks.score(page).templateness[page.n + 1] < 0.5


def test_a_machine_with_one_core_gives_the_same_network_as_one_with_more():
    program = """import os, sys
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
from tests.tamis_papers.training.conftest import FEW, sequences, small_network
vars(sequences).update(FEW)
sys.stdout.buffer.write(small_network())"""
    folder = Path(__file__).parents[3]
    assert subprocess.run([sys.executable, "-c", program], cwd=folder, stdout=-1, check=True).stdout == small_network()


@pytest.mark.parametrize("kinds", [("article", "forum"), ("article", "product", "service")])
def test_kinds_are_told_by_words_that_enough_pages_have_and_by_numbers_without_them(kinds):
    random, examples = np.random.default_rng(4), []
    for number in range(120):
        kind = number % len(kinds)
        numbers = random.normal(size=len(KIND_INPUTS))
        numbers[kind], numbers[-1] = 9.0, np.nan if number % 2 else numbers[-1]
        words = np.array([40 + kind, 50, 1_000 + number]) if number % 4 < 2 else np.array([50])
        examples.append(KindExample("one", PAGE_KINDS.index(kinds[kind]), KindInputs(numbers, words)))
    head = learn_kinds(examples)
    for kind, name in enumerate(kinds):
        unknown = np.full(len(KIND_INPUTS), np.nan)
        by_word = head.probabilities(KindInputs(unknown, np.array([40 + kind])))
        unknown[kind] = 9.0
        by_number = head.probabilities(KindInputs(unknown, np.array([], int)))
        assert PAGE_KINDS[by_word.argmax()] == PAGE_KINDS[by_number.argmax()] == name
    assert not head.tokens[1_000:1_120].any()


def test_confidence_is_the_f1_that_such_texts_have_had():
    random = np.random.default_rng(5)
    inputs = [np.append(1.0, random.random(len(CONFIDENCE_INPUTS) - 1)) for _ in range(300)]
    f1 = [0.4 + 0.5 * row[1] + random.normal() / 50 for row in inputs]
    weights = learn_confidence(["one"] * 200 + ["two"] * 100, f1, inputs)
    assert weights == pytest.approx([0.4, 0.5, 0, 0, 0, 0], abs=0.03)
