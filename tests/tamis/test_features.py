"""Features of text blocks: what they say of a page, and what they do not depend on."""

import itertools
from zlib import crc32

import numpy as np
import pytest

from tamis.features import FEATURE_NAMES, LEVELS, TABLE_SIZE, TokenTables, features_of
from tamis.models import load_model
from tamis.models.blocks import score_blocks
from tamis.models.decision import KIND_INPUTS
from tamis.page.page import Page
from tamis.page.text import TextTotals, text_totals

SMALL = """<html><head><title>Red boats</title></head><body>
<div id="menu"><a href="/a">Home</a> <a href="/b">News today</a></div>
<main><h1>Red boats sail</h1><p>First, one boat. Then two!</p><p>And <b>bold</b> 12</p></main>
</body></html>"""


def tables(seed=0):
    return TokenTables(*np.random.default_rng(seed).normal(size=(2, TABLE_SIZE)).astype(np.float32))


def features(html):
    return features_of(Page.parse(html), tables())


def column(html, name):
    return features(html)[0][:, FEATURE_NAMES.index(name)].tolist()


@pytest.mark.parametrize(
    "html",
    [
        *("", "<p></p>", "x", "<script>a</script>", "<h1>.</h1>", "<a href>\u00a0</a>,"),
        *("<title></title><p>\U0001f600</p>", "<div class=''>" * 300 + "deep", b"\xff\xfe\x00\x01"),
        *("<p>word" * 2_000, SMALL),
    ],
)
def test_every_block_has_a_finite_number_for_every_name(html):
    page = Page.parse(html)
    matrix, _ = features_of(page, tables())
    assert matrix.shape == (page.m, len(FEATURE_NAMES))
    assert matrix.dtype == np.float32
    assert np.isfinite(matrix).all()
    assert len(set(FEATURE_NAMES)) == len(FEATURE_NAMES)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("log words", np.log1p([3, 3, 5, 3])),
        ("log characters", np.log1p([13, 12, 22, 9])),
        ("link share", [1, 0, 0, 0]),
        ("emphasised share", [0, 0, 0, 4 / 9]),
        ("digit share", [0, 0, 0, 2 / 9]),
        ("log sentence ends", np.log1p([0, 0, 2, 0])),
        ("log commas", np.log1p([0, 0, 1, 0])),
        ("share of the title's words", [0, 1, 0, 0]),
        ("ends a sentence", [0, 0, 1, 0]),
        ("begins in upper case", [1, 1, 1, 1]),
        ("enclosed by h1", [0, 1, 0, 0]),
        ("enclosed by main", [0, 1, 1, 1]),
        ("blocks before, share", [0, 0.25, 0.5, 0.75]),
        ("log blocks after", np.log1p([3, 2, 1, 0])),
        ("signed log blocks from h1", [-np.log(2), 0, np.log(2), np.log(3)]),
        ("log links of its container", np.log1p([2, 0, 0, 0])),
        ("container 0: is p", [0, 0, 1, 1]),
        ("container 1: log blocks", np.log1p([4, 3, 3, 3])),
        ("container 1: link share", [13 / 56, 0, 0, 0]),
        ("neighbour -1: p", [-1, 0, 0, 1]),
        ("neighbour +1: heading", [1, 0, 0, -1]),
        ("5 blocks around: log words per block", np.log1p([3.5] * 4)),
        ("alike blocks: log number", np.log1p([1, 1, 1, 1])),
        ("alike blocks: spread", [1, 1, 1, 1]),
    ],
)
def test_values_are_those_counted_by_hand(name, values):
    assert column(SMALL, name) == pytest.approx(values, abs=1e-6)


def test_features_of_the_page_are_those_counted_by_hand():
    names = ("log words", "log blocks", "log longest block", "log a", "log p", "log headings", "link share")
    found = dict(zip(KIND_INPUTS, score_blocks(Page.parse(SMALL), load_model())[1].numbers, strict=True))
    assert [found[f"page: {name}"] for name in names] == pytest.approx([*np.log1p([14, 4, 5, 2, 2, 1]), 13 / 56])


def test_a_block_has_the_names_and_enclosing_elements_of_its_longest_run():
    sign, line = (
        '<label class="form sr-only"><span>\u25a2</span></label>',
        '<span class="ingredient">1 cup</span> <b>oats</b>',
    )
    names = [name for name in FEATURE_NAMES if name.startswith(("enclosed", "names", "hidden", "log depth"))]
    columns = [FEATURE_NAMES.index(name) for name in names]
    with_sign, without = (features(f"<ul><li>{html}</ul>")[0][0, columns] for html in (sign + line, line))
    assert with_sign.tolist() == without.tolist()


@pytest.mark.parametrize(
    "hiding", ["hidden", "aria-hidden=true", "style='display: none'", "style='color:red; display:none'"]
)
def test_what_markup_hides_is_known(hiding):
    assert column(f"<div {hiding}><p>a</p></div><p>b</p>", "hidden by markup") == [1, 0]


WRAPPERS = """<body><nav><a href=/a>A</a><p>menu</p></nav>
<div class=post>{0}<h2>Title, one</h2><p>Some text. More text here</p><p>Last words</p>{1}</div>
<footer><p>end</p><p>of page</p></footer></body>"""
PLAIN, WRAPPED = WRAPPERS.format("", ""), WRAPPERS.format("<div><section><div>", "</div></section></div>")


