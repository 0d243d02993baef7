"""Blocks are labelled by how much of them a person's gold text has, in the same order."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from winnow.training.gold import content_fractions

WORDS = st.lists(st.sampled_from(["the", "otter", "swims", "home", "about", "news"]), max_size=8).map(" ".join)


def test_a_word_of_the_menu_is_not_taken_for_the_same_word_of_the_article():
    blocks = ["Home", "News", "About", "The news of today", "We are about to go home", "Contact", "About us"]
    shares = content_fractions(blocks, "The news of today\n\nWe are about to go home")
    assert shares.tolist() == [0, 0, 0, 1, 1, 0, 0]


def test_blocks_that_are_partly_content_have_a_share():
    assert content_fractions(["By Ann: the otters are back", "Share"], "the otters are back") == pytest.approx(
        [4 / 6, 0]
    )


def test_case_punctuation_and_white_space_do_not_matter():
    assert content_fractions(["“The OTTERS,” she said…"], "the otters  she\nsaid").tolist() == [1]


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


def test_a_part_of_a_chinese_sentence_has_a_share():
    assert content_fractions(["来源新华社今天下雨"], "今天下雨") == pytest.approx([4 / 9])


@pytest.mark.parametrize(
    ("blocks", "gold", "shares"),
    [([], "words", []), (["words"], "", [0]), (["…", "words", "—"], "words", [0, 1, 0]), ([], "", [])],
)
def test_pages_and_blocks_without_words_have_no_content(blocks: list[str], gold: str, shares: list[float]):
    assert content_fractions(blocks, gold).tolist() == shares


@given(st.lists(WORDS, max_size=6), st.data())
def test_shares_are_shares_and_a_selection_of_blocks_is_found_whole(blocks: list[str], data: st.DataObject):
    chosen = data.draw(st.lists(st.booleans(), min_size=len(blocks), max_size=len(blocks)))
    gold = "\n".join(block for block, is_chosen in zip(blocks, chosen, strict=True) if is_chosen)
    shares = content_fractions(blocks, gold)
    assert ((shares >= 0) & (shares <= 1)).all()
    lengths = np.array([len(block.split()) for block in blocks])
    assert (shares * lengths).sum() == pytest.approx(len(gold.split()))


def test_without_rapidfuzz_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "rapidfuzz.distance", None)
    with pytest.raises(ImportError, match=r"pip install 'scrapy-winnow\[train\]'"):
        content_fractions(["words"], "words")
