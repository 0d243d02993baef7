"""``python -m tamis_papers`` on a folder of pages."""

import json
from dataclasses import fields

import pytest

from tamis_papers.__main__ import main
from tamis_papers.methods import METHODS

MENU = "".join(f"<li><a href=/{k}.html>Section number {k} of the paper</a></li>" for k in range(6))


def _story(k):
    return " ".join(str((k + 2) ** power % 99991) for power in range(9, 40))


def _page(k):
    return f"<html><body><div id=menu><ul>{MENU}</ul></div><div id=main><p>{_story(k)}</p></div></body></html>"


@pytest.fixture
def folder(tmp_path):
    """A site of 12 pages, one of them in a folder below."""
    site = tmp_path / "site"
    (site / "deep").mkdir(parents=True)
    for k in range(11):
        (site / f"{k}.html").write_text(_page(k))
    (site / "deep" / "page").write_text("<!DOCTYPE html>" + _page(11))
    (site / "style.css").write_text("p {}")
    return site


@pytest.mark.parametrize("name", ["site-level", "node-hashes", "text-windows", "site-independent-blocks"])
def test_text_html_and_labels_of_every_page_are_written(name, folder, tmp_path, capsys):
    out = tmp_path / "out"
    assert main([name, str(folder), "-o", str(out)]) == 0
    for k, page in [*((k, f"{k}.html") for k in range(11)), (11, "deep/page")]:
        assert (out / "text" / f"{page}.txt").read_text().strip() == _story(k)
        html = (out / "html" / page).read_text()
        assert _story(k) in html
        assert "Section number" not in html
        labels = json.loads((out / "labels" / f"{page}.json").read_text())
        assert labels["file"] == page
        assert labels["url"] == f"https://site/{page}"
        assert [block["template"] for block in labels["blocks"]] == [True] * 6 + [False]
        assert labels["blocks"][-1]["path"] == "/html/body/div[2]/p"
        assert "/html/body/div[1]" in labels["elements"] or "/html/body/div[1]/ul" in labels["elements"]
        assert 0.3 < labels["template_share"] < 0.7
    head, row = capsys.readouterr().out.splitlines()
    assert head.split() == ["pages", "learned", "from", "text", "cut", "nodes", "cut"]
    assert row.split()[:3] == ["all", "12", "12"]


def test_parameters_of_the_method_are_options(folder, tmp_path, capsys):
    assert main(["text-windows", str(folder), "--window", "5000"]) == 0
    assert "0.0%" in capsys.readouterr().out
    labels = tmp_path / "out" / "labels" / "0.html.json"
    for option, expected in [("--later-tags", True), ("--no-later-tags", False)]:
        arguments = ["site-independent-blocks", str(folder), "--characters", "9", "-o", str(tmp_path / "out")]
        assert main([*arguments, option]) == 0
        paths = json.loads(labels.read_text())["elements"]
        assert paths == ["/html/body/div[1]"], expected


@pytest.mark.parametrize("name", METHODS)
def test_every_method_is_listed_and_its_help_has_every_parameter(name, capsys):
    for arguments in (["--list"], [name, "--help"]):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == 0
    text = capsys.readouterr().out
    assert name in [line.split()[0] for line in filter(None, text.splitlines())]
    assert all(f"--{each.name.replace('_', '-')} " in text for each in fields(METHODS[name]))


def test_pages_that_cannot_be_read_are_named_and_the_others_cleaned(folder, capsys):
    deep = "<div>" * 3000
    (folder / "broken.html").write_text(f"<html>{deep}")
    gone = folder / "gone.html"
    gone.symlink_to(folder / "deep")  # a folder by another name: no page
    assert main(["node-hashes", str(folder)]) == 1
    out, err = capsys.readouterr()
    assert "12" in out
    assert f"{folder / 'broken.html'}: page has" in err
    assert "gone" not in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("node-hashes absent", "no HTML files in it"),
        ("node-hashes full", "2 pages with different text are needed to see what repeats, there are 1 (among 10"),
        ("site-level full", "10 pages with different text are needed"),
        ("node-hashes full -o full/out", "would be read as pages"),
        ("node-hashes full --base-url http://[", "Invalid IPv6 URL"),
        ("node-hashes full --least 0", "least must be at least 1"),
    ],
)
def test_what_cannot_work_is_explained(arguments, message, tmp_path, monkeypatch, capsys):
    (tmp_path / "full").mkdir()
    for number in range(10):
        (tmp_path / "full" / f"{number}.html").write_text("<p>The same words on each of them</p>")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(arguments.split())
    assert ended.value.code == 2
    assert message in capsys.readouterr().err
