"""Sites alone, or sites and gold text, become a model that finds the content of sites it has not seen."""

import datetime
import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import winnow
from demo.web import build_site
from winnow import Page, load_model
from winnow.features import FEATURE_NAMES, features_of
from winnow.models.blocks import BlockModel
from winnow.training.blocks import train_blocks
from winnow.training.examples import BlockPage, label_gold_page, label_pages, label_site, label_site_by_counts
from winnow.training.gold import gold_examples
from winnow.training.networks import learn_tables, stacked_token_features, train_block_model
from winnow.training.report import GOLD_LABELS, SITE_LABELS, Trained, model_card
from winnow.training.sites import find_sites

HOSTS = ("news", "docs", "blog")


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
    return train_blocks(find_sites(data / "sites"), [data / "gold" / "pages.jsonl"], seed=1)


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


def test_the_card_says_which_labels_and_figures_are_which(trained: Trained):
    date = datetime.date(2024, 2, 29)
    card = model_card(trained, data="sites", command="winnow train", date=date, sources="Pages by *Ann*, CC BY 4.0.\n")
    assert "gold text of `gold/pages.jsonl`" in card
    assert f"{trained.gold_pages} gold pages" in card
    assert "text after cleaning: word F1" in card
    assert card.count("area under the ROC curve") == 2
    assert "even odds on articles" in card
    assert card.endswith("## Sources of the training data\n\nPages by *Ann*, CC BY 4.0.\n")
    assert "nan" not in card


def test_sites_alone_are_enough_and_are_calibrated_on_some_held_out_and_the_same_seed_gives_the_same_bytes(
    data: Path, site_pages: list[BlockPage], tmp_path: Path
):
    steps: list[tuple[int, int, str]] = []
    sites = find_sites(data / "sites")
    report = train_blocks(sites, seed=1, progress=lambda *step: steps.append(step))
    assert list(report.metrics) == [SITE_LABELS]
    assert (report.gold_pages, report.labels.startswith("site-level, no human ones")) == (0, True)
    assert steps == [
        *((1, 3, "site blog"), (2, 3, "site docs"), (3, 3, "site news")),
        *((0, 2, "training for the metrics"), (1, 2, "training for the weights"), (2, 2, "trained")),
    ]
    report.model.save(tmp_path / "first.npz")
    train_blocks(sites, seed=1).model.save(tmp_path / "again.npz")
    assert (tmp_path / "first.npz").read_bytes() == (tmp_path / "again.npz").read_bytes()

    assert isinstance(report.model, BlockModel)
    as_fitted = train_block_model([], sites, labelled=site_pages, seed=1)
    network, fitted = report.model.network, as_fitted.network
    assert np.array_equal(network.state_weight, fitted.state_weight)
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


def test_the_trained_model_cleans_pages(trained: Trained, data: Path, tmp_path: Path):
    trained.model.save(tmp_path / "own.npz")
    loaded = load_model(tmp_path / "own.npz")
    assert (loaded.name, loaded.version) == ("blocks", trained.model.version)
    page = Page.parse((data / "sites" / "news" / "3.html").read_bytes())
    assert np.array_equal(loaded.score(page).templateness, trained.model.score(page).templateness)
    ours, theirs = (winnow.clean(page, model=model) for model in (trained.model, loaded))
    assert (ours.text, ours.confidence, ours.kind) == (theirs.text, theirs.confidence, theirs.kind)
    assert ours.text
    assert 0 <= ours.confidence <= 1
    assert ours.kind == "article"  # what the gold pages are that it was taught by


def test_each_fold_has_a_model_that_has_not_seen_it(trained: Trained):
    assert len(trained.fold_models) == 5
    assert len({model.version for model in trained.fold_models}) == 5
    assert set(trained.fold_of.values()) == set(range(5))
    assert set(HOSTS) <= set(trained.fold_of)
