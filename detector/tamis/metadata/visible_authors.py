"""Authors that readers see: names by their markup, by the pages they link to, or after "By" near the headline."""

from __future__ import annotations

import re
from operator import itemgetter
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tamis.metadata.values import AND, is_byline, names_in_byline
from tamis.metadata.visible import MAX_FACT_CHARACTERS, attribute_indices, first_block, heading_block, position_scores
from tamis.page.tree import linked_runs, tag_set, within

if TYPE_CHECKING:
    from tamis.arrays import Flags
    from tamis.page.page import Page

_MAX_BYLINE_CHARACTERS: Final = 120
_MAX_CANDIDATES: Final = 400  # of each kind
_PREFIX_SCORE: Final = 1.5  # of a line that begins with "By" or its like
_COMMENT_CLASSES: Final = "comment comments reply replies".split()
_AUTHOR_STEPS: Final = [  # of addresses
    f"/{step}/"
    for step in """author authors by contributor contributors profile profiles people staff writer writers journalist
    journalists autor autores auteur auteurs redacteur""".split()
]
_AUTHOR_PAGE: Final = re.compile(
    rf"(?:{'|'.join(_AUTHOR_STEPS)})[^/?#]+(?:/profile)?/?\Z|/(?:users|members)/[^/?#]*\d[^/?#]*/?\Z"
)
_JOINS_NAMES: Final = re.compile(rf"[,;&/、，]|{AND}\Z", re.IGNORECASE)


def stated_authors(page: Page) -> list[str]:
    """Names after "By" or its like in a line below the headline; the lines of comments are left out."""
    heading = heading_block(page)
    if heading is None:
        return []
    for block in range(heading + 1, min(page.m, heading + 13)):
        names, _ = _names_at(page, block, [])
        if names:
            return [] if _comment_blocks(page, heading)[block] else names
    return []


def visible_authors(page: Page) -> list[str]:
    """Names by ``rel=author``, class names, links to pages of authors, and lines as "By ..." near the headline."""
    if not page.m:
        return []
    heading, by_position = heading_block(page), position_scores(page)
    wanted = ~_comment_blocks(page, heading)
    if heading is not None:
        wanted[heading] = False
    first = 0 if heading is None else max(0, heading - 5)
    marks_by_block = _marked_elements(page)
    for block in range(first, min(page.m, first + 17)):
        marks_by_block.setdefault(block, _Marks(0.0, []))
    candidates = [
        (marks.score + float(by_position[block]), block, marks.elements)
        for block, marks in marks_by_block.items()
        if wanted[block]
    ]
    best: list[str] = []
    best_score, min_score = 0.0, 2.0
    for score, block, elements in sorted(candidates, key=itemgetter(0), reverse=True):
        if score + _PREFIX_SCORE < max(best_score, min_score):  # nor do the others reach it
            break
        names, has_prefix = _names_at(page, block, elements)
        total = score + _PREFIX_SCORE * has_prefix
        if names and total >= min_score and total > best_score:
            best, best_score = names, total
    return best


class _Marks(NamedTuple):
    """The marks of authors in a block: how sure they are, and the elements that have those of the surest kind."""

    score: float
    elements: list[int]


def _marked_elements(page: Page) -> dict[int, _Marks]:
    """The marks of authors by block; several kinds of marks are surer."""
    table = page.attributes
    rels = attribute_indices(page, ["author"], "rel")
    possible_links = table.containing([*_AUTHOR_STEPS, "/users/", "/members/"], "href")
    links = [index for index, value in possible_links if _AUTHOR_PAGE.search(value)]
    names_of_bylines = "author authors autor writer contributor contributors vcard fn byline username".split()
    names_of_captions = "image photo picture caption credit credits foto".split()
    in_others = set(attribute_indices(page, _COMMENT_CLASSES + names_of_captions, "class", "id"))
    classes = [index for index in attribute_indices(page, names_of_bylines, "class", "id") if index not in in_others]
    unwanted = within(page, tag_set("form", "label", "button", "figure", "figcaption").take(page.tag))
    unwanted |= page.run_begin == page.run_end
    found: dict[int, _Marks] = {}
    for indices, score in ((rels, 2.0), (links, 1.5), (classes, 1.5)):
        by_block: dict[int, list[int]] = {}
        for element in table.elements_with(indices)[:_MAX_CANDIDATES]:
            if not unwanted[element]:
                by_block.setdefault(first_block(page, element), []).append(element)
        for block, elements in by_block.items():
            surer = found.get(block)
            found[block] = _Marks(surer.score + 0.6, surer.elements) if surer else _Marks(score, elements)
    return found


def _names_at(page: Page, block: int, elements: list[int]) -> tuple[list[str], bool]:
    """Names in a line that begins as a byline does, else in the marked elements; and whether it begins so."""
    lines = page.block_texts()
    line = lines[block]
    texts = []
    if len(line) <= _MAX_BYLINE_CHARACTERS and is_byline(line):
        texts.append(_spaced_text(page, int(page.block_run_begin[block]), int(page.block_run_end[block])))
    if len(line) <= 20 and block + 1 < page.m and (not elements or is_byline(f"{line} ")):  # a label
        texts.append(f"{line} {lines[block + 1]}")
    for text in texts:
        names, has_prefix = names_in_byline(text, needs_prefix=True, is_marked=bool(elements))
        if names:
            return names, has_prefix
    found: list[str] = []
    is_stated = False
    for element in elements[:20]:
        text = _spaced_text(page, int(page.run_begin[element]), int(page.run_end[element]))
        if len(text) <= _MAX_BYLINE_CHARACTERS:
            names, has_prefix = names_in_byline(text, needs_prefix=False, is_marked=True)
            found += names
            is_stated |= has_prefix
    return list(dict.fromkeys(found)), is_stated


def _comment_blocks(page: Page, heading: int | None) -> Flags:
    """bool[m], blocks in comments; an element with the headline is no comment, whatever its class."""
    elements = page.attributes.elements_with(attribute_indices(page, _COMMENT_CLASSES, "class", "id"))
    found = np.zeros(page.m, bool)
    for element in elements[: 4 * _MAX_CANDIDATES]:
        begin, end = int(page.block_begin[element]), int(page.block_end[element])
        if heading is None or not begin <= heading < end:
            found[begin:end] = True
    return found


def _spaced_text(page: Page, begin: int, end: int) -> str:
    """Text of some runs with spaces between them and bars between blocks and after links; "" if too long."""
    if end - begin > 40 or page.run_offset[end] - page.run_offset[begin] > MAX_FACT_CHARACTERS:
        return ""
    block_begins = page.block_run_begin[slice(*page.block_run_begin.searchsorted([begin, end]))].tolist()
    is_linked = linked_runs(page)
    parts: list[str] = []
    for run in range(begin, end):
        words = page.text[page.run_offset[run] : page.run_offset[run + 1]].split()
        is_after_link = bool(words) and run > begin and is_linked[run - 1] and not is_linked[run]
        if parts and (run in block_begins or (is_after_link and not _JOINS_NAMES.match(words[0]))):
            parts.append("|")
        parts += words
    return " ".join(parts)
