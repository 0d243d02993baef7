"""Overrules scores by structure: keeps parts of the main content, and cuts copies."""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import compress
from typing import TYPE_CHECKING, Final

import numpy as np

from tamis.core import core
from tamis.evidence.draft import Reason
from tamis.hashing import mix
from tamis.output.tables import data_tables
from tamis.output.text import blocks_inside
from tamis.page.text import WORD
from tamis.page.tree import (
    LISTS,
    TAG_ID,
    nearest,
    path_sums,
    sums_over_blocks,
    tag_set,
    within,
)

if TYPE_CHECKING:
    from collections.abc import Sequence, Set

    from tamis.arrays import Flags, Hashes
    from tamis.evidence.draft import Draft
    from tamis.page.page import Page

_ROLES: Final = tag_set("h1") | tag_set("pre").astype(np.uint8) << 1  # main_content.c has the same bits


def keep_parts_of_main_content(draft: Draft) -> None:
    """Keep the headline, code and tables that belong to the kept main content.

    The model scores single blocks, and its gold text often begins below the heading. A heading of two words or a cell
    with a number has little evidence of its own; its position has more.
    """
    page = draft.page
    if page.tag_names.isdisjoint(("h1", "pre", "table")):
        return
    found, tables = np.zeros(page.m, bool), np.array(data_tables(page), np.int32)
    scores = draft.smoothed.value[page.n :]
    core.parts_of_main_content(page.arrays, _ROLES, tables, draft.lengths, draft.kept, scores, found)
    draft.overrule(found, Reason.MAIN_CONTENT, cut=False)


def keep_headline(draft: Draft) -> None:
    """Keep the heading that the page's title repeats, unless other pages of the site have it, too."""
    page, df, kept = draft.page, draft.df, draft.kept
    if df is None:
        return
    headings = (blocks_inside(page, "h1") & ~kept).nonzero()[0].tolist()
    if not (headings and kept.any()):
        return
    most = 0.2 * max(draft.pages - 1, 1)  # of the site's other pages
    found = np.zeros(page.m, bool)
    found[headings] = are_like_title(draft, headings)
    draft.overrule(found & (df[page.n :] - 1 < most), Reason.MAIN_CONTENT, cut=False)


def are_like_title(draft: Draft, headings: list[int]) -> list[bool]:
    """Whether the page's title repeats each of some blocks, or is the beginning of it, cut off."""
    title = WORD.findall(draft.page.title.lower())
    found = []
    for words in (WORD.findall(draft.texts[block].lower()) for block in headings):
        repeated = sum(map(frozenset(title).__contains__, words))
        is_cut_off = len(title) >= 6 and words[: len(title)] == title
        found.append(is_cut_off or (bool(title) and repeated >= 0.8 * max(len(words), 1)))
    return found


_OF_A_POST: Final = re.compile(r"(?:^|\s)(?:(?:post|node)-\d+|odd|even)(?:\s|$)")
"""Classes that tell the posts of a list apart."""


def cut_later_copies(draft: Draft) -> None:
    """Cut exact copies of earlier content or comments, such as copies for another screen size."""
    if draft.options.deduplicate:
        written = [] if draft.comments is None else [draft.comments.comments]
        for blocks in (draft.kept, *written):
            draft.overrule(find_later_copies(draft.page, draft.texts, blocks), Reason.COPY, cut=True)


def find_later_copies(page: Page, texts: Sequence[str], kept: Flags) -> Flags:
    """bool[m], kept blocks (bool[m]) that are copies of earlier ones: long ones, and what stands with them.

    A block of at least 40 characters is a copy if it has other tags and classes on its path than the original. A
    repetition with the same path is intended: the refrain of a song, what several functions of a manual or posts of a
    list have in common. So is a repetition within a table or list, and a line of code; but not a long paragraph, or
    all of an element, that a sibling before it has. What a list or table announces stays where it stands in full,
    below: the headings of a table of contents.

    Of an element that nearly consists of copies everything goes, with its headings, short items and cells. Excerpts of
    the text beside them are copies, and so is what ``noscript`` repeats.
    """
    copies = np.zeros(len(texts), bool)
    long = [block for block in kept.nonzero()[0].tolist() if len(texts[block]) >= 40]  # not a name or a price
    copies[_excerpts(page, texts, long)] = True
    if len({texts[block] for block in long}) == len(long):  # as on most pages
        return copies
    first_block = {texts[block]: block for block in reversed(long)}
    repeated = [(block, original) for block in long if (original := first_block[texts[block]]) != block]
    copy, original = page.block_node[np.array(repeated).T]
    structure = nearest(page.parent, tag_set("table", *LISTS).take(page.tag))
    in_another = (structure[copy] >= 0) & (structure[copy] != structure[original])
    code = nearest(page.parent, tag_set("pre").take(page.tag))[copy]
    is_line = (code >= 0) & (page.block_end[code] - page.block_begin[code] > 1)
    is_copy = ((structure[original] < 0) | in_another) & ~is_line
    if is_copy.any():
        paths = _path_hashes(page)
        has_other_path = paths[copy] != paths[original]
        copies[[block for block, _ in compress(repeated, (is_copy & has_other_path).tolist())]] = True
        siblings = {
            pair
            for block, before in compress(repeated, (is_copy & ~has_other_path).tolist())
            if len(texts[block]) >= 100 and (pair := _siblings_around(page, block, before))  # no line of a song
        }
        for own, before in siblings:
            begin, end = page.block_begin[own], page.block_end[own]
            if texts[begin:end] == texts[page.block_begin[before] : page.block_end[before]]:
                copies[begin:end] = kept[begin:end]
    return copies | _with_short_copies(page, texts, kept, copies) if copies.any() else copies


