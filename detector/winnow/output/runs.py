"""How each run of text is written.

Numbers of lines, glyphs of formulas, buttons and links that only mark a place are not, and plain text has signs for
what only markup says.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.output.formulas import BEFORE, BEHIND, INSTEAD, formulas_of, places_of, tex_in_text
from winnow.page.attributes import attribute_predicate
from winnow.page.tags import TAG_ID, TAG_NAMES, tag_set
from winnow.page.text import UNSEEN_CHARACTERS
from winnow.page.tree import nearest, once_per_page, prefix_sums, within

if TYPE_CHECKING:
    from lxml import etree
    from numpy.typing import NDArray

    from winnow.output.formulas import Formula
    from winnow.page.page import Page

_LINE_NUMBERS: Final = re.compile(
    r"(?:^|\s)(?:lineno|linenos|linenodiv|linenumbers?|line-numbers?|line-num|blob-num|gutter|rouge-gutter|"
    r"hljs-ln-numbers|hljs-ln-n|crayon-nums?|code-line-number|CodeMirror-linenumber|lntd?|ln)(?:$|\s)"
)
_PLAYERS: Final = tag_set("video", "audio")  # what stands in them is for readers without them
_PLAYED: Final = tag_set("source", "track", "img", "picture")
_BUTTONS: Final = tag_set("button")
_COPYING: Final = attribute_predicate("class", "aria-label", "title", parts=("copy",))
_COPIES: Final = re.compile("copy(?!right)|clipboard", re.IGNORECASE)
_COPY_LABEL: Final = re.compile(r"copy(?: code| snippet| to clipboard)?|copied!?", re.IGNORECASE)
_LONG_LABEL: Final = 40  # characters
_CLASSES: Final = attribute_predicate(
    "class", parts=("line", "-num", "gutter", "ln", "mw-editsection", "mw-cite-backlink")
)
"""Every class of numbers of lines, of lines, and of links of wikis to their own places has one of these parts."""
_CODE_LINE: Final = re.compile(r"(?:^|[\s-])line(?:$|\s)")
_WIKI_LINK: Final = re.compile(r"(?:^|\s)mw-(?:editsection|cite-backlink)(?:$|\s)")
_PLACES: Final = attribute_predicate("href", parts=("#",))
_MAX_SIGNS: Final = 3  # of a link that only marks a place: ¶ behind a heading, ↩ behind a footnote
_MAX_MAIL: Final = 600  # hexadecimal digits

RAISED: Final = {
    "sup": str.maketrans("0123456789+-−=()", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾"),
    "sub": str.maketrans("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎"),
}
"""Digits and signs that are raised or lowered, by element."""
RAISED_SIGNS: Final = frozenset(map(chr, RAISED["sup"]))

_MAX_RAISED_RUNS: Final = 8  # of an element; those with more text hold others of their kind, or no number

QUOTED: Final = {"q": ("“", "”"), "rt": ("(", ")")}
"""What stands around the text of an element where markup is no more."""

_MARKED: Final = tag_set("input", *RAISED, *QUOTED)


def shown_runs(page: Page) -> list[str]:
    """Text of every run (``r`` strings) as it is to be written; "" for one that is not. As a rule ``page.runs`` itself.

    * The numbers beside lines of code are no code.
    * The glyphs of a formula are left out, see :mod:`winnow.output.formulas`.
    * Links that only mark a place are not written: ¶ and # of headings, ↩ and ^ of footnotes, "[edit]" of a wiki.
    * Characters that nobody sees are not written; mail addresses that Cloudflare hides are.
    * Buttons and elements of a page's own making that touch each other are parted by a space.
    """
    changed = changed_runs(page)
    return [changed.get(run, text) for run, text in enumerate(page.runs)] if changed else page.runs


def run_text(page: Page, run: int, changed: dict[int, str]) -> str:
    """Text of one run, of which some are changed; where few are asked for, :attr:`Page.runs` need not be made."""
    return changed[run] if run in changed else page.text[page.run_offset[run] : page.run_offset[run + 1]]


@once_per_page
def changed_runs(page: Page) -> dict[int, str]:
    """Text of the runs that are not written as they stand, see :func:`shown_runs`; as a rule there are none."""
    changed = _with_seen_characters(page) | _separated_buttons(page) | _mail_addresses(page)
    unwritten = unwritten_elements(page)
    if unwritten.any():
        changed |= dict.fromkeys(np.flatnonzero(unwritten[page.run_node]).tolist(), "")
    return changed


@once_per_page
def unwritten_elements(page: Page) -> NDArray[np.bool_]:
    """bool[n], elements that are left out of what stays: forms of a formula but one, numbers of lines and the like."""
    chosen = formulas_of(page).replaced | _PLAYERS[page.tag]
    chosen[_line_numbers(page, _of_class(page, _LINE_NUMBERS))] = True
    chosen[_of_class(page, _WIKI_LINK)] = True
    chosen[_signs_of_places(page)] = True
    if (page.tag == TAG_ID["pre"]).any():
        chosen[_copy_buttons(page)] = True
    unwritten: NDArray[np.bool_] = within(page, chosen) & ~(_PLAYERS[page.tag] | _PLAYED[page.tag])
    return unwritten


def _of_class(page: Page, pattern: re.Pattern[str]) -> list[int]:
    places = [place for place, value in page.attributes.matching(_CLASSES) if pattern.search(value)]
    return page.attributes.elements_with(places) if places else []


def is_code_line(element: etree._Element) -> bool:
    """Whether the class of an element says that it is a line of code."""
    return _CODE_LINE.search(element.get("class", "")) is not None


def code_line_elements(page: Page) -> list[int]:
    """Elements that are a line of code, see :func:`is_code_line`."""
    return _of_class(page, _CODE_LINE)


def _signs_of_places(page: Page) -> list[int]:
    """Links to a place of the page that show a sign or two, and no word."""
    links = np.array(page.attributes.elements_with([place for place, _ in page.attributes.matching(_PLACES)]), np.intp)
    links = links[page.run_end[links] == page.run_begin[links] + 1].tolist()
    return [link for link in links if (sign := _label(page, link, _MAX_SIGNS)) and not any(map(str.isalnum, sign))]


def _label(page: Page, element: int, most: int) -> str:
    """Text of an element; "" for one with more characters than so many."""
    begin, end = page.run_offset[page.run_begin[element]], page.run_offset[page.run_end[element]]
    text = page.text[begin:end].strip() if end - begin <= _LONG_LABEL else ""
    return text if len(text) <= most else ""


def _mail_addresses(page: Page) -> dict[int, str]:
    """Addresses that stand in ``data-cfemail``, by the run that holds their place."""
    found: dict[int, str] = {}
    for element, code in page.attribute("data-cfemail").items():
        if mail := read_mail(code):
            runs = range(page.run_begin[element], page.run_end[element])
            found |= dict.fromkeys(runs[1:], "") | dict.fromkeys(runs[:1], mail)
    return found


def read_mail(code: str) -> str:
    """Read an address that Cloudflare hides: bytes in hexadecimal, each xor the first; "" for none."""
    with suppress(ValueError):
        key, *address = bytes.fromhex(code[:_MAX_MAIL])
        return bytes(key ^ byte for byte in address).decode()
    return ""


def _copy_buttons(page: Page) -> list[int]:
    """Buttons that copy code."""
    buttons = np.flatnonzero(_BUTTONS[page.tag]).tolist()
    buttons += page.attributes.elements_with(
        [place for place, value in page.attributes.matching(_COPYING) if _COPIES.search(value)]
    )
    return [button for button in buttons if _COPY_LABEL.fullmatch(_label(page, button, _LONG_LABEL))]


def tex_runs(page: Page) -> dict[int, list[str | Formula]]:
    """Pieces of the runs that hold TeX, see :func:`tex_in_text`, of those that are written as they are."""
    changed = changed_runs(page)
    return {run: pieces for run, pieces in tex_in_text(page).items() if run not in changed}


@once_per_page
def read_runs(page: Page) -> dict[int, str]:
    """Text of the runs that plain text does not have as they stand.

    In addition to :func:`changed_runs` it has formulas, raised digits, and signs for ``rt``, ``q`` and boxes to tick.
    """
    changed, places, marked = dict(changed_runs(page)), places_of(page).in_runs, _MARKED[page.tag]
    changed |= {run: "".join(map(str, pieces)) for run, pieces in tex_runs(page).items()}
    for run, formulas in places.items():
        ways = {
            how: " ".join(str(formula) for at, formula in formulas if at == how) for how in (BEFORE, INSTEAD, BEHIND)
        }
        changed[run] = f"{ways[BEFORE]}{ways[INSTEAD] or run_text(page, run, changed)}{ways[BEHIND]}"
    if not marked.any():
        return changed
    boxes = checkboxes(page)
    for element in np.flatnonzero(marked).tolist():
        begin, end = int(page.run_begin[element]), int(page.run_end[element])
        name = TAG_NAMES[page.tag[element]]
        if element in boxes:
            changed[end] = f"{boxes[element]} {run_text(page, end, changed).lstrip()}"
        elif begin < end <= begin + _MAX_RAISED_RUNS and name in RAISED:
            raised = {run: run_text(page, run, changed) for run in range(begin, end)}
            if set("".join("".join(raised.values()).split())) <= RAISED_SIGNS:
                changed |= {run: text.translate(RAISED[name]) for run, text in raised.items()}
        elif begin < end and name in QUOTED and (name != "rt" or not has_parentheses(page.elements[element])):
            changed[begin] = QUOTED[name][0] + run_text(page, begin, changed)
            changed[end - 1] = run_text(page, end - 1, changed) + QUOTED[name][1]
    return changed


def has_parentheses(rt: etree._Element) -> bool:
    """Whether a page itself puts the reading of a word between parentheses."""
    around = rt.getparent()
    return around is not None and around.find("rp") is not None


@once_per_page
def checkboxes(page: Page) -> dict[int, str]:
    """``[x]`` or ``[ ]`` by element, for the boxes to tick at the beginning of items of lists."""
    kinds = page.attribute("type") if (page.tag == TAG_ID["input"]).any() else {}
    boxes = [
        element
        for element, kind in kinds.items()
        if kind.lower() == "checkbox" and page.tag[element] == TAG_ID["input"]
    ]
    if not boxes:
        return {}
    item, ticked = nearest(page.parent, page.tag == TAG_ID["li"]), page.attribute("checked")
    visible = prefix_sums(page.has_ink)
    return {
        box: "[x]" if box in ticked else "[ ]"
        for box in boxes
        if item[box] >= 0
        and visible[page.run_begin[box]] == visible[page.run_begin[item[box]]]
        and visible[page.run_end[item[box]]] > visible[page.run_end[box]]
    }


def _line_numbers(page: Page, elements: list[int]) -> list[int]:
    """Those of some elements whose text is a number, or none."""
    if not elements:
        return []
    has_text = prefix_sums(page.has_ink)
    has_others = prefix_sums(np.array([not run.replace("\n", "0").replace(" ", "0").isdigit() for run in page.runs]))
    begin, end = page.run_begin[elements], page.run_end[elements]
    chosen = (has_text[begin] == has_text[end]) | (has_others[begin] == has_others[end])
    return np.array(elements)[chosen].tolist()  # type: ignore[no-any-return]


def _with_seen_characters(page: Page) -> dict[int, str]:
    """Runs without their characters that nobody sees, of those that have some."""
    runs, text, offset = np.flatnonzero(page.has_unseen).tolist(), page.text, page.run_offset
    return {run: UNSEEN_CHARACTERS.sub("", text[offset[run] : offset[run + 1]]) for run in runs}


def _separated_buttons(page: Page) -> dict[int, str]:
    """A space before each run that touches another one over the borders of two buttons or unknown elements."""
    boxes = page.tag == TAG_ID["button"]
    boxes[[element for element, name in page.unknown_names.items() if "-" in name]] = True
    if not boxes.any() or page.r < 2:
        return {}
    box = nearest(page.parent, boxes)[page.run_node]
    apart = (box[1:] != box[:-1]) & (box[1:] >= 0) & (box[:-1] >= 0)
    touching = np.flatnonzero(apart & page.has_ink[1:] & page.has_ink[:-1]) + 1
    text, offset = page.text, page.run_offset.tolist() if len(touching) else []
    return {
        run: f" {text[offset[run] : offset[run + 1]]}"
        for run in touching.tolist()
        if not text[offset[run]].isspace() and not text[offset[run] - 1].isspace()
    }
