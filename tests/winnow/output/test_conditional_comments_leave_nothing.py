import pytest

import winnow
from winnow import Limits
from winnow.output.text import is_leftover

STORY = "<p>Winds of up to 130 km/h are expected on the coast tonight, and the ferries stay in the harbour.</p>"
BROKEN = "<!--[if lt IE 7]><html lang=en> <!\n[endif]-->[endif]--><!--[if IE 7]><html> <!\n[endif]-->[endif]-->"
FORMS = [
    f"{BROKEN}<html><body>{STORY}",
    f"<!--[if IE]> --><div>{STORY}</div>[endif]-->",
    f"<!--[if IE]><p>old</p><![endif]-->{STORY}<![endif]-->",
    f"<![if !IE]>{STORY}<![endif]>",
    f"<!--[if !IE]><!-->{STORY}<!--<![endif]-->",
    f"<!-- a <!-- b --><div>--></div>{STORY}",
]


@pytest.mark.parametrize("html", FORMS)
@pytest.mark.parametrize("limits", [Limits(), Limits(max_nodes=1)], ids=["cleaned", "passed through"])
def test_what_is_left_of_conditional_comments_is_no_text(html: str, limits: Limits) -> None:
    cleaned = winnow.clean(html, limits=limits)
    assert cleaned.text == STORY[3:-4]
    assert "endif" not in cleaned.html
    assert "--&gt;" not in cleaned.html


def test_it_is_said_what_was_cut() -> None:
    cleaned = winnow.clean(FORMS[0])
    assert [(segment.text, segment.reason) for segment in cleaned.removed] == [("[endif]-->[endif]-->", "leftover")]


@pytest.mark.parametrize("text", ["[endif]-->", "<![endif]-->", "[if lt IE 9]>", "-->", "[endif]--> [endif]-->"])
def test_borders_of_comments_are_leftovers(text: str) -> None:
    assert is_leftover(text)


@pytest.mark.parametrize(
    "text", ["", "[if]", "<!--[if IE]> use another browser <![endif]-->", "#endif", "a -->", "[note]", "<", "--", "[1]"]
)
def test_text_about_them_is_none(text: str) -> None:
    assert not is_leftover(text)
