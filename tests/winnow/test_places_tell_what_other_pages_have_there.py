"""The places of a page and their codes: scores of the same place on other pages change the score of a block."""

import numpy as np
import pytest

import winnow
from winnow.page.page import Page
from winnow.places import main_text_id, place_codes, place_levels, places, scores_on_other_pages

MODEL = winnow.load_model()
PARAGRAPH = "<p>The council of the harbour town has decided to dredge the eastern basin before the winter of {}.</p>"


def page(story: str = "", classes: str = "side", body: str = "") -> Page:
    return Page.parse(
        f"<body class='{body}'><div class='main'><h1>Harbour</h1>{story or PARAGRAPH.format(1)}{PARAGRAPH.format(2)}"
        f"{PARAGRAPH.format(3)}</div><div class='{classes}'><a href=/a>Tides of today</a></div>"
    )


def test_a_place_is_the_way_from_the_body_without_names_that_hold_digits() -> None:
    here = places(page())
    assert here[1] == here[2] == here[3]
    assert len(set(here.tolist())) == 3
    assert np.array_equal(here, places(page(classes="side post-1234", body="page-about")))
    assert not np.array_equal(here, places(page(classes="footer")))


def test_the_codes_of_a_page_tell_on_which_other_pages_the_scores_differ() -> None:
    this, other = page(), page(PARAGRAPH.format(9))
    codes, above = place_codes(this, MODEL), place_levels(this, MODEL)
    assert np.array_equal(codes, place_codes(other, MODEL))
    df = np.full(codes.shape, 5)
    have, total = scores_on_other_pages(this, df, above)
    assert have.tolist() == [4] * this.m
    agreeing = 2 * (above.sum(axis=1) - 1) * 4
    _, place_of = np.unique(places(this), return_inverse=True)
    assert total.tolist() == agreeing[place_of].tolist()
    df[:, 1:] = 1  # no other page is on the same side of either level
    assert scores_on_other_pages(this, df, above)[1].tolist() == (2 * ((~above).sum(axis=1) - 1) * 4)[place_of].tolist()


@pytest.mark.parametrize(
    ("story", "same"), [("<p>Readers now: 260</p>" + PARAGRAPH.format(1), True), (PARAGRAPH.format("1979"), False)]
)
def test_pages_with_the_same_long_blocks_have_the_same_main_text(story: str, same: bool) -> None:
    assert (main_text_id(page(), MODEL) == main_text_id(page(story), MODEL)) is same
    assert main_text_id(Page.parse("<p>Short</p>"), MODEL) == 0
