"""Which elements are not on the screen at first, as far as markup tells without style sheets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from detector.box_sizes import BANNERS
from detector.subtrees import within
from detector.tags import TAG_ID, tag_set

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from detector.attributes import Attributes
    from detector.page import Page

_LIST: Final = tag_set("ul", "ol", "menu")


def off_screen(page: Page, attributes: Attributes) -> NDArray[np.bool_]:
    """bool[n], inside an element that an attribute hides, or in a list of a menu's list, which unfolds on demand."""
    folded = _LIST[page.tag] & within(page, (page.tag == TAG_ID["li"]) & within(page, BANNERS[page.tag]))
    return within(page, attributes.hidden | folded)
