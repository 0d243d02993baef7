"""Gold pages: labels from gold text, folds by source, copies in other styles, marked pages, and accuracy."""

import json
import lzma
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.page.page import Page
from tamis_papers.evaluation import GoldPage, by_page_type, page_accuracy, read_gold
from tamis_papers.pages import find_sites
from tamis_papers.training.examples import MAX_MARKED_PAGES, label_gold_page, label_marked_site
from tamis_papers.training.gold import (
    FOLDS,
    STYLES,
    GoldExample,
    Style,
    content_fractions,
    folds,
    gold_examples,
    restyle,
    source_of,
    style_of,
)

WORDS = st.lists(st.sampled_from(["the", "otter", "swims", "home", "about", "news"]), max_size=8).map(" ".join)


def test_a_word_of_the_menu_is_not_taken_for_the_same_word_of_the_article():
    blocks = ["Home", "News", "About", "The news of today", "We are about to go home", "Contact", "About us"]
    shares = content_fractions(blocks, "The news of today\n\nWe are about to go home")
    assert shares.tolist() == [0, 0, 0, 1, 1, 0, 0]


@pytest.mark.parametrize(
    ("menu", "story", "more"),
    [
        ("首页 新闻 关于我们", "今天的新闻来自首都。", "美元大涨2018年创新高"),
        ("ホーム お知らせ", "カワウソが川に帰ってきました。", "2024年の春"),
        ("หน้าแรก ข่าว", "นากกลับมาที่แม่น้ำแล้ว", "ปี 2024"),
    ],
)
def test_characters_of_scripts_without_spaces_count_as_words(menu: str, story: str, more: str):
    shares = content_fractions([menu, story, more, menu], f"{story}\n{more}")
    assert (shares[1:3] > 0.8).all()  # a character of the menu may be taken for the same one of the story
    assert shares[0] < 0.5 > shares[3]


@given(st.lists(WORDS, max_size=6), st.data())
def test_shares_are_shares_and_a_selection_of_blocks_is_found_whole(blocks: list[str], data: st.DataObject):
    chosen = data.draw(st.lists(st.booleans(), min_size=len(blocks), max_size=len(blocks)))
    gold = "\n".join(block for block, is_chosen in zip(blocks, chosen, strict=True) if is_chosen)
    shares = content_fractions(blocks, gold)
    assert ((shares >= 0) & (shares <= 1)).all()
    lengths = np.array([len(block.split()) for block in blocks])
    assert (shares * lengths).sum() == pytest.approx(len(gold.split()))


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
        ("https://news.example.co.uk/b?c=https://d.org", "example.co.uk"),
        ("http://EXAMPLE.com:8080/", "example.com"),
        ("http://127.0.0.1/x", "127.0.0.1"),
        (None, "7"),
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


HTML = """<html><head><title>Storm</title><meta name="author" content="A"></head><body>
<header class="top"><nav role="navigation"><a href="/" class="logo" title="Home">Home</a></nav></header>
<main id="story"><article itemscope><h1>Storm</h1><div><p data-x="1">Winds of up to 130 km/h were seen.</p></div>
<div><p>Nobody was hurt, said the <time datetime="2026">mayor</time>.</p><img src="a.png" alt="A tree"></div></article>
</main>
<footer><div><p>Imprint</p></div></footer></body></html>"""


GOLD = "Storm\nWinds of up to 130 km/h were seen.\nNobody was hurt, said the mayor."


@pytest.mark.parametrize("style", STYLES)
def test_names_are_gone_and_what_is_no_name_stays(style: Style):
    root = restyle(Page.parse(HTML), style)
    attributes = {(element.tag, name) for element in root.iter() for name in element.attrib}
    assert attributes == {("a", "href"), ("img", "src"), ("img", "alt"), ("meta", "name"), ("meta", "content")}


def test_a_gold_page_gives_itself_and_a_copy(tmp_path: Path):
    file = tmp_path / "storm.html"
    file.write_text(HTML, encoding="utf-8")
    gold = GoldPage("storm", GOLD, "article", None, None, (), ())
    example = GoldExample(gold, file, "example.org", "gold")
    page, copy = label_gold_page(example)
    assert (page.copy, copy.copy) == (False, True)
    assert (page.label == copy.label).all()
    assert style_of(example) in STYLES


STORY = "Early in the morning otter number {} swims up the river, further than anyone here had thought it could. "


def html(number: int, mark: str = "") -> str:
    teasers = "".join(f"<p>Story {number} of another day, {place}</p>" for place in range(3))
    body = f"<nav><a href=/>Home</a></nav><div {mark}><p>{STORY.format(number) * 6}</p></div><aside>{teasers}</aside>"
    return f"<html><body>{body}</body></html>"


@pytest.fixture
def sites(tmp_path: Path) -> Path:
    for site, mark in {"marked": "itemprop=articleBody", "plain": ""}.items():
        (tmp_path / site).mkdir()
        for number in range(MAX_MARKED_PAGES + 5):
            (tmp_path / site / f"{number}.html").write_text(html(number, mark), encoding="utf-8")
    return tmp_path


def test_pages_with_a_marked_article_are_labelled_by_it(sites: Path):
    pages = [page for site in find_sites(sites) for page in label_marked_site(site, seed=0)]
    assert Counter(page.source for page in pages) == {"marked": MAX_MARKED_PAGES}
    for page in pages:
        assert page.label.tolist() == [0, 1, 0, 0, 0]


def gold(
    text: str, page_type: str = "article", include: tuple[str, ...] = (), exclude: tuple[str, ...] = ()
) -> GoldPage:
    return GoldPage("1", text, page_type, None, None, include, exclude)


def test_words_are_compared_as_lower_case_multisets_and_snippets_as_they_are() -> None:
    metrics = page_accuracy("The cat, the CAT!", gold("the cat the dog sat"))
    assert (metrics.precision, metrics.recall, metrics.include) == (pytest.approx(3 / 4), pytest.approx(3 / 5), None)
    assert [page_accuracy(text, gold(truth)).f1 for text, truth in [("", ""), ("x", ""), ("", "x")]] == [1.0, 0.0, 0.0]
    metrics = page_accuracy("One two THREE", gold("x", include=("two three", "four"), exclude=("one",)))
    assert (metrics.include, metrics.exclude) == (0.5, 1.0)


def test_every_page_counts_the_same_in_the_means() -> None:
    pages = [("a", gold("a", "news")), ("b", gold("a", "shop", include=("b",))), ("a b", gold("a", "news"))]
    metrics = by_page_type((page, page_accuracy(text, page)) for text, page in pages)
    assert list(metrics) == ["all", "news", "shop"]
    assert metrics["all"].f1 == pytest.approx((1 + 0 + 2 / 3) / 3, abs=1e-4)
    assert metrics["news"].pages == 2
    assert metrics["all"].include == 1.0


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
