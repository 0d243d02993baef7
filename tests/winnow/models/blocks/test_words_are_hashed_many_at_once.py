from zlib import crc32

from hypothesis import given
from hypothesis import strategies as st

from winnow.features.tokens import _NAME_PART, name_hashes, word_hashes
from winnow.memo import forget
from winnow.models.blocks.features import names as naming

NAMES = st.text(st.sampled_from("abCD09-_ \t\n#é²ΑΣß\U0001f600\ud800"), max_size=20)


def parts_one_by_one(name: str) -> list[str]:
    parts = ["#" if part.isdigit() else part.lower() for part in _NAME_PART.findall(name)]
    return list(dict.fromkeys(parts[:12]))


def checksum(text: str) -> int:
    return crc32(text.encode("utf-8", "surrogatepass"))


@given(st.lists(NAMES, max_size=6, unique=True))
def test_names_are_divided_as_if_each_were_alone(names: list[str]) -> None:
    forget()
    expected = [tuple(checksum(f"name:{part}") for part in parts_one_by_one(name)) for name in names]
    assert name_hashes(names) == expected
    assert name_hashes(names[::-1]) == expected[::-1]


def test_case_and_numbers_divide_a_name_and_numbers_are_alike() -> None:
    forget()
    one, other = name_hashes(["postMeta_12", "post meta 7"])
    assert one == other == tuple(checksum(f"name:{part}") for part in ("post", "meta", "#"))
    assert [len(hashes) for hashes in name_hashes(["", "a " * 30, " ".join("abcdefghijklmnop")])] == [0, 1, 12]


@given(st.lists(st.text(min_size=1, max_size=8).filter(lambda text: text.split() == [text]), max_size=6))
def test_words_are_hashed_as_if_each_were_alone(words: list[str]) -> None:
    expected = [checksum("word:#" if word.isdigit() else f"word:{word}") for word in words]
    assert word_hashes(words).tolist() == expected


@given(st.lists(NAMES, min_size=1, max_size=6, unique=True))
def test_signatures_of_classes_do_not_depend_on_each_other(values: list[str]) -> None:
    together = naming._class_signatures(values)
    assert together == [naming._class_signatures([value])[0] for value in values]
    assert naming._class_signatures(["post-12"]) == naming._class_signatures(["post-7"]) != ["post-x"]
