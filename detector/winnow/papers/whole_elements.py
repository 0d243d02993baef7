"""From paths and places that pages share to elements that are template as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from winnow.page.tree import nearest, prefix_sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.page.page import Page


def whole_elements(page: Page, shared: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Tell which elements are template with all that they hold, given the units that pages share.

    A shared element is template when all blocks in it are shared: the element around a page's content is shared, too.
    An element without text goes with the nearest one around it that has some, since a picture in a text is no template
    because other texts have pictures at that place.

    Args:
        page: the page.
        shared: bool[n + m], elements first.

    Returns:
        bool[n + m], elements first; the blocks as they were.
    """
    blocks = shared[page.n :]
    other = prefix_sums(~blocks)
    with_text = page.block_end > page.block_begin
    whole = with_text & shared[: page.n] & (other[page.block_end] == other[page.block_begin])
    around = nearest(page.parent, with_text)
    return np.concatenate([np.append(whole, False)[around], blocks])
