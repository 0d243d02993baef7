import pytest

from winnow.fingerprints import text_fingerprints
from winnow.page.page import Page


def of_body(html: str) -> int:
    page = Page.parse(f"<body>{html}</body>")
    return int(text_fingerprints(page)[1]) if page.n > 1 else 0


@pytest.mark.parametrize(
    "other",
    [
        *("<p>Hello  World 12</p>", "<p>Hello</p><p>World 12</p>", "<b>Hel</b>lo <a href=x>WORLD</a>\n12 "),
        *("Hello<br>World\u00a0\u300012", "hello<script>var x</script> world <!-- --> 12"),
    ],
)
def test_markup_white_space_and_case_do_not_change_fingerprints(other: str) -> None:
    assert of_body("hello world 12") == of_body(other)


@pytest.mark.parametrize(
    "other", ["hello world 13", "hello world", "helloworld 12", "hello world 1 2", "world hello 12"]
)
def test_words_digits_and_their_order_change_fingerprints(other: str) -> None:
    assert of_body("hello world 12") != of_body(other)


@pytest.mark.parametrize(
    ("upper", "lower"), [("ÀÉÎÕÜ", "àéîõü"), ("ПРИВЕТ", "привет"), ("ΓΕΙΆ", "γειά"), ("ＡＢＣ", "ａｂｃ")]
)
def test_case_is_folded_in_every_script_that_has_it(upper: str, lower: str) -> None:
    assert of_body(upper) == of_body(lower)


def test_characters_outside_the_basic_plane_differ() -> None:
    assert len({of_body(text) for text in ("a \U0001f600 b", "a \U0001f601 b", "a \U00020000 b", "a  b")}) == 4
