import json
import lzma
from pathlib import Path

import pytest

from winnow.training.evaluation import GoldPage, by_page_type, page_accuracy, read_gold, table


def gold(
    text: str, page_type: str = "article", include: tuple[str, ...] = (), exclude: tuple[str, ...] = ()
) -> GoldPage:
    return GoldPage("1", text, page_type, None, None, include, exclude)


def test_words_are_compared_as_lower_case_multisets() -> None:
    figures = page_accuracy("The cat, the CAT!", gold("the cat the dog sat"))
    assert figures.precision == pytest.approx(3 / 4)
    assert figures.recall == pytest.approx(3 / 5)
    assert figures.f1 == pytest.approx(2 * 0.75 * 0.6 / 1.35)


def test_characters_are_compared_where_there_are_no_spaces() -> None:
    figures = page_accuracy("風が 強い", gold("風が吹く"), "char")
    assert (figures.precision, figures.recall) == (0.5, 0.5)
    assert page_accuracy("風が強い", gold("風が吹く")).f1 == 0.0


def test_an_empty_gold_text_wants_an_empty_text() -> None:
    assert page_accuracy("", gold("")).f1 == 1.0
    assert page_accuracy("x", gold("")).f1 == 0.0
    assert page_accuracy("", gold("x")).f1 == 0.0


def test_snippets_are_looked_for_in_the_text_as_it_is() -> None:
    figures = page_accuracy("One two THREE", gold("x", include=("two three", "four"), exclude=("one",)))
    assert (figures.include, figures.exclude) == (0.5, 1.0)
    assert page_accuracy("x", gold("x")).include is None


def test_every_page_counts_the_same_in_the_means() -> None:
    pages = [("a", gold("a", "news")), ("b", gold("a", "shop", include=("b",))), ("a b", gold("a", "news"))]
    figures = by_page_type((page, page_accuracy(text, page)) for text, page in pages)
    assert list(figures) == ["all", "news", "shop"]
    assert figures["all"].f1 == pytest.approx((1 + 0 + 2 / 3) / 3, abs=1e-4)
    assert figures["news"].pages == 2
    assert figures["all"].include == 1.0
    assert table(figures).splitlines() == [
        "               pages      F1       P       R    incl    excl",
        "all                3  0.5556  0.5000  0.6667  1.0000       -",
        "news               2  0.8333  0.7500  1.0000       -       -",
        "shop               1  0.0000  0.0000  0.0000  1.0000       -",
    ]


def test_gold_files_are_read_plain_and_compressed(tmp_path: Path) -> None:
    rows = [{"id": "1", "gold_text": "t", "page_type": "news", "fold": 3}, {"page": "a/b.html", "gold_text": None}]
    lines = "\n\n".join(json.dumps(row) for row in rows) + "\n"
    (tmp_path / "gold.jsonl").write_text(lines)
    with lzma.open(tmp_path / "gold.jsonl.xz", "wt") as file:
        file.write(lines)
    plain = read_gold(tmp_path / "gold.jsonl")
    assert plain == read_gold(tmp_path / "gold.jsonl.xz")
    assert [(page.page_id, page.text, page.page_type, page.fold) for page in plain] == [
        ("1", "t", "news", 3),
        ("a/b.html", "", "untyped", None),
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [("", "no page"), ("{}", "line 1"), ('{"id": "1", "gold_text": "x"}\n[1]', "line 2"), ("nonsense", "line 1")],
)
def test_a_damaged_gold_file_is_named_by_line(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "gold.jsonl"
    file.write_text(content)
    with pytest.raises(ValueError, match=message):
        read_gold(file)


def test_a_file_that_only_claims_to_be_compressed_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "gold.jsonl.xz"
    file.write_bytes(b"not xz")
    with pytest.raises(ValueError, match="xz"):
        read_gold(file)
