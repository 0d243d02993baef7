"""The flattening of a tree by the compiled core."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from winnow.core import SEED
from winnow.page.attributes.table import AttributeTable
from winnow.page.attributes.values import AttributeValues
from winnow.page.flat_tree import FlatTree
from winnow.page.tags import IS_BLOCK_LEVEL, IS_UNSEEN_TEXT, TAG_ID
from winnow.page.text.kinds import character_properties

if TYPE_CHECKING:
    from lxml import etree

    from winnow.core import Core
    from winnow.page.limits import Limits

_INDICES: Final = (
    "parent", "end", "depth", "run_node", "run_begin", "run_end",
    "block_node", "block_run_begin", "block_run_end", "block_begin", "block_end",
)  # fmt: skip


def flatten_compiled(core: Core, root: etree._Element, limits: Limits) -> FlatTree | None:
    """Do what :func:`~winnow.page.flattening.walk.flatten` does; ``None`` where the core cannot read the tree.

    That is where an attribute refers to an entity that was not put in its place, which no HTML parser leaves, or where
    the root is a comment.

    Raises:
        PageTooLarge: the tree is above one of the caps.
    """
    tables = IS_BLOCK_LEVEL, IS_UNSEEN_TEXT, character_properties()
    caps = limits.max_nodes, limits.max_depth
    found = core.flatten(root, TAG_ID, TAG_ID["title"], TAG_ID["svg"], *tables, SEED, *caps)
    if found is None:
        return None
    if isinstance(found, tuple):
        limits.check("nodes", found[0])
        limits.check("depth", found[1])

    def array(name: str, dtype: type[np.generic]) -> Any:
        return np.frombuffer(found[name], dtype)

    values = AttributeValues(
        names=found["names"],
        name_of=array("name_of", np.int32),
        place=array("place", np.int32),
        data=found["values"],
        begin=array("value_begin", np.int64),
    )
    begin = array("attribute_begin", np.int32)
    return FlatTree(
        root=root,
        attributes=AttributeTable(values, array("first", np.int32), begin),
        tag=array("tag", np.int16),
        unknown_names=found["unknown_names"],
        title=" ".join(found["title"].split()),
        text=found["text"],
        run_offset=array("run_offset", np.int64),
        inked=array("inked", np.bool_),
        **{name: array(name, np.int32) for name in _INDICES},
    )
