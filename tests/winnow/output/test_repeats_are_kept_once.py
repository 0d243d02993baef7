"""What a page says twice, word for word, is kept once."""

import numpy as np

from winnow.output.repeats import LEAST_CHARACTERS, later_copies

LONG = "A sentence that is long enough to be sure of a copy."
OTHER = "Another sentence, and long enough to be sure as well."


def test_later_copies_of_long_blocks_are_found():
    texts = [LONG, "short", OTHER, LONG, "short", LONG]
    assert later_copies(texts, np.ones(6, bool)).tolist() == [False, False, False, True, False, True]


def test_blocks_that_are_cut_are_neither_copies_nor_copied():
    texts = [LONG, LONG, LONG, OTHER, OTHER]
    kept = np.array([False, True, True, True, False])
    assert later_copies(texts, kept).tolist() == [False, False, True, False, False]


def test_length_decides_from_the_stated_character_on():
    for length, copied in ((LEAST_CHARACTERS - 1, False), (LEAST_CHARACTERS, True)):
        assert later_copies(["x" * length] * 2, np.ones(2, bool)).tolist() == [False, copied]


def test_a_page_without_blocks_has_no_copies():
    assert later_copies([], np.zeros(0, bool)).shape == (0,)
