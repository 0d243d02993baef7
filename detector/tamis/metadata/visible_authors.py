"""Authors that readers see: names by their markup, by the pages they link to, or after "By" near the headline."""

# ruff: noqa: SIM905 - lists of words are read as text

from __future__ import annotations

import re
from operator import itemgetter
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tamis.metadata.values import is_byline, names_in_byline
from tamis.metadata.visible import MAX_FACT_CHARACTERS, attribute_places, first_block, heading_block, place_scores
from tamis.page.tree import linked_runs, tag_set, within

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tamis.page.page import Page

_MAX_BYLINE_CHARACTERS: Final = 120
_MAX_CANDIDATES: Final = 400  # of each kind
_MAX_LABEL_CHARACTERS: Final = 20
_MAX_NAMES: Final = 20
_MAX_BYLINE_RUNS: Final = 40
_MAX_BLOCKS_BEFORE: Final = 5  # text blocks between a byline and the headline
_MAX_BLOCKS_BEHIND: Final = 12
_MIN_BYLINE_SCORE: Final = 2.0
_PREFIX_SCORE: Final = 1.5
_REL_SCORE, _CLASS_SCORE, _FURTHER_SCORE = 2.0, 1.5, 0.6
_NOT_OF_AUTHORS: Final = tag_set("form", "label", "button", "figure", "figcaption")
_COMMENT_CLASSES: Final = "comment comments reply replies".split()
_CAPTION_CLASSES: Final = "image photo picture caption credit credits foto".split()
_BYLINE_CLASSES: Final = "author authors autor writer contributor contributors vcard fn byline username".split()
_AUTHOR_STEPS: Final = [  # of addresses
    f"/{step}/"
    for step in """author authors by contributor contributors profile profiles people staff writer writers journalist
    journalists autor autores auteur auteurs redacteur""".split()
]
_USER_STEPS: Final = ["/users/", "/members/"]
_AUTHOR_PAGE: Final = re.compile(
    rf"(?:{'|'.join(_AUTHOR_STEPS)})[^/?#]+(?:/profile)?/?\Z|(?:{'|'.join(_USER_STEPS)})[^/?#]*\d[^/?#]*/?\Z"
)

_JOINS_NAMES: Final = re.compile(r"[,;&/、，]|(?:and|und|et|y|och|og|e|i|with)\Z", re.IGNORECASE)


def stated_authors(page: Page) -> list[str]:
    """Names after "By" or its like in a line below the headline; the lines of comments are left out."""
    heading = heading_block(page)
    if heading is None:
        return []
    for block in range(heading + 1, min(page.m, heading + _MAX_BLOCKS_BEHIND + 1)):
        if names := _names_at(page, block, [])[0]:
            return [] if _comment_blocks(page, heading)[block] else names
    return []


def visible_authors(page: Page) -> list[str]:
    """Names by ``rel=author``, class names, links to pages of authors, and lines as "By ..." near the headline."""
    if not page.m:
        return []
    heading, by_place = heading_block(page), place_scores(page)
    wanted = ~_comment_blocks(page, heading)
    if heading is not None:
        wanted[heading] = False
    first = 0 if heading is None else max(0, heading - _MAX_BLOCKS_BEFORE)
    near = range(first, min(page.m, first + _MAX_BLOCKS_BEFORE + _MAX_BLOCKS_BEHIND))
    marked = _marked_elements(page)
    unmarked = {block: _Marks(0.0, []) for block in near if block not in marked}
    candidates = [
        (marks.score + float(by_place[block]), block, marks.elements)
        for block, marks in (marked | unmarked).items()
        if wanted[block]
    ]
    best: list[str] = []
    best_score = 0.0
    for score, block, elements in sorted(candidates, key=itemgetter(0), reverse=True):  # the likeliest come first
        if score + _PREFIX_SCORE < _MIN_BYLINE_SCORE or score + _PREFIX_SCORE <= best_score:
            break
        names, has_prefix = _names_at(page, block, elements)
        total = score + _PREFIX_SCORE * has_prefix
        if names and total >= _MIN_BYLINE_SCORE and total > best_score:
            best, best_score = names, total
    return best


