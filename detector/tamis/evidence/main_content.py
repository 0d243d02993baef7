"""Overrules scores by structure: keeps parts of the main content, and cuts copies, buttons and navigation."""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import compress, count, pairwise
from operator import eq
from typing import TYPE_CHECKING, Final

import numpy as np

from tamis.core import core
from tamis.evidence.draft import Reason
from tamis.hashing import mix
from tamis.output.tables import data_tables
from tamis.output.text import blocks_inside
from tamis.page.attributes import attribute_predicate, token_pattern
from tamis.page.text import WORD, word_windows
from tamis.page.tree import (
    LISTS,
    TAG_ID,
    TAG_NAMES,
    as_mask,
    elements_with_names,
    linked_runs,
    nearest,
    path_sums,
    prefix_sums,
    run_lengths,
    subtree_sums,
    sums_over_blocks,
    sums_over_runs,
    tag_set,
    within,
)

if TYPE_CHECKING:
    from collections.abc import Sequence, Set

    from tamis.arrays import Flags, Hashes
    from tamis.evidence.draft import Draft
    from tamis.page.page import Page

_HEADINGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6", "summary")
_LEVELS: Final = np.array([_HEADINGS.index(name) + 1 if name in _HEADINGS else 0 for name in TAG_NAMES])  # 0: none
_MAX_HEADING_SCORE: Final = 0.8  # of the page alone
_BUTTON: Final = (
    attribute_predicate("class", "role", parts=("btn", "button", "cta")),
    re.compile(r"(?i)(?:^|[\s_-])(?:btn|button|cta)(?:$|[\s_-])"),
)
_NAVIGATION: Final = (
    attribute_predicate("role", "class", "itemtype", parts=("navigation", "breadcrumb")),
    re.compile(r"(?i)^\s*navigation\s*$|(?:^|[\s_-])breadcrumbs?(?:$|\s)|/BreadcrumbList\s*$"),
)
_OPENS_PANEL: Final = re.compile(r"aria-(?:controls|expanded)|data-(?:.*-)?(?:target|toggle|tab|panel)")
_OF_A_POST: Final = token_pattern(r"(?:post|node)-\d+", "odd", "even")
"""Classes that tell the posts of a list apart."""


def cut_buttons(draft: Draft) -> None:
    """Cut blocks of nothing but short labels of buttons, and of links that look like them: "Print", "Get a quote".

    A heading, what opens a panel, and a number, which may be a price, stay.
    """
    page = draft.page
    labels = draft.kept & (draft.lengths <= 60) & enclosed_blocks(page, tag_set("a", "button").take(page.tag))
    if not np.count_nonzero(labels):
        return
    buttons = page.tag == TAG_ID["button"]
    buttons |= as_mask(page, page.attributes.elements_matching(*_BUTTON)) & (page.tag == TAG_ID["a"])
    labels &= enclosed_blocks(page, buttons)
    if not np.count_nonzero(labels):  # as on most pages
        return
    labels &= ~blocks_inside(page, *_HEADINGS)
    button = nearest(page.parent, buttons)[page.run_node]
    last_of: dict[tuple[str, str], int] = {}
    for block in labels.nonzero()[0].tolist():
        begin, end = page.block_run_begin[block], page.block_run_end[block]
        elements = set(button[begin:end][page.is_nonblank[begin:end]].tolist())
        labels[block] = (
            len(draft.texts[block].split()) <= 3 * len(elements)
            and not any(map(str.isdecimal, draft.texts[block]))
            and not any(_opens_panel(page, element, buttons, last_of) for element in elements)
        )
    if (draft.kept & ~labels).any():
        draft.overrule(labels, Reason.UNWANTED, cut=True)


def enclosed_blocks(page: Page, elements: Flags) -> Flags:
    """bool[m], whether all text of each block is inside some elements (bool[n])."""
    found = np.empty(page.m, bool)
    core.enclosed_blocks(page.arrays, elements, found)
    return found


