"""How each run of text is written: without line numbers, glyphs of formulas, copy buttons and the like.

Plain text has signs for what only markup says.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import numpy as np

from tamis.output.code import beside_code, code_blocks, in_code_blocks, labelled
from tamis.output.formulas import find_formulas, split_runs_with_tex
from tamis.output.leftovers import unrendered_runs
from tamis.output.spacing import CURRENCIES, PLACES, separated_runs
from tamis.output.styles import styles_of_text
from tamis.page.attributes import attribute_predicate, token_pattern
from tamis.page.text import DIRECTION_MARKS, LINE_SEPARATOR, RIGHT_TO_LEFT, UNSEEN_CHARACTERS, run_text
from tamis.page.tree import (
    IS_UNSEEN_TEXT,
    TAG_ID,
    as_mask,
    cached_on_page,
    elements_with_names,
    nearest,
    outermost,
    prefix_sums,
    tag_set,
    within,
)

if TYPE_CHECKING:
    from tamis.arrays import Flags
    from tamis.output.formulas import Formula
    from tamis.page.page import Page

_IN_PLAYERS: Final = tag_set("video", "audio", "source", "track", "img", "picture")
_CLASSES: Final = attribute_predicate("class", parts=("mw-", "editsection", "updated", "note"))
_WIKI_LINK: Final = token_pattern("(?:mw-)?editsection", "mw-cite-backlink")
_PUBLISHED: Final = token_pattern("published")
_UPDATED: Final = token_pattern("updated")
_PRICE: Final = re.compile(rf"[{CURRENCIES}]\s?\d{{1,3}}(?:,?\d{{3}})*\Z")
_MAX_PRICE_BLOCK: Final = 40  # characters; in a sentence raised digits are a note
_CHECKBOXES: Final = attribute_predicate("type", parts=("checkbox",))
_DRAWN_CANDIDATES: Final = attribute_predicate("class", parts=("checkbox",))
_DRAWN: Final = frozenset({"checkbox-on", "checkbox-off"})  # classes of checkboxes that Notion draws
_SIGNS: Final = re.compile(r"[\W_]{1,3}")  # of a link that only marks a place: ¶ after a heading; of a label: ▢
_NOTE: Final = token_pattern("ltx_note_content", "sidenote", "marginnote")
_NOTE_MARK: Final = token_pattern("ltx_note_mark", "ltx_tag_note")
_MAX_EMAIL: Final = 600  # hexadecimal digits
_EMAIL: Final = re.compile(r"([\w.!#$%&'*+/=^{|}~-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+)(?:\?|\Z)")  # no subject

RAISED: Final = {
    "sup": str.maketrans("0123456789+-−=()", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾"),
    "sub": str.maketrans("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎"),
}
"""Characters to write for raised or lowered ones, by element."""
RAISED_SIGNS: Final = frozenset(map(chr, RAISED["sup"]))

QUOTED: Final = {"q": ("“", "”"), "rt": ("(", ")")}
"""What text has around that of an element; plain_text.c has the same signs."""


@cached_on_page
def tex_in_text(page: Page) -> dict[int, list[str | Formula]]:
    """The runs that hold TeX between delimiters, split into it and what is around."""
    return split_runs_with_tex(page, run_rewrites(page))


def empty_runs(page: Page) -> list[int]:
    """Runs of which nothing is written."""
    return [run for run, text in run_rewrites(page).items() if not text]


@cached_on_page
def run_rewrites(page: Page) -> dict[int, str]:
    """Text of the runs that are not written as they stand, "" for one that is left out; as a rule there are none.

    * Elements of :func:`omitted_elements` are left out.
    * Invisible characters are not written, and marks of direction only beside letters written from right to left; mail
      addresses that Cloudflare hides are written. In code, spaces are those that one can type; in verse,
      lines end with :data:`LINE_SEPARATOR`.
    * A space separates elements that styles show apart, see :func:`tamis.output.spacing.separated_runs`.
    * Markup that was never rendered is left out, see :func:`tamis.output.leftovers.unrendered_runs`.
    * Raised cents get a point: no search for a price finds "$13⁶⁵".
    * Notes within a line, which styles show at its side, are in parentheses.
    """
    rewrites = separated_runs(page) | _raised_cents(page) | unrendered_runs(page)
    for run in page.has_unseen.nonzero()[0].tolist():
        seen = UNSEEN_CHARACTERS.sub("", run_text(page, run, rewrites))
        rewrites[run] = seen if RIGHT_TO_LEFT.search(seen) else DIRECTION_MARKS.sub("", seen)
    if b"\xa0" in page.utf8 and np.count_nonzero(code_blocks(page)):  # maybe of another character
        for run in in_code_blocks(page).take(page.run_node).nonzero()[0].tolist():
            if "\xa0" in (text := run_text(page, run, rewrites)):
                rewrites[run] = text.replace("\xa0", " ")
    verse = styles_of_text(page, "white-space") > 0
    if np.count_nonzero(verse):
        in_verse = within(page, verse & ~in_code_blocks(page)).take(page.run_node)
        for run in (in_verse & page.is_nonblank).nonzero()[0].tolist():
            rewrites[run] = run_text(page, run, rewrites).replace("\n", LINE_SEPARATOR)
    end = 0
    for element, code in page.attribute("data-cfemail").items():
        if element >= end and (email := decode_email(code)):  # not in another one
            end, runs = int(page.end[element]), range(page.run_begin[element], page.run_end[element])
            rewrites |= dict.fromkeys(runs[1:], "") | dict.fromkeys(runs[:1], email)
    _put_notes_in_parentheses(page, rewrites)
    if np.count_nonzero(omitted := omitted_elements(page)):
        rewrites |= dict.fromkeys(omitted.take(page.run_node).nonzero()[0].tolist(), "")
    return rewrites


@cached_on_page
def omitted_elements(page: Page) -> Flags:
    """bool[n], elements whose text is left out of what stays.

    These are all forms of a formula but one, line numbers and copy buttons of code, links that only mark a place (¶ and
    # of headings, ↩ and ^ of footnotes, "[edit]" of a wiki), labels of signs (▢), numbers of notes that are repeated in
    them, what players hold for readers without them, and the date of the last change that WordPress writes after that
    of publication, which its themes hide.
    """
    table, formulas = page.attributes, find_formulas(page)
    signs = table.elements_matching(PLACES) + elements_with_names(page, "label")
    found = labelled(page, signs, _SIGNS) + beside_code(page)
    if table.matching(_CLASSES):
        found += table.elements_matching(_CLASSES, _WIKI_LINK)
        found += _second_dates(page, table.elements_matching(_CLASSES, _UPDATED))
    found += elements_with_names(page, "video", "audio")
    if notes := _notes_in_line(page):
        marks = table.elements_matching(_CLASSES, _NOTE_MARK)
        in_note = within(page, as_mask(page, notes))
        found += [mark for mark in marks if in_note[mark]]
    if not (found or formulas.by_element):
        return formulas.is_replaced
    return within(page, formulas.is_replaced | as_mask(page, found))


@cached_on_page
def _notes_in_line(page: Page) -> list[int]:
    """Notes within a line, which styles show at its side: of LaTeXML and of Tufte CSS; none of them is in another."""
    spans = [note for note in page.attributes.elements_matching(_CLASSES, _NOTE) if page.tag[note] == TAG_ID["span"]]
    if not spans:
        return []
    outer = outermost(page.parent, as_mask(page, spans))
    return [note for note in spans if outer[note] == note]


def _put_notes_in_parentheses(page: Page, rewrites: dict[int, str]) -> None:
    if not (notes := _notes_in_line(page)):
        return
    written = (page.is_nonblank & ~omitted_elements(page).take(page.run_node)).nonzero()[0]
    bounds = (written.searchsorted(bound[notes]).tolist() for bound in (page.run_begin, page.run_end))
    for begin, end in zip(*bounds, strict=True):
        if begin < end:
            first, last = int(written[begin]), int(written[end - 1])
            rewrites[first] = f" ({run_text(page, first, rewrites)}"
            rewrites[last] = f"{run_text(page, last, rewrites)})"


@cached_on_page
def shown_elements(page: Page) -> Flags:
    """bool[n], elements that are written if they are kept.

    A player is, with its parts, but not the text in it; of the forms of a formula one is, and none of its pictures.
    """
    formulas = find_formulas(page)
    omitted = omitted_elements(page) & (formulas.is_replaced | ~_IN_PLAYERS.take(page.tag))
    shown = ~(within(page, IS_UNSEEN_TEXT.take(page.tag)) | omitted)
    shown[[*formulas.by_element]] = True
    return shown


def decode_email(code: str) -> str:
    """Decode a mail address that Cloudflare hides: bytes in hexadecimal, each xor the first; "" for anything else."""
    with suppress(ValueError):
        key, *address = bytes.fromhex(code[:_MAX_EMAIL])
        found = _EMAIL.match(bytes(key ^ byte for byte in address).decode())
        return found[1] if found else ""
    return ""


@cached_on_page
def checkboxes(page: Page) -> dict[int, str]:
    """``[x]`` or ``[ ]`` by element, for the checkboxes at the beginning of list items."""
    if "li" not in page.tag_names:
        return {}
    classes = {index: value.split() for index, value in page.attributes.matching(_DRAWN_CANDIDATES)}
    drawn = {box: names for box, names in page.attributes.elements_and_values(classes) if not _DRAWN.isdisjoint(names)}
    if not (found := [*page.attributes.elements_matching(_CHECKBOXES), *drawn]):
        return {}
    boxes = np.array(found)
    item = nearest(page.parent, page.tag == TAG_ID["li"])[boxes]
    is_in_item = ((page.tag[boxes] == TAG_ID["input"]) | as_mask(page, [*drawn])[boxes]) & (item >= 0)
    boxes, item = boxes[is_in_item], item[is_in_item]
    visible = prefix_sums(page.is_nonblank)
    is_first = visible[page.run_begin[boxes]] == visible[page.run_begin[item]]
    is_first &= visible[page.run_end[item]] > visible[page.run_end[boxes]]
    ticked = page.attribute("checked").keys() | {box for box, names in drawn.items() if "checkbox-on" in names}
    return {box: "[x]" if box in ticked else "[ ]" for box in boxes[is_first].tolist()}


def _second_dates(page: Page, elements: list[int]) -> list[int]:
    """The elements that are a ``time`` after that of publication, with no text between them."""
    return [
        element
        for element in elements
        if page.tag[element] == page.tag[element - 1] == TAG_ID["time"]
        and page.end[element - 1] == element
        and _PUBLISHED.search(dict(page.attributes[element - 1]).get("class", ""))
        and not page.is_nonblank[page.run_end[element - 1] : page.run_begin[element]].any()
    ]


def _raised_cents(page: Page) -> dict[int, str]:
    """A point before two digits in a ``sup`` of their own after the dollars, euros or pounds of a short text."""
    found: dict[int, str] = {}
    for element in elements_with_names(page, "sup"):
        run = int(page.run_begin[element])
        cents = run_text(page, run).strip() if page.run_end[element] == run + 1 else ""
        if len(cents) == 2 and cents.isdecimal():
            block = bisect_right(page.block_run_begin, run) - 1
            runs = page.block_run_begin[block], run, page.block_run_end[block]
            begin, at, end = page.run_offset.take(runs).tolist()
            if end - begin <= _MAX_PRICE_BLOCK and _PRICE.search(page.text[begin:at]):
                found[run] = f".{cents}"
    return found
