import json
from pathlib import Path

import pytest

from scrapy_winnow.commands import main
from tests.scrapy_winnow.commands.test_command_clean_writes_content import PAGE
from winnow import core


@pytest.fixture
def mirror(tmp_path: Path) -> Path:
    for place in ("index.html", "a/index.html", "a/b/story.htm", "a/page"):
        file = tmp_path / "mirror" / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(PAGE.replace("Storm warning", f"Storm warning of {place}"))
    (tmp_path / "mirror" / "style.css").write_text("p {}")
    return tmp_path / "mirror"


@pytest.mark.parametrize("processes", ["1", "2"])
def test_a_folder_comes_out_as_the_same_folders(mirror: Path, model: str, tmp_path: Path, processes: str) -> None:
    out = tmp_path / "out"
    assert main(["clean", "--model", model, str(mirror), "-o", str(out), "-j", processes]) == 0
    written = sorted(str(file.relative_to(out)) for file in out.rglob("*") if file.is_file())
    assert written == ["a/b/story.txt", "a/index.txt", "a/page.txt", "index.txt"]
    assert (out / "a" / "index.txt").read_text().startswith("Storm warning of a/index.html\n")


def test_a_folder_of_json_lines_is_one_file_with_what_was_asked_for(mirror: Path, model: str, tmp_path: Path) -> None:
    out = tmp_path / "pages.jsonl"
    further = ["--with", "metadata", "--with", "markdown"]
    assert main(["clean", "--model", model, str(mirror), "--format", "json", *further, "-o", str(out)]) == 0
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [Path(row["file"]).name for row in rows] == ["story.htm", "index.html", "page", "index.html"]
    assert all(row["metadata"]["headline"].startswith("Storm warning of") for row in rows)
    assert all(row["markdown"].startswith("# Storm") for row in rows)


@pytest.mark.parametrize(
    ("switch", "before", "after"),
    [
        ("--no-links", "[read](/r)", "read"),
        ("--no-images", "![i](/i.png)", ""),
        ("--no-tables", "| a | b |", ""),
    ],
)
def test_the_switches_of_clean_are_options(
    switch: str, before: str, after: str, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    parts = "<p>Then <a href=/r>read</a> <img src=/i.png alt=i> it all.</p><table><tr><th>a<th>b<tr><td>c<td>d</table>"
    page = tmp_path / "page.html"
    page.write_text(PAGE.replace("</main>", f"{parts}</main>"))
    command = ["clean", "--model", model, "--format", "markdown", str(page)]
    assert main(command) == 0
    assert before in capsys.readouterr().out
    assert main([*command, switch]) == 0
    out = capsys.readouterr().out
    assert before not in out
    assert after in out


def test_an_address_and_a_list_of_them_get_a_hint(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    urls = tmp_path / "urls.txt"
    urls.write_text("https://host.example/a\nhttps://host.example/b\n")
    assert main(["clean", "--model", model, "https://host.example/", str(urls)]) == 1
    err = capsys.readouterr().err
    assert "https://host.example/: is an address; curl -sL" in err
    assert f"scrapy crawl site -a urls_file={urls}" in err


def test_an_unknown_encoding_is_named(model: str, mirror: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["clean", "--model", model, str(mirror / "index.html"), "--encoding", "klingon"]) == 1
    assert "unknown encoding: klingon" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["-j", "0"], "--processes: at least 1"), (["--with", "metadata"], "--with goes with --format json")],
)
def test_options_that_cannot_work_are_refused(
    arguments: list[str], message: str, mirror: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["clean", str(mirror), *arguments]) == 2
    assert message in capsys.readouterr().err


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--version"])
    said = capsys.readouterr().out
    assert said.startswith("winnow 0.")
    assert said.endswith(f", core: {core.description()}\n")
