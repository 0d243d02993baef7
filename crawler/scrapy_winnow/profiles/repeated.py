"""The parts that the pages of a site repeat: topmost elements that recur, with what a person needs to know them by."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from scrapy_winnow.profiles.selectors import Selectors
from scrapy_winnow.storage.evidence import SiteEvidence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from scrapy_winnow.storage.evidence import HashedPage
    from winnow.page.page import Page

_TEXT: Final = 200  # characters
_OUTLINE: Final = 160
_LEAST_PAGES: Final = 2


class KnownCounts(Protocol):
    """On how many of so many pages fingerprints are."""

    @property
    def pages(self) -> int:
        """Pages counted."""
        ...

    def df(self, fingerprints: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Pages that have each."""
        ...


@dataclass(frozen=True, slots=True)
class Repeated:
    """An element that a share of the pages of a site has.

    Attributes:
        selector: CSS selector that finds it on the page it was found on, and on others that are built alike.
        pages: on how many of the pages counted.
        share: the same as a share, 0..1.
        characters: characters of its text.
        text: the beginning of it.
        outline: its markup in brief, ``nav > ul > li * 4``.
    """

    selector: str
    pages: int
    share: float
    characters: int
    text: str
    outline: str


def repeated_parts(pages: Sequence[HashedPage], counts: KnownCounts, least: float = 0.3) -> list[Repeated]:
    """List the topmost elements that repeat, of all pages together, in the order of the page that has most of them.

    Args:
        pages: some pages of the site.
        counts: on how many pages of the site each of their fingerprints is.
        least: least share of the pages that have an element.
    """
    found: dict[tuple[str, str], tuple[int, Repeated]] = {}
    selectors: set[str] = set()
    order = 0
    for hashed in sorted(pages, key=lambda each: -_mass(each, counts, least)):
        for part in _of_page(hashed, counts, least):
            order += 1
            if part.selector not in selectors and (part.text, part.outline) not in found:
                selectors.add(part.selector)
                found[part.text, part.outline] = (order, part)
    return [part for _, part in sorted(found.values(), key=lambda pair: pair[0])]


def _frequencies(hashed: HashedPage, counts: KnownCounts) -> NDArray[np.int64]:
    df = counts.df(hashed.fingerprints)
    return hashed.frequencies(SiteEvidence(df, counts.pages, 0, counted=False))


def _mass(hashed: HashedPage, counts: KnownCounts, least: float) -> int:
    df = counts.df(hashed.fingerprints)
    return int((hashed.masses * (df >= max(_LEAST_PAGES, least * counts.pages))).sum())


def _of_page(hashed: HashedPage, counts: KnownCounts, least: float) -> list[Repeated]:
    page = hashed.page
    df = _frequencies(hashed, counts)
    repeated = df[: page.n] >= max(_LEAST_PAGES, least * counts.pages)
    above = np.append(repeated, False)[page.parent]  # the root's parent is -1
    tops = np.flatnonzero(repeated & ~above & (page.block_end > page.block_begin))
    selectors = Selectors(page)
    texts = page.block_texts()
    parts = []
    for element in tops.tolist():
        text = " ".join(texts[page.block_begin[element] : page.block_end[element]])
        pages = int(df[element])
        parts.append(
            Repeated(
                selector=selectors.of(element),
                pages=pages,
                share=round(pages / max(counts.pages, 1), 4),
                characters=len(text),
                text=text if len(text) <= _TEXT else f"{text[: _TEXT - 1]}…",
                outline=outline(page, element),
            )
        )
    return parts


def outline(page: Page, element: int, levels: int = 4) -> str:
    """Sketch the markup of an element: names and classes, children that are alike taken together."""
    children: dict[int, list[int]] = {}
    for index in range(element + 1, int(page.end[element])):
        children.setdefault(int(page.parent[index]), []).append(index)
    steps = [_sketch(page, element)]
    current = element
    for _ in range(levels):
        below = children.get(current, [])
        if not below:
            break
        names = [_sketch(page, child) for child in below]
        current = below[names.index(max(names, key=names.count))]
        name = _sketch(page, current)
        steps.append(f"{name} × {names.count(name)}" if names.count(name) > 1 else name)
    sketch = " › ".join(steps)
    return sketch if len(sketch) <= _OUTLINE else f"{sketch[: _OUTLINE - 1]}…"


def _sketch(page: Page, element: int) -> str:
    name = str(page.elements[element].tag).rpartition("}")[2].lower()
    attributes = dict(page.attributes[element])
    names = re.split(r"\s+", attributes.get("class", "").strip())
    return name + (f"#{attributes['id']}" if attributes.get("id") else f".{names[0]}" if names[0] else "")
