"""The sections of a page: connected parts of its tree with one smoothed score.

Source: page-level isotonic smoothing, sections 4 (a compressed score names the root of each section) and 6.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.output.text import is_leftover
from winnow.page.ancestors import nearest
from winnow.page.runs import linked_runs
from winnow.page.subtrees import prefix_sums
from winnow.page.tags import TAG_NAMES, tag_set

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from winnow.page.page import Page
    from winnow.smoothing import SmoothedScores

_LANDMARKS: Final = tag_set("nav", "header", "footer", "aside")


@dataclass(frozen=True, slots=True)
class Segment:
    """One section of a page, named by its root.

    Attributes:
        path: XPath of the root element; for a text block, the path of its element and ``/#text[k]``, the k-th text
            block directly in that element.
        tag: tag name of the root, ``#text`` for a text block.
        score: smoothed templateness, 0..1.
        template: whether the section was cut as template.
        comment: whether readers wrote it; then it is no template, be it part of the text or not.
        reason: what marks a section of template: ``"copy"`` (the page has the same text before it), ``"leftover"``
            (it is what is left of a conditional comment), ``"site"`` (most of its text is on other pages of the site
            too), ``"author"`` (the author marks another part of the page as the article, or has titled the page after
            another, else it would have been kept),
            ``"landmark"`` (it lies in ``nav``, ``header``, ``footer`` or ``aside``), ``"links"`` (most of its
            text is links) or ``"model"`` (its score alone); empty for content.
        characters: characters of :attr:`text`.
        text: text of the section without the sections below it, a line per text block.
    """

    path: str
    tag: str
    score: float
    template: bool
    comment: bool
    reason: str
    characters: int
    text: str


def segments(
    page: Page,
    smoothed: SmoothedScores,
    template: NDArray[np.bool_],
    texts: list[str],
    site: NDArray[np.bool_],
    copies: NDArray[np.bool_],
    comments: NDArray[np.bool_],
    outside: NDArray[np.bool_],
) -> list[Segment]:
    """List the sections of a page, in the order in which they begin.

    Args:
        page: the page.
        smoothed: the smoothed scores of its units.
        template: bool[n + m], the units that are cut.
        texts: text of each of its ``m`` blocks.
        site: bool[n + m], units that are template according to the site.
        copies: bool[n + m], blocks that repeat content before them, each a section of its own.
        comments: bool[n + m], units of what readers wrote.
        outside: bool[n + m], units that are cut for what the author marks.
    """
    template = template & ~comments
    roots = _in_document_order(page, np.unique(smoothed.section))
    own_texts: dict[int, list[str]] = {root: [] for root in roots}
    for section, text in zip(smoothed.section[page.n :].tolist(), texts, strict=True):
        own_texts[section].append(text)
    reasons = np.where(copies[roots], "copy", _reasons(page, smoothed.section, site, outside, roots)).tolist()
    found = []
    for root, path, reason in zip(roots, _paths(page, roots), reasons, strict=True):
        text = "\n".join(own_texts[root])
        found.append(
            Segment(
                path=path,
                tag=_tag_name(page, root) if root < page.n else "#text",
                score=float(smoothed.value[root]),
                template=bool(template[root]),
                comment=bool(comments[root]),
                reason=("leftover" if is_leftover(text) else reason) if template[root] else "",
                characters=len(text),
                text=text,
            )
        )
    return found


def _in_document_order(page: Page, units: NDArray[np.int32]) -> list[int]:
    begin = np.concatenate([page.run_begin, page.block_run_begin])[units]
    return units[np.lexsort((units, begin))].tolist()  # type: ignore[no-any-return]


def _reasons(
    page: Page, section: NDArray[np.int32], site: NDArray[np.bool_], outside: NDArray[np.bool_], roots: list[int]
) -> NDArray[np.str_]:
    """What marks each section: what the site repeats, what the author marks, where it lies, or what it is made of."""
    element = np.concatenate([np.arange(page.n), page.block_node])[roots]
    landmark = nearest(page.parent, _LANDMARKS[page.tag])[element] >= 0
    linked_run = linked_runs(page)
    length = np.diff(page.run_offset)
    all_text, linked = prefix_sums(length), prefix_sums(length * linked_run)
    begin, end, own = page.block_run_begin, page.block_run_end, section[page.n :]
    units = page.n + page.m
    text = all_text[end] - all_text[begin]
    text_of = np.bincount(own, text, units)[roots]
    repeated, unmarked = (np.bincount(own, text * of[page.n :], units)[roots] * 2 > text_of for of in (site, outside))
    in_links = np.bincount(own, linked[end] - linked[begin], units)[roots] * 2 > text_of
    return np.select([repeated, unmarked, landmark, in_links], ["site", "author", "landmark", "links"], "model")


def _tag_name(page: Page, element: int) -> str:
    name = TAG_NAMES[page.tag[element]]
    return name or str(page.elements[element].tag).rpartition("}")[2]


def _paths(page: Page, roots: Iterable[int]) -> list[str]:
    """Path of each unit, every element on the way with its number among the siblings of its name."""
    names = [TAG_NAMES[tag] for tag in page.tag.tolist()]
    for element in np.flatnonzero(page.tag == 0).tolist():
        names[element] = _tag_name(page, element)
    seen: dict[tuple[int, str], int] = {}
    number = [0] * page.n
    for element, key in enumerate(zip(page.parent.tolist(), names, strict=True)):
        seen[key] = number[element] = seen.get(key, 0) + 1

    block_number: list[int] = []
    blocks_of: dict[int, int] = {}
    for element in page.block_node.tolist():
        blocks_of[element] = blocks_of.get(element, 0) + 1
        block_number.append(blocks_of[element])

    parent = page.parent.tolist()
    found = []
    for root in roots:
        steps: list[str] = []
        element = root
        if root >= page.n:
            element = int(page.block_node[root - page.n])
            steps.append(f"/#text[{block_number[root - page.n]}]")
        while element >= 0:
            key = parent[element], names[element]
            steps.append(f"/{names[element]}[{number[element]}]" if seen[key] > 1 else f"/{names[element]}")
            element = parent[element]
        found.append("".join(reversed(steps)))
    return found