class _Marks(NamedTuple):
    """The marks of authors in a block: how sure they are, and the elements that have those of the surest kind."""

    score: float
    elements: list[int]


def _marked_elements(page: Page) -> dict[int, _Marks]:
    """The marks of authors by block; several kinds of marks are surer."""
    table = page.attributes
    links = [
        place for place, value in table.containing([*_AUTHOR_STEPS, *_USER_STEPS], "href") if _AUTHOR_PAGE.search(value)
    ]
    of_others = {*attribute_places(page, _COMMENT_CLASSES + _CAPTION_CLASSES, "class", "id")}
    classes = [at for at in attribute_places(page, _BYLINE_CLASSES, "class", "id") if at not in of_others]
    rels = attribute_places(page, ["author"], "rel")
    unwanted = within(page, _NOT_OF_AUTHORS.take(page.tag)) | (page.run_begin == page.run_end)
    found: dict[int, _Marks] = {}
    for places, score in ((rels, _REL_SCORE), (links, _CLASS_SCORE), (classes, _CLASS_SCORE)):
        of_kind: dict[int, list[int]] = {}
        for element in table.elements_with(places)[:_MAX_CANDIDATES]:
            if not unwanted[element]:
                of_kind.setdefault(first_block(page, element), []).append(element)
        for block, elements in of_kind.items():
            marks = found.get(block)
            found[block] = _Marks(marks.score + _FURTHER_SCORE, marks.elements) if marks else _Marks(score, elements)
    return found


def _names_at(page: Page, block: int, elements: list[int]) -> tuple[list[str], bool]:
    """Names in a line that begins as a byline does, else in the marked elements; and whether it begins so."""
    lines = page.block_texts()
    line = lines[block]
    begin, end = int(page.block_run_begin[block]), int(page.block_run_end[block])
    texts = [_spaced_text(page, begin, end)] if len(line) <= _MAX_BYLINE_CHARACTERS and is_byline(line) else []
    if len(line) <= _MAX_LABEL_CHARACTERS and block + 1 < page.m and (not elements or is_byline(f"{line} ")):
        texts.append(f"{line} {lines[block + 1]}")
    for text in texts:
        names, has_prefix = names_in_byline(text, needs_prefix=True, is_marked=bool(elements))
        if names:
            return names, has_prefix
    found: list[str] = []
    is_stated = False
    for element in elements[:_MAX_NAMES]:
        text = _spaced_text(page, int(page.run_begin[element]), int(page.run_end[element]))
        if len(text) <= _MAX_BYLINE_CHARACTERS:
            names, has_prefix = names_in_byline(text, needs_prefix=False, is_marked=True)
            found += names
            is_stated |= has_prefix
    return list(dict.fromkeys(found)), is_stated


def _comment_blocks(page: Page, heading: int | None) -> NDArray[np.bool_]:
    """bool[m], blocks in comments; an element with the headline is no comment, whatever its class."""
    elements = page.attributes.elements_with(attribute_places(page, _COMMENT_CLASSES, "class", "id"))
    found = np.zeros(page.m, bool)
    for element in elements[: 4 * _MAX_CANDIDATES]:
        begin, end = int(page.block_begin[element]), int(page.block_end[element])
        if heading is None or not begin <= heading < end:
            found[begin:end] = True
    return found


def _spaced_text(page: Page, begin: int, end: int) -> str:
    """Text of some runs with spaces between them and bars between blocks and after links; "" if too long."""
    if end - begin > _MAX_BYLINE_RUNS or page.run_offset[end] - page.run_offset[begin] > MAX_FACT_CHARACTERS:
        return ""
    offsets = page.run_offset[begin : end + 1].tolist()
    ends = set(page.block_run_begin[page.block_run_begin.searchsorted(begin) :][: end - begin].tolist())
    is_linked = linked_runs(page)
    parts: list[str] = []
    for number, run in enumerate(range(begin, end)):
        words = page.text[offsets[number] : offsets[number + 1]].split()
        is_after_link = bool(words) and run > begin and is_linked[run - 1] and not is_linked[run]
        if parts and (run in ends or (is_after_link and not _JOINS_NAMES.match(words[0]))):
            parts.append("|")
        parts += words
    return " ".join(parts)