def _opens_panel(page: Page, element: int, buttons: Flags, last_of: dict[tuple[str, str], int]) -> bool:
    """Whether a button names a panel, or has a ``data-*`` attribute in common with an element after it.

    ``last_of`` caches the last element with an attribute that is no button.
    """
    for pair in page.attributes[element]:
        name, value = pair
        if _OPENS_PANEL.fullmatch(name):
            return True
        if name.startswith("data-"):
            if pair not in last_of:
                alike = page.attributes.elements_with([page.attributes.first_index_by_value(name)[value]])
                last_of[pair] = max((other for other in alike if not buttons[other]), default=-1)
            if last_of[pair] >= page.end[element]:
                return True
    return False


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
    core.parts_of_main_content(page.arrays, tables, draft.lengths, draft.kept, scores, found)
    draft.overrule(found, Reason.MAIN_CONTENT, cut=False)


def keep_rows(draft: Draft) -> None:
    """Keep rows, list items or cards that continue kept prose, with the headings between them.

    They stand in the element that holds this prose and the main heading, are alike, and more text than links. On
    articles such rows are notes, captions and other stories; there the scores alone decide.
    """
    page, kept = draft.page, draft.kept
    if draft.choice.kind in {None, "article"}:
        return
    h1, all_kept = blocks_inside(page, "h1").nonzero()[0], kept.nonzero()[0]
    if not (h1.size and all_kept.size):
        return
    is_row = draft.scores.penalty[: page.n] >= 0.7  # siblings that are alike
    lists = as_mask(page, page.parent[is_row & ~is_row.take(page.parent)]).nonzero()[0]
    begin, end = page.block_begin[lists], page.block_end[lists]
    before = all_kept.searchsorted(begin)  # how many are before each list
    is_found = (before > 0) & (before == all_kept.searchsorted(end)) & (begin > h1[0]) & (end - begin >= 3)
    prose = all_kept[before - 1]
    headings = prefix_sums(blocks_inside(page, *_HEADINGS))
    is_found &= (draft.lengths[prose] >= 40) & (headings[begin] - headings[prose + 1] == begin - prose - 1)
    if not np.count_nonzero(is_found):  # as on most pages
        return
    without_rows = tag_set("nav", "aside", "header", "footer", "form", "dialog").take(page.tag)
    excluded = within(page, without_rows)[page.block_node]
    if draft.comments is not None:
        excluded |= draft.comments.excluded
    if draft.df is not None:
        excluded |= draft.df[page.n :] - 1 >= 0.2 * max(draft.pages - 1, 1)  # of the site's other pages
    is_found &= sums_over_blocks(page, excluded)[lists] == 0
    controls = tag_set("form", "input", "button", "select", "textarea").take(page.tag)
    is_found &= subtree_sums(page, controls)[lists] == 0
    is_found &= sums_over_blocks(page, draft.lengths)[lists] >= 15 * (end - begin)
    length = run_lengths(page)
    is_found &= (sums_over_runs(page, length * linked_runs(page)) < 0.5 * sums_over_runs(page, length))[lists]
    holds_h1 = (page.block_begin <= h1[0]) & (h1[0] < page.block_end)
    is_found &= ~tag_set("html", "body", "form")[page.tag[nearest(page.parent, holds_h1)[lists]]]
    found = np.zeros(page.m, bool)
    for after, list_end in zip(prose[is_found].tolist(), end[is_found].tolist(), strict=True):
        found[after + 1 : list_end] = True
    draft.overrule(found, Reason.MAIN_CONTENT, cut=False)


def keep_section_headings(draft: Draft) -> None:
    """Keep the headings of sections whose text is kept: "Pros", "Overview", the names in a list of products.

    A heading has little evidence of its own, and sites repeat many of them. In articles, headings that are links lead
    to other articles.
    """
    page, kept = draft.page, draft.kept
    if not np.count_nonzero(kept):
        return
    levels = _LEVELS.take(page.tag.take(page.block_node))
    wanted = (levels > 1) & ~kept & (draft.page_scores.templateness[page.n :] < _MAX_HEADING_SCORE)
    wanted[: kept.argmax()] = False  # before all kept text
    if not np.count_nonzero(wanted[:-1] & kept[1:]):  # as on most pages
        return
    if draft.choice.kind in {None, "article"}:
        wanted &= ~enclosed_blocks(page, page.tag == TAG_ID["a"])
    blocks, headings = wanted.nonzero()[0], levels.nonzero()[0]
    ends = np.append(headings, page.m)[headings.searchsorted(blocks, side="right")]  # of the text below each
    characters, levels = prefix_sums(draft.lengths * kept), np.append(levels, 0)
    below = levels[blocks + 1]
    is_above = (below > levels[blocks]) | ((below == 0) & (characters[ends] - characters[blocks + 1] >= 40))
    found = np.append(kept, False)
    for block in blocks[is_above][::-1].tolist():  # a chapter stays with its section
        found[block] = found[block + 1]
    draft.overrule(found[:-1] & ~kept, Reason.MAIN_CONTENT, cut=False)


