"""White space between elements that touch in the markup, though a page shows them apart."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final

import numpy as np

from tamis.core import core
from tamis.output.code import in_code_blocks
from tamis.output.styles import displays
from tamis.page.attributes import attribute_predicate
from tamis.page.cascade import for_readers
from tamis.page.css_values import FLEX
from tamis.page.text import UNSPACED_CLASS, run_text
from tamis.page.tree import TAG_ID, as_mask, elements_with_names, nearest, tag_set, within

if TYPE_CHECKING:
    from tamis.arrays import Flags
    from tamis.page.page import Page

    Border = tuple[int, int, int]  # a run, and the elements nearest around the run before it and around itself

_SIDE_BY_SIDE: Final = tag_set("a", "span", "time", "label", "small", "strong", "b")
_WHOLE: Final = ("code", "kbd", "samp", "sup", "sub")
_WORD_ENDS: Final = frozenset(",:;!?%)]")
_CLAUSE_ENDS: Final = frozenset(",:;!?")
_ORDINALS: Final = frozenset({"st", "nd", "rd", "th"})
_NAME: Final = re.compile("[a-zA-Z]{3,40}")  # in a class: generators call theirs c1
PLACES: Final = attribute_predicate("href", parts=("#",))  # of links to a place, in a page or in this one
_MAX_BEFORE: Final = 40  # characters of a text that are looked at
_PAIR: Final = 2
_MIN_FIELD: Final = 4  # characters on average; parts of words are shorter
_UNSPACED: Final = re.compile(f"[{UNSPACED_CLASS}]")
CURRENCIES: Final = "$€£¥₹₽₩₺₴₪"


def separated_runs(page: Page) -> dict[int, str]:
    """A space before each run that touches another one, though their elements are shown apart.

    Apart are boxes: buttons, unknown elements, and what flex boxes and grids hold; labels; links to different
    addresses; fields, see :func:`_in_fields`; and links, dates and spans side by side of which the second begins a
    word: "Tony Barbone" and "Chief Officer". Other spans may be parts of one word, and in code the white space is as it
    was typed.
    """
    touches = page.continues_word
    if np.count_nonzero(in_code := in_code_blocks(page)):
        touches = touches & ~in_code.take(page.run_node)
    if not np.count_nonzero(touches):
        return {}
    apart = [*_beside_elements(page, touches), *_in_boxes(page, touches), *_beside_controls(page, touches)]
    return {run: f" {run_text(page, run)}" for run in apart}


def _borders(page: Page, touches: Flags, chosen: Flags) -> list[Border]:
    """Those of some runs (bool[r]) between which and the run before one of some elements (bool[n]) begins or ends."""
    borders: list[Border] = core.text_borders(page.arrays, touches, nearest(page.parent, chosen))
    return borders


def _beside_elements(page: Page, touches: Flags) -> list[int]:
    """Those of some runs, each in an element after that of the run before, that begin with a word of their own."""
    borders = _borders(page, touches, _SIDE_BY_SIDE.take(page.tag))
    borders = [(run, one, other) for run, one, other in borders if one >= 0 and other >= page.end[one]]
    if borders and (whole := elements_with_names(page, *_WHOLE)):
        is_whole = within(page, as_mask(page, whole)).take(page.run_node)
        borders = [border for border in borders if not (is_whole[border[0] - 1] or is_whole[border[0]])]
    borders_of_words = [border for border in borders if _begins_word(page, border[0], is_apart=True)]
    joined = set()
    if unsure := [border for border in borders_of_words if not _begins_word(page, border[0], is_apart=False)]:
        table = page.attributes  # links to another page: not to a note
        notes = table.elements_with([index for index, href in table.matching(PLACES) if href[:1] == "#"])
        links = frozenset(table.elements_having("href")).difference(notes)
        joined = {run for run, *elements in unsure if not links.issuperset(elements)}
    if joined:
        joined -= _in_fields(page, borders)
    return [run for run, *_ in borders_of_words if run not in joined]


def _in_boxes(page: Page, touches: Flags) -> list[int]:
    """Those of some runs that are in another box than the run before."""
    custom = [element for element, name in page.unknown_names.items() if "-" in name]
    is_box = as_mask(page, custom + elements_with_names(page, "button"))
    if np.count_nonzero(flexes := displays(page) <= FLEX):
        is_box[1:] |= flexes.take(page.parent[1:])
    return [run for run, one, other in _borders(page, touches, is_box) if one >= 0 and other >= 0]


def _beside_controls(page: Page, touches: Flags) -> list[int]:
    """Those of some runs that begin with a word where a label or a button begins or ends, or after a "cite:".

    In a quotation, ``cite`` is who said it. What only screen readers say may be the rest of a word: "Mon" and "day".
    """
    controls, cites = elements_with_names(page, "label", "button", "output"), elements_with_names(page, "cite")
    spoken = for_readers(page)
    if not (controls or cites or spoken):
        return []
    quoted = within(page, page.tag == TAG_ID["blockquote"]) if cites else ()
    unsure, found = {cite for cite in cites if not quoted[cite]}.union(spoken), []
    for run, *elements in _borders(page, touches, as_mask(page, controls + cites + spoken)):
        last, first = page.text[page.run_offset[run] - 1], page.text[page.run_offset[run]]
        if first.isalnum() and (last == ":" or (last.isalnum() and (first.isupper() or unsure.isdisjoint(elements)))):
            found.append(run)
    return found


def _in_fields(page: Page, borders: list[Border]) -> set[int]:
    """Those of some runs that are in fields, as the runs before them are: "250 ml" and "sour cream".

    Fields are all that an element holds, without white space between any two of them. They are at least three, and not
    as short as parts of words, or two with different classes, which name something or are those of other list items.
    """
    elements = np.array([elements for _, *elements in borders])
    parents = page.parent[elements].tolist()
    joints = Counter(one for one, other in parents if one == other)
    fields = {parent: _count_fields(page, parent, count) for parent, count in joints.items()}
    names = [pairs[0][1] if pairs else "" for pairs in page.attributes.of_elements(elements.ravel(), {"class"})]
    classes = list(zip(names[::2], names[1::2], strict=True))
    alike = Counter(pair for pair, (at, _) in zip(classes, parents, strict=True) if page.tag[at] == TAG_ID["li"])
    found = set()
    for (run, *_), (one, other), (parent, _) in zip(borders, classes, parents, strict=True):
        are_named = alike[one, other] > 1 or bool(_NAME.search(one) and _NAME.search(other))
        count = fields.get(parent, 0)
        if count > _PAIR or (count == _PAIR and one != other and are_named):
            found.add(run)
    return found


def _count_fields(page: Page, parent: int, joints: int) -> int:
    """Number of elements with text that an element holds, if nothing is between them; 0 otherwise."""
    count, child, own = 0, parent + 1, slice(page.run_begin[parent], page.run_end[parent])
    while child < page.end[parent] and count <= joints + 1:
        count += bool(np.count_nonzero(page.is_nonblank[page.run_begin[child] : page.run_end[child]]))
        child = int(page.end[child])
    characters = int(page.run_offset[own.stop] - page.run_offset[own.start])
    is_mixed = bool((page.is_nonblank[own] & (page.run_node[own] == parent)).any())
    return 0 if is_mixed or count != joints + 1 or characters < _MIN_FIELD * count else count


def _begins_word(page: Page, run: int, *, is_apart: bool) -> bool:
    """Whether a run begins with a word of its own, by its first characters and the last ones of the run before it.

    A single letter before it is an initial, or one of a word whose letters move. What is ``is_apart`` for other reasons
    begins one wherever letters or digits meet.
    """
    text, (begin, at) = page.text, page.run_offset[run - 1 : run + 1].tolist()
    before, first = text[max(begin, at - _MAX_BEFORE) : at], text[at]
    last = before[-1]
    if not (last + first).isascii() and _UNSPACED.search(last + first):
        return False  # such scripts have no spaces between words
    if len(before) == 1 and last.isalpha() and not (is_apart and at + 1 == len(text)):
        return False
    ends_word = last.isupper() or last.islower() or last.isdigit()
    if first.isupper():
        return ends_word or last in _WORD_ENDS or (last == "." and " " in before.strip())
    if last.isdigit() and first.isalpha() and text[at : at + 2].lower() not in _ORDINALS:
        return True
    if last in _CLAUSE_ENDS and first.isalpha():
        return True
    return (ends_word and (first.isdigit() or first in CURRENCIES)) or (
        is_apart and (last.isalnum() or last in _WORD_ENDS) and first.isalnum()
    )