def _excerpts(page: Page, texts: Sequence[str], long: list[int]) -> list[int]:
    """Those of the long blocks that are nearly in one that begins alike beside them, or in ``noscript``.

    Variants of a text are nearly as long as the longest of them.
    """
    alike: defaultdict[str, list[int]] = defaultdict(list)
    for block in long:
        if len(texts[block]) >= 100:
            alike[texts[block][:30]].append(block)
    groups = [blocks for blocks in alike.values() if len({texts[block] for block in blocks}) > 1]
    found = []
    if groups:
        in_structure = within(page, tag_set("blockquote", "pre", "table", *LISTS).take(page.tag))[page.block_node]
        for group in groups:
            triples = {block: _triples(texts[block]) for block in group if not in_structure[block]}
            whole = max(triples, key=lambda block: len(triples[block]), default=0)
            most = 0.8 * len(triples.get(whole, ()))
            near = [block for block in triples if abs(block - whole) <= 4 and len(triples[block]) <= most]
            found += [block for block in near if _are_in(triples[block], triples[whole])]
    if "noscript" in page.tag_names:
        is_inside = within(page, page.tag == TAG_ID["noscript"])[page.block_node]
        if inner := [block for block in long if is_inside[block]]:
            others = set().union(*(_triples(texts[block]) for block in long if not is_inside[block]))
            found += [block for block in inner if _are_in(_triples(texts[block]), others)]
    return found


def _triples(text: str) -> set[tuple[str, ...]]:
    words = WORD.findall(text.lower())
    return set(zip(words, words[1:], words[2:], strict=False))


def _are_in(triples: Set[tuple[str, ...]], others: Set[tuple[str, ...]]) -> bool:
    return len(triples & others) >= 0.95 * max(len(triples), 1)


def _siblings_around(page: Page, block: int, original: int) -> tuple[int, int] | None:
    """Return the siblings that hold two blocks with the same path; ``None`` if they meet further above."""
    own, before = int(page.block_node[block]), int(page.block_node[original])
    for _ in range(10):
        if page.parent[own] == page.parent[before]:
            return (own, before) if own != before else None
        own, before = int(page.parent[own]), int(page.parent[before])
    return None


def _with_short_copies(page: Page, texts: Sequence[str], kept: Flags, copies: Flags) -> Flags:
    """bool[m], kept blocks of the elements that nearly consist of copies, most of them long."""
    first_block: dict[str, int] = {}
    is_repeated = np.zeros(page.m, bool)
    for block in kept.nonzero()[0].tolist():
        is_repeated[block] = first_block.setdefault(texts[block], block) != block
    lengths = np.fromiter(map(len, texts), np.int64, page.m) * kept
    whole, long, repeated = (sums_over_blocks(page, lengths * chosen) for chosen in (kept, copies, is_repeated))
    elements = (long > 0.5 * whole) & (repeated >= 0.9 * whole)
    return within(page, elements)[page.block_node] & kept


def _path_hashes(page: Page) -> Hashes:
    """uint64[n], hash of the tags and classes on the path to each element; all posts of a list are alike."""
    table = page.attributes
    by_first = np.zeros(len(table.first), np.uint64)
    places = table.place[table.name_of == table.names.get("class", -1)]
    by_first[places] = places + 1
    posts = table.containing(("post-", "node-", "odd", "even"), "class")
    by_first[[place for place, classes in posts if _OF_A_POST.search(classes)]] = 0
    tag, depth = page.tag.astype(np.uint64), page.depth.astype(np.uint64)
    return path_sums(page, mix(depth << np.uint64(48) | tag << np.uint64(32) | table.sum_per_element(by_first)))
