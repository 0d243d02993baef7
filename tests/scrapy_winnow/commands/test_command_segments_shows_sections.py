import json
from pathlib import Path

import pytest

from scrapy_winnow.commands import main

PAGE = (
    "<body><nav><ul>"
    + "<li><a href=/x>Some link with a long enough text in it</a>" * 6
    + "</ul></nav><main>"
    + "".join(
        f"<p>Winds of up to {speed} km/h are expected on the coast tonight, says the office.</p>"
        for speed in range(130, 139)
    )
    + "</main></body>"
)


@pytest.fixture
def page(tmp_path: Path) -> str:
    path = tmp_path / "page.html"
    path.write_text(PAGE)
    return str(path)


def test_the_table_has_a_line_for_every_section(model: str, page: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["segments", "--model", model, page]) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split() == ["score", "what", "chars", "section", "text"]
    assert any("landmark" in row and "/html/body/nav" in row and "Some link" in row for row in rows)
    assert any("content" in row and "Winds" in row for row in rows)


def test_json_has_the_whole_text_of_every_section(model: str, page: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["segments", "--json", "--model", model, page]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert set(rows[0]) == {"file", "path", "tag", "score", "template", "comment", "reason", "characters", "text"}
    assert sum(row["text"].count("Winds") for row in rows if not row["template"]) == 9
    assert sum(row["text"].count("Some link") for row in rows if row["template"]) == 6


def test_files_that_fail_do_not_stop_the_others(
    model: str, page: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["segments", "--model", model, str(tmp_path / "gone"), page]) == 1
    out, err = capsys.readouterr()
    assert f"==> {page} <==" in out
    assert "gone: no such file" in err
