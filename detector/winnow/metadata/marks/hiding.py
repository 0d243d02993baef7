"""Hides the marks that a label was taken from, so that a model learns how an article looks and not how it is marked."""

from __future__ import annotations

import re
from copy import deepcopy
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from lxml import etree

_STRUCTURED: Final = ("itemprop", "itemtype", "itemscope", "property", "typeof", "vocab")
_MICROFORMAT: Final = re.compile(
    r"(?:h|p|u|dt|e)-[a-z]+(?:-[a-z]+)*|hentry|hfeed|hatom|vcard|entry(?:-(?:content|title|summary|header|footer|meta))?"
)


def without_marks(root: etree._Element) -> etree._Element:
    """Copy a tree without microdata, RDFa and the class names of microformats; the tree itself is not changed."""
    copy = deepcopy(root)
    for element in copy.iter("*"):
        attributes = element.attrib
        for name in _STRUCTURED:
            if name in attributes:
                del attributes[name]
        names = attributes.get("class")
        if names is not None:
            attributes["class"] = " ".join(part for part in names.split() if not _MICROFORMAT.fullmatch(part))
    return copy
