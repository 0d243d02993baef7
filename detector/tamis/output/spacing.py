"""White space between elements that touch in the markup, though a page shows them apart."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final

import numpy as np

from tamis.output.styles import displays
from tamis.page.css_values import FLEX
from tamis.page.text import UNSPACED_CLASS, run_text
from tamis.page.tree import TAG_ID, as_mask, elements_with_names, nearest, tag_set, within

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tamis.page.page import Page

_SIDE_BY_SIDE: Final = tag_set("a", "span", "time", "label", "small", "strong", "b")
_WHOLE: Final = ("code", "kbd", "samp", "sup", "sub")
_WORD_ENDS: Final = frozenset(",:;!?%)]")
_CLAUSE_ENDS: Final = frozenset(",:;!?")
_ORDINALS: Final = frozenset({"st", "nd", "rd", "th"})
_NAME: Final = re.compile("[a-zA-Z]{3,40}")  # in a class: generators call theirs c1
_MAX_BEFORE: Final = 40  # characters of a text that are looked at
_PAIR: Final = 2
_MIN_FIELD: Final = 4  # characters on average; parts of words are shorter
_UNSPACED: Final = re.compile(f"[{UNSPACED_CLASS}]")
CURRENCIES: Final = "$€£"


def separated_runs(page: Page) -> dict[int, str]:
    """A space before each run that touches another one, though their elements are shown apart.

    Apart are boxes: buttons, unknown elements, and what flex boxes and grids hold; labels; links to different
    addresses; fields, see :func:`_in_fields`; and links, dates and spans side by side of which the second begins a
    word: "Tony Barbone" and "Chief Officer". Other spans may be parts of one word, and in ``pre`` the white space is as
    it was typed.
    """
    runs = page.continues_word.nonzero()[0]
    if "pre" in page.tag_names:
        runs = runs[~within(page, page.tag == TAG_ID["pre"])[page.run_node[runs]]]
    if not runs.size:
        return {}
    nodes = np.array((page.run_node[runs - 1], page.run_node[runs]))
    side = nearest(page.parent, _SIDE_BY_SIDE.take(page.tag)).take(nodes)
    are_apart = (side[0] >= 0) & (side[1] >= page.end.take(side[0]))
    if np.count_nonzero(are_apart):
        if whole := elements_with_names(page, *_WHOLE):
            is_whole = within(page, as_mask(page, whole)).take(nodes)
            are_apart &= ~(is_whole[0] | is_whole[1])
        are_apart[are_apart] = _begin_words(page, runs[are_apart], *side[:, are_apart])
    is_box = as_mask(page, [element for element, name in page.unknown_names.items() if "-" in name])
    is_box[elements_with_names(page, "button")] = True
    if np.count_nonzero(flexes := displays(page) <= FLEX):
        is_box |= np.append(flexes, False)[page.parent]
    box = nearest(page.parent, is_box).take(nodes)
    are_apart |= (box[0] != box[1]) & (np.minimum(*box) >= 0)
    apart = [*runs[are_apart].tolist(), *_beside_controls(page, runs, nodes)]
    return {run: f" {run_text(page, run)}" for run in apart}


def _beside_controls(page: Page, runs: NDArray[np.intp], nodes: NDArray[np.int32]) -> list[int]:
    """Those of some runs that begin with a word where a label or a button begins or ends, or after a "cite:".

    Nodes are int32[2, k], the elements of the runs before them and their own.
    """
    controls, cites = elements_with_names(page, "label", "button", "output"), elements_with_names(page, "cite")
    if not (controls or cites):
        return []
    around = nearest(page.parent, as_mask(page, controls + cites)).take(nodes)
    borders, cited, found = np.flatnonzero(around[0] != around[1]), frozenset(cites), []
    for run, at, *elements in zip(
        *(each[borders].tolist() for each in (runs, page.run_offset[runs], *around)), strict=True
    ):
        last, first = page.text[at - 1], page.text[at]
        if first.isalnum() and (last == ":" or (last.isalnum() and cited.isdisjoint(elements))):
            found.append(run)
    return found


def _begin_words(
    page: Page, runs: NDArray[np.intp], before: NDArray[np.int32], node: NDArray[np.int32]
) -> NDArray[np.bool_]:
    """bool[k], which of some runs, each in an element after another one, begin with a word of their own."""
    bounds = zip(*(page.run_offset.take(each).tolist() for each in (runs - 1, runs)), strict=True)
    beside = [(page.text[max(begin, at - _MAX_BEFORE) : at], page.text[at : at + 3]) for begin, at in bounds]
    begins = np.array([_begins_word(*texts, is_apart=True) for texts in beside], bool)
    if unsure := [at for at in np.flatnonzero(begins).tolist() if not _begins_word(*beside[at], is_apart=False)]:
        targets = page.attributes.of_elements(np.append(before[unsure], node[unsure]), {"href"})
        is_link = [bool(pairs) and pairs[0][1][:1] != "#" for pairs in targets]  # to another page: not to a note
        begins[unsure] = np.logical_and(*np.reshape(is_link, (2, -1)))
        if not begins[unsure].all():
            begins[unsure] |= np.array(_in_fields(page, before, node))[unsure]
    return begins


def _in_fields(page: Page, before: NDArray[np.int32], after: NDArray[np.int32]) -> list[bool]:
    """Whether elements that touch are fields: "250 ml" and "sour cream".

    Fields are all that an element holds, without white space between any two of them. They are at least three, and not
    as short as parts of words, or two with different classes, which name something or are those of other list items.
    """
    parents, stated = page.parent[before].tolist(), page.attributes.of_elements(np.append(before, after), {"class"})
    joints = Counter(one for one, other in zip(parents, page.parent[after].tolist(), strict=True) if one == other)
    fields = {parent: _count_fields(page, parent, count) for parent, count in joints.items()}
    names = [pairs[0][1] if pairs else "" for pairs in stated]
    classes = list(zip(names[: len(parents)], names[len(parents) :], strict=True))
    alike = Counter(pair for pair, at in zip(classes, parents, strict=True) if page.tag[at] == TAG_ID["li"])
    found = []
    for (one, other), parent in zip(classes, parents, strict=True):
        are_named = alike[one, other] > 1 or bool(_NAME.search(one) and _NAME.search(other))
        count = fields.get(parent, 0)
        found.append(count > _PAIR or (count == _PAIR and one != other and are_named))
    return found


def _count_fields(page: Page, parent: int, joints: int) -> int:
    """Number of elements with text that an element holds, if nothing is between them; 0 otherwise."""
    count, child, own = 0, parent + 1, slice(page.run_begin[parent], page.run_end[parent])
    while child < page.end[parent] and count <= joints + 1:
        count += int(page.is_nonblank[page.run_begin[child] : page.run_end[child]].any())
        child = int(page.end[child])
    characters = int(page.run_offset[own.stop] - page.run_offset[own.start])
    is_mixed = bool((page.is_nonblank[own] & (page.run_node[own] == parent)).any())
    return 0 if is_mixed or count != joints + 1 or characters < _MIN_FIELD * count else count


def _begins_word(before: str, after: str, *, is_apart: bool) -> bool:
    """Whether a text begins with a word of its own, from its first characters and the last ones of the text before it.

    A single letter before it is an initial, or one of a word whose letters move. What is ``is_apart`` for other reasons
    begins one wherever letters or digits meet.
    """
    first, last = after[0], before[-1]
    if not (last + first).isascii() and _UNSPACED.search(last + first):
        return False  # such scripts have no spaces between words
    if len(before) == 1 and before.isalpha() and not (is_apart and len(after) == 1):
        return False
    ends_word = last.isupper() or last.islower() or last.isdigit()
    if first.isupper():
        return ends_word or last in _WORD_ENDS or (last == "." and " " in before.strip())
    if last.isdigit() and first.isalpha() and after[:2].lower() not in _ORDINALS:
        return True
    if last in _CLAUSE_ENDS and first.isalpha():
        return True
    return (ends_word and (first.isdigit() or first in CURRENCIES)) or (
        is_apart and (last.isalnum() or last in _WORD_ENDS) and first.isalnum()
    )