def cut_navigation(draft: Draft) -> None:
    """Cut what is kept inside of navigation, if that is little: boxes of links, alphabets of lists, breadcrumbs.

    A headline stays wherever it is.
    """
    page = draft.page
    elements = page.attributes.elements_matching(*_NAVIGATION) + elements_with_names(page, "nav")
    if elements:
        inside = within(page, as_mask(page, elements)).take(page.block_node) & draft.kept & ~blocks_inside(page, "h1")
        if np.count_nonzero(inside) and draft.lengths.dot(inside) <= 0.3 * draft.lengths.dot(draft.kept):
            draft.overrule(inside, Reason.UNWANTED, cut=True)


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
    title_words = frozenset(title)
    found = []
    for block in headings:
        words = WORD.findall(draft.texts[block].lower())
        repeated = sum(map(title_words.__contains__, words))
        is_cut_off = len(title) >= 6 and words[: len(title)] == title
        found.append(is_cut_off or (bool(title) and repeated >= 0.8 * max(len(words), 1)))
    return found


def cut_later_copies(draft: Draft) -> None:
    """Cut exact copies of earlier content or comments, such as copies for another screen size."""
    if not draft.options.deduplicate:
        return
    draft.overrule(find_later_copies(draft.page, draft.texts, draft.kept), Reason.COPY, cut=True)
    if draft.comments is not None:
        draft.overrule(find_later_copies(draft.page, draft.texts, draft.comments.comments), Reason.COPY, cut=True)


def find_later_copies(page: Page, texts: Sequence[str], kept: Flags) -> Flags:
    """bool[m], kept blocks (bool[m]) that are copies of earlier ones: long ones, and what stands with them.

    A block of at least 40 characters is a copy if it has other tags and classes on its path than the original. A
    repetition with the same path is intended: the refrain of a song, what several functions of a manual or posts of a
    list have in common. So is a repetition within a table or list, and a line of code; but not a long paragraph, or
    all of an element, that a sibling before it has. What a list or table announces stays where it stands in full,
    below: the headings of a table of contents.

    Of an element that nearly consists of copies everything goes, with its headings, short items and cells. Excerpts of
    the text beside them are copies, and so are what ``noscript`` repeats, and a heading right after the same one.
    """
    copies = np.zeros(len(texts), bool)
    long = [block for block in kept.nonzero()[0].tolist() if len(texts[block]) >= 40]  # not a name or a price
    copies[_repeated_without_scripts(page, texts, long)] = True
    if twins := list(compress(count(1), map(eq, texts, texts[1:]))):
        headings = kept & blocks_inside(page, *_HEADINGS)
        copies[[block for block in twins if headings[block] and headings[block - 1]]] = True
    if len({texts[block][:_BEGINNING] for block in long}) == len(long):  # as on most pages
        return copies
    copies[_excerpts(page, texts, long)] = True
    first_block = {texts[block]: block for block in reversed(long)}
    if len(first_block) == len(long):
        return copies
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
        same_path = compress(repeated, (is_copy & ~has_other_path).tolist())
        # not a line of a song
        siblings = {_siblings_around(page, *pair) for pair in same_path if len(texts[pair[0]]) >= 100}
        for own, before in filter(None, siblings):
            begin, end = page.block_begin[own], page.block_end[own]
            if texts[begin:end] == texts[page.block_begin[before] : page.block_end[before]]:
                copies[begin:end] = kept[begin:end]
    if not copies.any():
        return copies
    return copies | _with_short_copies(page, texts, kept, copies)


