import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.duplicates import MemoryIndex, near_duplicates, shingles

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


def resemblance(one: list[int], other: list[int], keep: int = 8) -> float | None:
    index = MemoryIndex(keep=keep, min_resemblance=0.01)
    index.find("https://one.example", np.array(one, np.uint64) << np.uint64(16))
    return index.find("https://other.example", np.array(other, np.uint64) << np.uint64(16)).resemblance


def test_resemblance_is_the_fraction_of_common_windows() -> None:
    assert resemblance([1, 2, 5, 9], [1, 2, 3, 4, 5]) == 0.5
    assert resemblance([1, 2], [1, 2]) == 1
    assert resemblance([*range(8)], [*range(4, 12)]) == 0.5, "only the 8 smallest of both are known"


def test_resemblance_estimates_the_jaccard_similarity() -> None:
    words = [f"w{k}" for k in range(3_000)]
    one, other = (shingles(" ".join(part), keep=400) for part in (words[:2_000], words[1_000:]))
    found = resemblance((one >> np.uint64(16)).tolist(), (other >> np.uint64(16)).tolist(), keep=400)
    assert found == pytest.approx(1 / 3, abs=0.08)