def test_a_container_is_the_outermost_element_that_holds_the_same_blocks():
    html = "<body><p>a</p><div><section><p>b</p><p>c</p></section></div></body>"
    assert column(html, "container 1: log depth") == pytest.approx(np.log1p([0, 2, 2]))  # html, div, div


def test_each_level_holds_more_blocks_until_the_root_repeats():
    held = [column(WRAPPED, f"container {level}: log blocks") for level in range(LEVELS)]
    depths = [column(WRAPPED, f"container {level}: log depth") for level in range(LEVELS)]
    for level, block in itertools.product(range(1, LEVELS), range(len(held[0]))):
        is_root = depths[level - 1][block] == 0
        assert is_root == (held[level][block] == held[level - 1][block])
        assert is_root or held[level][block] > held[level - 1][block]


def test_extra_wrappers_leave_what_containers_say_of_their_text():
    endings = "share of page", "link share", "sentence ends per word", "commas per word", "log blocks", "log characters"
    columns = [k for k, name in enumerate(FEATURE_NAMES) if name.startswith("container ") and name.endswith(endings)]
    assert len(columns) == LEVELS * len(endings)
    assert np.array_equal(features(PLAIN)[0][:, columns], features(WRAPPED)[0][:, columns])


def test_names_change_the_learned_features_only():
    plain, named = (features(f"<div{name}><p>a b</p></div>")[0] for name in ("", " class=post-meta"))
    different = {FEATURE_NAMES[k] for k in np.flatnonzero((plain != named).any(axis=0))}
    assert "names: path log-odds" in different
    assert all(name.startswith("names: ") for name in different)


def test_the_order_of_attributes_and_classes_does_not_matter():
    names = [features(form)[1].name for form in ("<p id=one class='b a'>x</p>", "<p class='a b' id=one>x</p>")]
    assert sorted(names[0].tolist()) == sorted(names[1].tolist())


def entry(part):
    return crc32(f"name:{part}".encode()) % TABLE_SIZE


@pytest.mark.parametrize(
    ("names", "parts"),
    [
        (["postMeta_12", "post meta 7", "POST meta 99 post"], ["post", "meta", "#"]),
        (["abcDEF " * 30, "Abc DEF"], ["abc", "def"]),
        (["a b c d e f g h i j k l m n"], "abcdefghijkl"),
        (["ПостМета-٣", "постмета 3"], ["постмета", "#"]),
        (["Été日本Box²"], ["é", "t", "é日本", "box", "#"]),
    ],
)
def test_case_numbers_and_scripts_divide_a_name_and_numbers_are_alike(names, parts):
    for name in names:
        assert features(f"<p class='{name}'>a</p>")[1].name.tolist() == [*map(entry, parts)]


def test_words_of_the_title_count_once_and_only_at_the_beginning():
    html = f"<title>Red, red Boats!</title><p>Red boats red<p>No boats<p>{'x ' * 200}boats"
    assert column(html, "share of the title's words") == [1, 0.5, 0]
    assert features(html)[1].words_per_block.tolist() == [3, 2, 16]


@pytest.mark.parametrize("seed", [0, 1])
def test_log_odds_are_summed_by_words_and_along_the_path_of_names(seed):
    odds = tables(seed)
    page = Page.parse("<div id=a><p class='b c'>one two<i class=d>x</i></p></div><p>three</p>")
    rows = features_of(page, odds)[0][:, FEATURE_NAMES.index("words: total log-odds") :].astype(float)
    name = {part: odds.names[entry(part)] for part in "abcd"}
    word = [odds.words[crc32(f"word:{text}".encode()) % TABLE_SIZE] for text in ("one", "twox", "three")]
    assert rows[0, :4] == pytest.approx(
        [word[0] + word[1], (word[0] + word[1]) / 2, min(0, *word[:2]), max(0, *word[:2])]
    )
    assert rows[1, :4] == pytest.approx([word[2], word[2], min(0, word[2]), max(0, word[2])])
    own = name["b"] + name["c"]
    assert rows[0, 4:8] == pytest.approx(
        [name["a"] + own, min(0, name["a"], own), max(0, name["a"], own), own], abs=1e-6
    )
    assert rows[1, 4:].tolist() == [0] * 8


@pytest.mark.parametrize(
    ("text", "words", "commas", "sentence_ends"),
    [
        *(
            ("我们去北京、上海。", 3, 1, 1),
            ("これは本です！", 3, 0, 1),
            ("مرحبا، كيف حالك؟", 3, 1, 1),
            ("नमस्ते दुनिया।", 2, 0, 1),
        ),
        *(("สวัสดีครับ", 5, 0, 0), ("한국어 문장입니다.", 2, 0, 1), ("naïve co-operation can\u00adnot", 3, 0, 0)),
        ("𠀀𠀁 and 😀", 3, 0, 0),
    ],
)
def test_words_and_punctuation_are_found_in_every_script(text: str, words: int, commas: int, sentence_ends: int):
    counts = TextTotals(*text_totals(Page.parse(f"<p>{text}</p>")).T)
    assert (counts.words[-1], counts.commas[-1], counts.sentence_ends[-1]) == (words, commas, sentence_ends)
