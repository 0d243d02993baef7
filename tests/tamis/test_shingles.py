import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.duplicates import Windows, near_duplicates, shingles

GOLD = ["48a09cdcda082ae5", "99e1037e68b9a5cb"]
WORDS = st.lists(st.sampled_from(["the", "quick", "brown", "fox", "dog", "7", "42", "é", "ß"]), max_size=40)


def of_windows(words: list[str], size: int) -> set[int]:
    """Hashes of all windows, each asked for as a text of its own."""
    windows = [words[i : i + size] for i in range(max(1, len(words) - size + 1))] if words else []
    return {int(value) for window in windows for value in shingles(" ".join(window), size, keep=1)}


@given(WORDS, st.integers(1, 8), st.integers(1, 12))
def test_shingles_are_the_smallest_hashes_of_all_windows(words: list[str], size: int, keep: int) -> None:
    found = shingles(" ".join(words), size, keep)
    assert found.dtype == np.uint64
    assert found.tolist() == sorted(of_windows(words, size))[:keep]


def test_many_recurring_windows_do_not_push_others_out() -> None:
    words = ("same words again " * 500 + "and a few others at the end of it").split()
    assert shingles(" ".join(words)).tolist() == sorted(of_windows(words, 6))[:8]


@given(st.text(max_size=60))
def test_any_text_has_shingles(text: str) -> None:
    found = shingles(text)
    assert len(found) <= 8
    assert (found[1:] > found[:-1]).all()
    assert found.tolist() == shingles(f" \n{text}!").tolist()


@given(st.text(st.characters(max_codepoint=0x24F), max_size=60))
def test_only_alphanumerics_count_and_case_does_not(text: str) -> None:
    words = re.findall(r"[^\W_]+", text)
    assert shingles(text).tolist() == shingles(" -- ".join(words)).tolist()
    assert len(shingles(text)) == min(8, len(of_windows(words, 6)))


def test_a_short_text_has_one_shingle_of_all_its_words_and_an_empty_text_has_none() -> None:
    assert len(shingles("one two three")) == 1
    assert shingles("one two three").tolist() == shingles("One, two: three!").tolist()
    assert shingles("one two three").tolist() != shingles("one two three four").tolist()
    assert shingles("").shape == shingles(" ... 😀 !").shape == (0,)


@pytest.mark.parametrize(
    "text",
    ["日本語のページです", "这是一个中文网页内容", "ประเทศไทยมีประชากร", "ភាសាខ្មែរមានអក្សរ", "𠀀𠀁𠀂𠀃𠀄𠀅𠀆𠀇𠀈"],
    ids=["Japanese", "Chinese", "Thai", "Khmer", "Han outside the basic plane"],
)
def test_scripts_without_spaces_have_windows_of_characters(text: str) -> None:
    letters = list(text)
    assert shingles(text, keep=100).tolist() == sorted(of_windows(letters, 6))
    assert len(shingles(text, keep=100)) == len(letters) - 5


def test_korean_and_hindi_have_words() -> None:
    assert len(shingles("한국어 문장은 띄어쓰기를 합니다")) == 1
    assert len(shingles("हिन्दी में शब्दों के बीच जगह होती")) == 2


def test_values_never_change() -> None:
    found = shingles("the quick brown fox jumps over the lazy dog", keep=2)
    assert [f"{value:016x}" for value in found.tolist()] == GOLD


ARTICLE = " ".join(f"word{k * k % 101} and" for k in range(200))


def test_an_article_in_two_templates_is_a_near_duplicate_and_two_articles_are_not() -> None:
    assert near_duplicates(shingles(ARTICLE), shingles(ARTICLE + " share this page"))
    assert not near_duplicates(shingles(ARTICLE), shingles("quite another text " + ARTICLE.replace("and", "or")))


def resemblance(one: str, other: str) -> float:
    return Windows(one).resemblance(Windows(other).sketch)


def windows_in_common(one: str, other: str) -> float:
    a, b = (set(shingles(text, keep=100_000).tolist()) for text in (one, other))
    return len(a & b) / len(a | b)


@pytest.mark.parametrize("length", [40, 200, 600, 5_000])
@pytest.mark.parametrize("changed", [0.02, 0.1])
def test_resemblance_estimates_the_fraction_of_common_windows(length: int, changed: float) -> None:
    errors = []
    for turn in range(20):
        words = [f"{turn}w{number}" for number in range(length)]
        cut = round(length * changed)
        one, other = " ".join(words), " ".join([*words[:-cut], *(f"{turn}v{number}" for number in range(cut))])
        true = windows_in_common(one, other)
        errors.append(resemblance(one, other) - true)
        assert resemblance(one, one) == 1
    assert abs(np.mean(errors)) < 0.02
    assert np.std(errors) < (0.02 if length < 600 else 0.035)


@given(WORDS, WORDS)
def test_short_texts_resemble_each_other_wholly_or_not_at_all(one: list[str], other: list[str]) -> None:
    if min(len(shingles(" ".join(each), keep=100)) for each in (one, other)) < 25:
        assert resemblance(" ".join(one), " ".join(other)) == float(one == other or not windows_differ(one, other))


def windows_differ(one: list[str], other: list[str]) -> bool:
    return of_windows(one, 6) != of_windows(other, 6)


def test_texts_of_very_different_lengths_do_not_resemble_each_other() -> None:
    long = " ".join(f"w{number}" for number in range(9_000))
    for words in (30, 300, 600, 1_200, 3_000):
        short = " ".join(f"w{number}" for number in range(words))
        assert resemblance(short, long) < 0.5
        assert resemblance(long, short) < 0.5
