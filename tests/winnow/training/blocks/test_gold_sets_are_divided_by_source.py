"""Gold pages of one source are held out together, collections beside others whole, and HTML is found where it lies."""

import json
from collections import Counter
from pathlib import Path

import pytest

from winnow.training.evaluation import GoldPage
from winnow.training.gold import FOLDS, MAX_PAGES_PER_SOURCE, folds, gold_examples, source_of


def gold_file(folder: Path, rows: list[dict[str, object]]) -> Path:
    (folder / "html").mkdir(parents=True)
    for row in rows:
        (folder / "html" / f"{row['id']}.html").write_text("<p>x</p>")
    file = folder / "gold.jsonl"
    file.write_text("\n".join(json.dumps({"gold_text": "x", **row}) for row in rows))
    return file


@pytest.mark.parametrize(
    ("url", "source"),
    [
        ("https://www.example.co.uk/a", "example.co.uk"),
        ("https://news.example.co.uk/b?c=https://d.org", "example.co.uk"),
        ("http://EXAMPLE.com:8080/", "example.com"),
        ("http://127.0.0.1/x", "127.0.0.1"),
        ("http://localhost/x", "localhost"),
        (None, "7"),
        ("", "7"),
    ],
)
def test_a_source_is_a_registrable_domain(url: str | None, source: str):
    assert source_of(GoldPage("7", "", "untyped", None, url, (), ())) == source


def test_pages_of_sites_are_read_from_the_folder_of_sites(tmp_path: Path):
    (tmp_path / "sites" / "one" / "deep").mkdir(parents=True)
    (tmp_path / "sites" / "one" / "deep" / "1.html").write_text("<p>x</p>")
    file = tmp_path / "gold.jsonl"
    file.write_text(json.dumps({"page": "one/deep/1.html", "gold_text": "x", "url": "https://a.example.org/"}))
    (example,) = gold_examples([file], tmp_path / "sites")
    assert (example.source, example.file) == ("one", tmp_path / "sites" / "one" / "deep" / "1.html")
    with pytest.raises(FileNotFoundError, match=r"1\.html"):
        gold_examples([file])


def test_a_source_with_very_many_pages_gives_some_of_them(tmp_path: Path):
    rows: list[dict[str, object]] = [{"id": str(n), "url": f"https://many.test/{n}"} for n in range(100)]
    rows += [{"id": f"few{n}", "url": f"https://few.test/{n}"} for n in range(3)]
    number = Counter(example.source for example in gold_examples([gold_file(tmp_path / "a", rows)]))
    assert number == {"many.test": MAX_PAGES_PER_SOURCE, "few.test": 3}


def test_collections_can_be_left_out(tmp_path: Path):
    rows: list[dict[str, object]] = [
        {"id": str(n), "url": f"https://{n}.test/", "source": "ab"[n % 2]} for n in range(6)
    ]
    examples = gold_examples([gold_file(tmp_path / "a", rows)], leave_out=["b"])
    assert [example.gold.page_id for example in examples] == ["0", "2", "4"]


def test_every_source_is_in_one_fold_and_a_collection_beside_others_is_held_out_whole(tmp_path: Path):
    one = [{"id": f"o{n}", "url": f"https://www.o{n}.org/", "fold": n % FOLDS} for n in range(20)]
    one += [{"id": "shared", "url": "https://m3.org/", "fold": 4}]
    many = [{"id": f"m{n}", "url": f"https://m{n}.org/", "source": "pqr"[n % 3]} for n in range(30)]
    examples = gold_examples([gold_file(tmp_path / "a", one), gold_file(tmp_path / "b", many)])
    fold_of = folds(examples, [f"site {n}" for n in range(10)], seed=1)
    assert set(fold_of) == {example.source for example in examples} | {f"site {n}" for n in range(10)}
    assert set(fold_of.values()) == set(range(FOLDS))
    for n in range(20):
        assert fold_of[f"o{n}.org"] == n % FOLDS
    by_collection = {
        name: {fold_of[f"m{n}.org"] for n in range(30) if "pqr"[n % 3] == name and n != 3} for name in "pqr"
    }
    assert sorted(map(len, by_collection.values())) == [1, 1, 1]
    assert len(set.union(*by_collection.values())) == 3
    assert folds(examples, [f"site {n}" for n in range(10)], seed=1) == fold_of
