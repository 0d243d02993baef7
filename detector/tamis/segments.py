"""The sections of a page (connected parts of its tree with one smoothed score) and its text blocks.

Source: page-level isotonic smoothing, sections 4 (a section is named by its root) and 6.1.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tamis.evidence.draft import Reason
from tamis.output.leftovers import find_leftovers
from tamis.output.text import shown_texts
from tamis.page.text import without_controls
from tamis.page.tree import TAG_NAMES, linked_runs, nearest, sums_in_blocks, tag_set

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from numpy.typing import NDArray

    from tamis.arrays import Flags, Integers
    from tamis.evidence.draft import Draft
    from tamis.page.page import Page


@dataclass(frozen=True, slots=True)
class Segment:
    """One section of a page, named by its root, or one of its text blocks.

    Attributes:
        path: XPath of the root element, or its last steps after ``//``; for a text block, the path of its element and
            ``/#text[k]``, the k-th text block directly in it.
        tag: tag name of the root, ``#text`` for a text block.
        score: smoothed templateness, 0..1.
        kept: whether it is in the text.
        template: whether it was cut as template.
        comment: whether it is a reader comment, which is never template.
        reason: why template was cut: ``"copy"`` (repeats earlier text), ``"hidden"``, ``"leftover"`` (of a conditional
            comment), ``"site"`` (counts of the site), ``"author"`` (outside the article that the author marks or
            titles the page after), ``"landmark"`` (in ``nav``, ``header``, ``footer`` or ``aside``), ``"links"`` (most
            of its text is links) or ``"model"`` (its score alone). Why content stays against its score: ``"site"`` or
            ``"main content"``, else empty. ``"rule: SELECTOR"`` for one of the user's :class:`tamis.Rules`.
        characters: characters of :attr:`text`.
        text: text of the section without nested sections, one line per text block.
    """

    path: str
    tag: str
    score: float
    kept: bool
    template: bool
    comment: bool
    reason: str
    characters: int
    text: str


def segments(draft: Draft) -> list[Segment]:
    """List the sections of a page, in document order."""
    page, section = draft.page, draft.smoothed.section
    roots = np.unique(section)
    begin = np.concatenate([page.run_begin, page.block_run_begin])[roots]
    return make_segments(draft, section[page.n :], roots[np.lexsort((roots, begin))].tolist())


def blocks(draft: Draft) -> list[Segment]:
    """List the text blocks of a page, in document order."""
    block = np.arange(draft.page.n, draft.page.n + draft.page.m)
    return make_segments(draft, block, block.tolist())


def make_segments(draft: Draft, section: NDArray[np.integer[Any]], roots: list[int]) -> list[Segment]:
    """Make the segments with the given roots; ``section`` is int[m], the root of the segment that each block is in."""
    page = draft.page
    comments = draft.comment_units
    template = draft.template & ~comments
    texts: dict[int, list[str]] = {root: [] for root in roots}
    for root, text in zip(section.tolist(), shown_texts(page, draft.hidden), strict=True):
        texts[root].append(text)
    found = []
    for root, path, reason in zip(roots, unit_paths(page, roots), _reasons(draft, section, roots), strict=True):
        text = "\n".join(texts[root])
        shown_reason = reason
        if not reason.startswith("rule"):
            if not template[root]:
                shown_reason = reason if reason in {"site", "main content"} else ""
            elif find_leftovers([text]):
                shown_reason = "leftover"
        found.append(
            Segment(
                path=path,
                tag=_tag_name(page, root) if root < page.n else "#text",
                score=float(draft.smoothed.value[root]),
                kept=bool(draft.kept_units[root]),
                template=bool(template[root]),
                comment=bool(comments[root]),
                reason=shown_reason,
                characters=len(text),
                text=text,
            )
        )
    return found


def _reasons(draft: Draft, section: NDArray[np.integer[Any]], roots: list[int]) -> list[str]:
    """Reason for each segment: the one of more than half of its text, else its landmark, links or the model."""
    page, units = draft.page, draft.page.n + draft.page.m
    element = np.concatenate([np.arange(page.n), page.block_node])[roots]
    in_landmark = nearest(page.parent, tag_set("nav", "header", "footer", "aside")[page.tag])[element] >= 0
    length = np.diff(page.run_offset)
    all_text = sums_in_blocks(page, length)
    linked_text = sums_in_blocks(page, length * linked_runs(page))

    def in_most(text: Integers) -> Flags:
        most: Flags = 2 * np.bincount(section, text, units) > np.bincount(section, all_text, units)
        return most[roots]

    reason_of_blocks = draft.reason[page.n :]
    has_reason = {
        reason.name.lower().replace("_", " "): in_most(all_text * (reason_of_blocks == reason))
        for reason in Reason
        if reason not in {Reason.SCORE, Reason.UNWANTED}
    }
    has_reason |= {"landmark": in_landmark, "links": in_most(linked_text)}
    found: list[str] = np.select(list(has_reason.values()), list(has_reason), "model").tolist()
    rules = draft.options.rules
    return [
        f"rule: {rules[draft.rule[root]].selector}" if name == "rule" else name
        for name, root in zip(found, roots, strict=True)
    ]


def _tag_name(page: Page, element: int) -> str:
    return TAG_NAMES[page.tag[element]] or without_controls(page.unknown_names[element].rpartition("}")[2])


def unit_paths(page: Page, units: Iterable[int]) -> list[str]:
    """XPath of each of some units, see :class:`Segment`; steps have a position if siblings share their name."""
    names = [TAG_NAMES[tag] for tag in page.tag.tolist()]
    for element in page.unknown_names:
        names[element] = _tag_name(page, element)[:40]
    parent = page.parent.tolist()
    number, siblings = _number_alike(zip(parent, names, strict=True))
    block_number, _ = _number_alike(page.block_node.tolist())
    found = []
    for unit in units:
        steps: list[str] = []
        element, length = unit, 0
        if unit >= page.n:
            element = int(page.block_node[unit - page.n])
            steps.append(f"/#text[{block_number[unit - page.n]}]")
        while element >= 0 and length < 500:
            key = parent[element], names[element]
            steps.append(f"/{names[element]}[{number[element]}]" if siblings[key] > 1 else f"/{names[element]}")
            element, length = parent[element], length + len(steps[-1])
        if element >= 0:  # the path goes on above
            steps.append("/")
        found.append("".join(reversed(steps)))
    return found


def _number_alike(things: Iterable[Hashable]) -> tuple[list[int], Counter[Hashable]]:
    """Number equal things from 1, and return the count of each."""
    counts: Counter[Hashable] = Counter()
    numbers = []
    for thing in things:
        counts[thing] += 1
        numbers.append(counts[thing])
    return numbers, counts
