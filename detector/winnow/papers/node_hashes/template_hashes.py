"""Template-hashes: 64-bit hashes of DOM nodes by tag name, attributes and all that they hold, none of it normalised."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.hashing import hash_text, inverse_powers, mix, powers
from winnow.page.tags import UNSEEN_TEXT, tag_set
from winnow.page.tree import prefix_sums, within

if TYPE_CHECKING:
    from lxml import etree
    from numpy.typing import NDArray

    from winnow.page.page import Page
    from winnow.papers.events import Events

    Hashes = NDArray[np.uint64]

_CLOSE: Final = np.uint64(hash_text("</>"))
_UNSEEN_TEXT: Final = tag_set(*UNSEEN_TEXT)


def template_hashes(page: Page, events: Events) -> Hashes:
    """Hash every element and every text node of a page by its content.

    Attributes count in any order, white space in text collapses, blank text and comments count nothing; scripts, styles
    and other text that no reader sees count, too. Unlike :func:`winnow.fingerprints.node_fingerprints`, tokens,
    counters and session ids in attributes are left as they are.

    Returns:
        uint64[n + r], elements first, then runs of text; 0 for blank runs.
    """
    run = np.fromiter((hash_text(" ".join(text.split())) for text in page.runs), np.uint64, len(page.runs))
    blank = np.fromiter(map(str.isspace, page.runs), bool, len(page.runs))
    run[blank] = 0
    tokens = np.zeros(len(events), np.uint64)
    tokens[events.opens] = _element_tokens(page)
    tokens[events.closes] = _CLOSE
    tokens[events.runs] = run
    kept = np.ones(len(events), bool)
    kept[events.runs[blank]] = False
    exponent = prefix_sums(kept)
    sums = np.zeros(len(events) + 1, np.uint64)
    np.cumsum(tokens * powers(0, int(exponent[-1]) + 1)[exponent[:-1]], out=sums[1:])
    element = mix((sums[events.closes + 1] - sums[events.opens]) * inverse_powers(exponent[events.opens]))
    return np.concatenate([element, run])


def _element_tokens(page: Page) -> Hashes:
    """uint64[n], hash of each element's name and attributes, and of text in it that is in no run."""
    keys = [
        "\x00".join([element.tag, *sorted([f"{name}={value}" for name, value in pairs])])
        for element, pairs in zip(page.elements, page.attributes, strict=True)
    ]
    for number in np.flatnonzero(within(page, _UNSEEN_TEXT[page.tag])).tolist():
        keys[number] += _own_text(page.elements[number])
    known = {key: hash_text(key) for key in set(keys)}
    return np.fromiter((known[key] for key in keys), np.uint64, page.n)


def _own_text(element: etree._Element) -> str:
    parts = [element.text, *(child.tail for child in element)]
    text = " ".join(" ".join(filter(None, parts)).split())
    return text and f"\x00\x00{text}"
