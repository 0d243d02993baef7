"""Texts that the title and ``meta`` elements of a page state, which are counted for its site as its text blocks are.

What most pages of a site state is no fact about one of them: its name in titles, a static title, the author of its
theme, its logo as the picture of every page.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from tamis.hashing import hash_text
from tamis.page.text import letters_of
from tamis.page.tree import cached_on_page, elements_with_attributes

if TYPE_CHECKING:
    from tamis.arrays import Hashes
    from tamis.page.page import Page


@cached_on_page
def declared_texts(page: Page) -> list[str]:
    """Letters of what the title and ``meta`` elements of a page state, in their order, each once."""
    texts = [page.title, *_ends_of(page.title)]
    counted = {"og:title", "twitter:title", "author", "article:author", "og:image", "twitter:image"}
    for _, pairs in elements_with_attributes(page, "meta"):
        if (pairs.get("property") or pairs.get("name") or "").lower() in counted:
            texts.append(pairs.get("content", ""))
    return list(dict.fromkeys(filter(None, map(letters_of, texts[:12]))))


def _ends_of(title: str) -> list[str]:
    """First and last part of a title, each up to the nearest separator."""
    parts = re.split(r" (?:[|–—·•»«›‹~-]|::) |: |\|", title)
    return [parts[0], parts[-1]] if len(parts) > 1 else ["", ""]


@cached_on_page
def declared_text_codes(page: Page) -> Hashes:
    """uint64[f], a code for each of the texts, which is counted as the units of a page are."""
    return np.array([hash_text(f"fact {text[:300]}") for text in declared_texts(page)], np.uint64)
