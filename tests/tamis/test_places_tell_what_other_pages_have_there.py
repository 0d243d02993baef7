"""The places of a page and their codes: scores of the same place on other pages change the score of a block."""

import numpy as np
import pytest

import tamis
from tamis.evidence.site_counts import find_evidence
from tamis.page.page import Page
from tamis.places import find_places, main_text_id

MODEL = tamis.load_model()
PARAGRAPH = "<p>The council of the harbour town has decided to dredge the eastern basin before the winter of {}.</p>"


def page(story: str = "", classes: str = "side", body: str = "") -> Page:
    return Page.parse(
        f"<body class='{body}'><div class='main'><h1>Harbour</h1>{story or PARAGRAPH.format(1)}{PARAGRAPH.format(2)}"
        f"{PARAGRAPH.format(3)}</div><div class='{classes}'><a href=/a>Tides of today</a></div>"
    )


def places(page: Page) -> list[int]:
    """The code of each block's place."""
    found = find_places(page, MODEL)
    return found.codes[found.by_block, 0].tolist()


def test_a_place_is_the_way_from_the_body_without_names_that_hold_digits() -> None:
    here = places(page())
    assert here[1] == here[2] == here[3]
    assert len(set(here)) == 3
    assert here == places(page(classes="side post-1234 p-٣\u2003q²", body="page-about"))
    assert here != places(page(classes="footer"))


def test_the_codes_of_a_page_tell_on_which_other_pages_the_scores_differ() -> None:
    this, found, counts = page(), find_places(page(), MODEL), np.full(page().n + page().m, 5)
    assert np.array_equal(found.codes, find_places(page(PARAGRAPH.format(9)), MODEL).codes)
    df, above = np.full(found.codes.shape, 5), found.above.sum(axis=1)[found.by_block]
    for log_odds in (2 * (above - 1), -2 * (above - 1)):
        inputs, _ = find_evidence(this, counts, df.ravel(), 9, np.full(this.m, 0.5), MODEL)
        assert inputs[3, this.n :] == pytest.approx(4 / 8.5)
        assert inputs[2, this.n :] == pytest.approx(4 * log_odds / 6)
        df[:, 1:] = 1  # no other page is on the same side of either level


@pytest.mark.parametrize(
    ("story", "same"), [("<p>Readers now: 260</p>" + PARAGRAPH.format(1), True), (PARAGRAPH.format("1979"), False)]
)
def test_pages_with_the_same_long_blocks_have_the_same_main_text(story: str, same: bool) -> None:
    assert (main_text_id(page(), MODEL) == main_text_id(page(story), MODEL)) is same
    assert main_text_id(Page.parse("<p>Short</p>"), MODEL) == 0