_BEGINNING: Final = 30  # characters that a text has in common with an excerpt from it
_MAX_APART: Final = 4  # blocks between them


def _excerpts(page: Page, texts: Sequence[str], long: list[int]) -> list[int]:
    """Those of the long blocks that are nearly in one that begins alike and is at most four blocks away.

    Variants of a text, which stay, are nearly as long as the longest of them.
    """
    by_beginning: defaultdict[str, list[int]] = defaultdict(list)
    for block in long:
        if len(texts[block]) >= 100:
            by_beginning[texts[block][:_BEGINNING]].append(block)
    groups = [group for group in by_beginning.values() if len(group) > 1 and len({texts[block] for block in group}) > 1]
    groups = [group for group in groups if any(block - before <= _MAX_APART for before, block in pairwise(group))]
    if not groups:  # as on most pages
        return []
    in_structure = within(page, tag_set("blockquote", "pre", "table", *LISTS).take(page.tag))[page.block_node]
    found = []
    for group in groups:
        triples = {block: _triples(texts[block]) for block in group if not in_structure[block]}
        whole, most = max(triples.items(), key=lambda item: len(item[1]), default=(0, set()))
        for block, own in triples.items():
            if abs(block - whole) <= _MAX_APART and len(own) <= 0.8 * len(most) and _are_in(own, most):
                found.append(block)
    return found


def _repeated_without_scripts(page: Page, texts: Sequence[str], long: list[int]) -> list[int]:
    """Those of the long blocks in ``noscript`` that others repeat."""
    if "noscript" not in page.tag_names:
        return []
    is_inside = blocks_inside(page, "noscript")
    inner = [block for block in long if is_inside[block]]
    if not inner:
        return []
    others = set().union(*(_triples(texts[block]) for block in long if not is_inside[block]))
    return [block for block in inner if _are_in(_triples(texts[block]), others)]


def _triples(text: str) -> set[tuple[str, ...]]:
    return set(word_windows(WORD.findall(text.lower()), 3))


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
    """bool[m], kept blocks of the elements that nearly consist of copies, most of them long, and hold no original.

    What a post quotes before its answer says nothing of this answer.
    """
    first_block: dict[str, int] = {}
    is_repeated, originals = np.zeros((2, page.m), bool)
    for block in kept.nonzero()[0].tolist():
        first = first_block.setdefault(texts[block], block)
        is_repeated[block] = first != block
        originals[first] |= is_repeated[block] and copies[block]
    lengths = np.fromiter(map(len, texts), np.int64, page.m) * kept
    quoted = within(page, page.tag == TAG_ID["blockquote"])[page.block_node]
    ends_quoted = quoted[np.maximum.accumulate(np.where(kept, np.arange(page.m), 0))][page.block_end - 1]
    elements = np.zeros(page.n, bool)
    for chosen, counted in ((ends_quoted, lengths), (~ends_quoted, lengths * ~quoted)):
        if not np.count_nonzero(chosen):  # as most pages quote nothing
            continue
        whole, long, repeated = (sums_over_blocks(page, counted * blocks) for blocks in (kept, copies, is_repeated))
        elements |= chosen & (long > 0.5 * whole) & (repeated >= 0.9 * whole)
    elements &= sums_over_blocks(page, originals) == 0
    return within(page, elements)[page.block_node] & kept


def _path_hashes(page: Page) -> Hashes:
    """uint64[n], hash of the tags and classes on the path to each element; all posts of a list are alike."""
    table = page.attributes
    by_first = np.zeros(len(table.first), np.uint64)
    indices = table.first_index[table.name_of == table.names.get("class", -1)]
    by_first[indices] = indices + 1
    posts = table.containing(("post-", "node-", "odd", "even"), "class")
    by_first[[index for index, classes in posts if _OF_A_POST.search(classes)]] = 0
    tag, depth = page.tag.astype(np.uint64), page.depth.astype(np.uint64)
    return path_sums(page, mix(depth << np.uint64(48) | tag << np.uint64(32) | table.sum_per_element(by_first)))
