"""The text of a page as one string without markup, and which of its characters is where on the page."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from winnow.page.text import CODES, white_space

if TYPE_CHECKING:
    from winnow.page.page import Page


class Detagged:
    """The text of a page without its markup, white space collapsed, borders of blocks counting as white space.

    Attributes:
        codes: uint32, code points of the text.
        place: int64[k], places in the text of the characters that are not white space.
        character: int64[k], where these are in `Page.text`.
        run: int64[k], the run each is in.
    """

    def __init__(self, page: Page) -> None:
        codes = np.frombuffer(page.text.encode("utf-32-le", "surrogatepass"), np.dtype("<u4"))
        ink = ~white_space()[np.minimum(codes, CODES - 1)]
        self.character = np.flatnonzero(ink)
        self.run = np.searchsorted(page.run_offset, self.character, side="right") - 1
        spaced = np.diff(self.character, prepend=-1) > 1
        spaced[np.searchsorted(self.character, page.run_offset[page.block_run_begin])] = True
        spaced[:1] = False
        self.place = np.arange(len(self.character)) + np.cumsum(spaced)
        self.codes = np.full(int(self.place[-1]) + 1 if len(self.place) else 0, ord(" "), np.dtype("<u4"))
        self.codes[self.place] = codes[self.character]

    @cached_property
    def text(self) -> str:
        """The text."""
        return self.codes.tobytes().decode("utf-32-le", "surrogatepass")
