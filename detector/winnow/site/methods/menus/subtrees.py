"""Subtrees that two pages have in common wherever they stand, which a mapping from the root down cannot reach."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from winnow.page.subtrees import within

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.site.methods.menus.profile import Profile


def common_subtrees(one: Profile, other: Profile, least_characters: int) -> NDArray[np.bool_]:
    """bool[n + m], units of one page whose markup and text the other page has, too, and all that is inside of them.

    Args:
        one: the page whose units are asked for.
        other: the other page; links are compared by what they lead to.
        least_characters: text that such a unit has at least, in characters.
    """
    chosen = np.isin(one.content, other.content) & (one.characters >= least_characters)
    inside = within(one.tree, chosen[: one.n])
    return np.concatenate([inside, inside[one.block_node] | chosen[one.n :]])
