"""A folder of sites becomes labels, and the labels a logistic model with its card."""

from pathlib import Path

import pytest

from demo.web import generate
from tamis.folders import SitePages
from tamis_papers.page_level import LogisticModel
from tamis_papers.pages import find_sites
from tamis_papers.training.examples import SiteLabels
from tamis_papers.training.logistic import train_logistic
from tamis_papers.training.report import SITE_LABELS, Trained
from tamis_papers.training.train import train


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("web")
    generate(folder, pages=11)
    return folder / "sites"


@pytest.fixture(scope="module")
def trained(sites: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Trained, Path]:
    output = tmp_path_factory.mktemp("models") / "own" / "logistic.npz"
    return train(sites, output=output, model="logistic", labels="text-windows", seed=1), output


def test_training_tells_content_from_template_on_held_out_sites(trained: tuple[Trained, Path]):
    report, _ = trained
    assert report.sites == 6
    assert report.pages >= 6 * 10
    metrics = report.metrics[SITE_LABELS]
    assert metrics.auc > 0.8
    assert metrics.content_f_measure > 0.7
    assert isinstance(report.model, LogisticModel)


def test_the_model_card_says_what_the_model_is_made_of(trained: tuple[Trained, Path]):
    report, output = trained
    card = output.with_suffix(".md").read_text(encoding="utf-8")
    assert report.model.version in card
    assert "tamis train sites --labels text-windows -o logistic.npz --model logistic --seed 1" in card
    assert "| labels | `text-windows`, no human ones" in card
    assert str(output.parent) not in card
    assert "nan" not in card


def test_the_same_pages_and_seed_give_the_same_bytes_in_one_process_or_two(
    sites: Path, trained: tuple[Trained, Path], tmp_path: Path
):
    steps: list[tuple[int, int, str]] = []
    how = {"model": "logistic", "labels": "text-windows", "seed": 1, "processes": 2}
    train(sites, output=tmp_path / "logistic.npz", progress=lambda *step: steps.append(step), **how)
    for suffix in (".npz", ".md"):
        assert (tmp_path / "logistic").with_suffix(suffix).read_bytes() == trained[1].with_suffix(suffix).read_bytes()
    assert steps == [(number + 1, 6, f"site {site.name}") for number, site in enumerate(find_sites(sites))]


def test_labels_come_from_what_the_pages_of_a_site_share(tmp_path: Path):
    for number in range(12):
        text = f"<p>Story number {number}</p><p>{'Half of them' if number % 6 == 0 else f'Only {number} of them'}</p>"
        (tmp_path / f"{number}.html").write_text(f"<nav><p>The same menu</p></nav>{text}<p></p>")
    (tmp_path / "copy.html").write_bytes((tmp_path / "3.html").read_bytes())
    (tmp_path / "blank.html").write_text("<p> </p>")
    site = SitePages.of_files(tmp_path, sorted(tmp_path.iterdir()))
    site_labels = SiteLabels(site)
    assert len(site_labels.numbers) == 12
    labels = {
        text: str(value)
        for read, label in site_labels.pages(site_labels.numbers)
        for text, value in zip(read.page.block_texts(), label[read.page.n :].tolist(), strict=True)
    }
    assert labels["The same menu"] == "0.0"
    assert labels["Story number 5"] == "1.0"
    assert labels["Half of them"] == "nan"


def test_pages_of_sites_are_found_by_name_and_by_content(tmp_path: Path):
    site = tmp_path / "one.example"
    (site / "sub dir").mkdir(parents=True)
    for name in ("index.html", "a.HTM", "sub dir/b.html?page=2", "style.css", "data", "page.php"):
        (site / name).write_text("<!DOCTYPE html><title>x</title>" if name != "data" else "1,2,3")
    (tmp_path / "file.html").write_text("<html>")
    (tmp_path / "empty").mkdir()
    (found,) = find_sites(tmp_path, min_pages=4)
    assert found.urls == [
        "https://one.example/a.HTM",
        "https://one.example/index.html",
        "https://one.example/page.php",
        "https://one.example/sub%20dir/b.html%3Fpage%3D2",
    ]


def test_too_few_sites_or_sites_without_text_in_common_are_refused(tmp_path: Path):
    for site in range(5):
        (tmp_path / f"{site}").mkdir()
        for page in range(10):
            (tmp_path / f"{site}" / f"{page}.html").write_text("")
    with pytest.raises(ValueError, match="no site has enough pages"):
        train_logistic(find_sites(tmp_path))
    with pytest.raises(ValueError, match="5 or more sites"):
        train_logistic(find_sites(tmp_path)[:4])
