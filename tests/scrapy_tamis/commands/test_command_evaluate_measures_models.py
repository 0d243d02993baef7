import json

import pytest

from scrapy_tamis.commands import main


@pytest.fixture
def gold(tmp_path):
    pages = tmp_path / "pages"
    (pages / "site").mkdir(parents=True)
    (pages / "1.html").write_text("<p>one two three four</p>")
    (pages / "site" / "index.htm").write_text("<p>five</p>")
    rows = [
        {"id": "1", "gold_text": "one two", "page_type": "news", "fold": 0, "url": "https://host.example/"},
        {"page": "site/index.htm", "gold_text": "five", "page_type": "shop", "fold": 1, "include": ["five", "six"]},
    ]
    file = tmp_path / "gold.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    return file


def test_accuracy_is_shown_by_page_type(gold, everything_is_content, capsys):
    pages = str(gold.parent / "pages")
    assert main(["evaluate", str(gold), "--pages", pages, "--model", everything_is_content]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines() == [
        "               pages      F1       P       R    incl    excl",
        "all                2  0.8333  0.7500  1.0000  0.5000       -",
        "news               1  0.6667  0.5000  1.0000       -       -",
        "shop               1  1.0000  1.0000  1.0000  0.5000       -",
    ]
    assert err == ""


def test_one_fold_and_json_can_be_asked_for(gold, everything_is_content, capsys):
    arguments = ["evaluate", str(gold), "--pages", str(gold.parent / "pages"), "--model", everything_is_content]
    assert main([*arguments, "--fold", "1", "--json", "--unit", "char"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["missing"] == 0
    assert figures["all"] == figures["shop"]
    assert figures["shop"]["f1"] == 1.0


def test_missing_pages_count_as_empty_and_are_said(gold, everything_is_content, capsys):
    pages = gold.parent / "pages"
    (pages / "1.html").unlink()
    assert main(["evaluate", str(gold), "--pages", str(pages), "--model", everything_is_content]) == 1
    out, err = capsys.readouterr()
    assert "all                2  0.5000" in out
    assert "1 page not found" in err
