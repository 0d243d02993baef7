"""The text runs of a page as a reader takes them in: formulas as TeX, code without its line numbers, buttons apart."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.page.ancestors import nearest
from winnow.page.attributes import question
from winnow.page.subtrees import prefix_sums, within
from winnow.page.tags import TAG_ID

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.page.page import Page

_NUMBERS: Final = re.compile(
    r"(?:^|\s)(?:lineno|linenos|linenodiv|linenumbers?|line-numbers?|line-num|blob-num|gutter|rouge-gutter|"
    r"hljs-ln-numbers|hljs-ln-n|code-line-number|ln)(?:$|\s)"
)
_KATEX: Final = "katex-html"
_POSSIBLE: Final = question("class", parts=(_KATEX, "lineno", "linenum", "line-num", "blob-num", "gutter", "ln"))
"""Every class that is sought has one of these parts."""

_TEX: Final = "application/x-tex"
_STYLE: Final = re.compile(r"^\{\\(?:display|text)style (.*)\}$", re.DOTALL)
_NAME: Final = "winnow.output.runs.changed_runs"
_TEX_NAME: Final = "winnow.output.runs.tex_of"


def shown_runs(page: Page) -> list[str]:
    """Text of every run (``r`` strings) as it is to be written; "" for one that is not. As a rule ``page.runs`` itself.

    * The numbers beside lines of code are no code.
    * A formula of KaTeX, whose glyphs lie about in the markup, is its TeX between dollar signs.
    * Buttons and elements of a page's own making that touch each other are parted by a space.
    """
    changed = changed_runs(page)
    if not changed:
        return page.runs
    shown = list(page.runs)
    for run, text in changed.items():
        shown[run] = text
    return shown


def changed_runs(page: Page) -> dict[int, str]:
    """Text of the runs that are not written as they stand, see :func:`shown_runs`; as a rule there are none."""
    known: dict[int, str] | None = vars(page).get(_NAME)
    if known is None:
        known = _changed(page)
        vars(page)[_NAME] = known
    return known


def tex_of(page: Page) -> dict[int, str]:
    """TeX of the ``math`` elements that hold it, by element, in document order."""
    known: dict[int, str] | None = vars(page).get(_TEX_NAME)
    if known is None:
        known = _tex(page)
        vars(page)[_TEX_NAME] = known
    return known


def _tex(page: Page) -> dict[int, str]:
    maths = np.flatnonzero(page.tag == TAG_ID["math"]).tolist()
    if not maths:
        return {}
    notes = {
        index: text
        for index, encoding in page.attribute("encoding").items()
        if encoding == _TEX
        and page.unknown_names.get(index, "").endswith("annotation")
        and (text := page.elements[index].text)
    }
    places, stated = list(notes), page.attribute("alttext")
    found = {}
    for index in maths:
        place = bisect_left(places, index)
        inside = place < len(places) and places[place] < page.end[index]
        if bare := " ".join((notes[places[place]] if inside else stated.get(index, "")).split()):
            found[index] = _STYLE.sub(r"\1", bare).strip()
    return found


def _changed(page: Page) -> dict[int, str]:
    if not any(value == _KATEX or _NUMBERS.search(value) for _, value in page.attributes.having(_POSSIBLE)):
        return _parted(page)
    classes = page.attribute("class")
    numbers = _line_numbers(page, [element for element, value in classes.items() if _NUMBERS.search(value)])
    formulas = _formulas(page, [element for element, value in classes.items() if value == _KATEX])
    replaced = np.zeros(page.n, bool)
    replaced[[*numbers, *formulas]] = True
    changed = dict.fromkeys(np.flatnonzero(within(page, replaced)[page.run_node]).tolist(), "")
    return changed | {int(page.run_begin[element]): f"${tex}$" for element, tex in formulas.items()} | _parted(page)


def _line_numbers(page: Page, elements: list[int]) -> list[int]:
    """Those of some elements whose text is a number, or none."""
    if not elements:
        return []
    has_text = prefix_sums(page.inked)
    has_others = prefix_sums(np.array([not run.replace("\n", "0").replace(" ", "0").isdigit() for run in page.runs]))
    begin, end = page.run_begin[elements], page.run_end[elements]
    chosen = (has_text[begin] == has_text[end]) | (has_others[begin] == has_others[end])
    return np.array(elements)[chosen].tolist()  # type: ignore[no-any-return]


def _formulas(page: Page, glyphs: list[int]) -> dict[int, str]:
    """TeX that stands in the same element as some glyphs, by the elements of the glyphs that have any."""
    formulas = tex_of(page)
    maths = list(formulas)
    found = {}
    for element in glyphs:
        around = int(page.parent[element])
        place = bisect_left(maths, around)
        if place < len(maths) and maths[place] < page.end[around] and page.run_begin[element] < page.run_end[element]:
            found[element] = formulas[maths[place]]
    return found


def _parted(page: Page) -> dict[int, str]:
    """A space before each run that touches another one over the borders of two buttons or unknown elements."""
    boxes = page.tag == TAG_ID["button"]
    boxes[[element for element, name in page.unknown_names.items() if "-" in name]] = True
    if not boxes.any() or page.r < 2:
        return {}
    box = nearest(page.parent, boxes)[page.run_node]
    apart = (box[1:] != box[:-1]) & (box[1:] >= 0) & (box[:-1] >= 0)
    touching = np.flatnonzero(apart & page.inked[1:] & page.inked[:-1]) + 1
    text, offset = page.text, page.run_offset.tolist() if len(touching) else []
    return {
        run: f" {text[offset[run] : offset[run + 1]]}"
        for run in touching.tolist()
        if not text[offset[run]].isspace() and not text[offset[run] - 1].isspace()
    }


def glyphs(page: Page) -> NDArray[np.bool_]:
    """bool[n], the elements of KaTeX's own layout, which the TeX of the formula stands for."""
    chosen = np.zeros(page.n, bool)
    chosen[[index for index, value in page.attribute("class").items() if value == _KATEX]] = True
    return within(page, chosen)
