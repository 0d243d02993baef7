"""Characters and words of any script are counted by kind, and stretches are differences of totals."""

import pytest

from winnow.page.page import Page
from winnow.page.text import TextTotals, text_totals


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


def test_a_page_without_text_has_no_runs():
    assert text_totals(Page.parse("")).tolist() == [[0] * len(TextTotals._fields)]
