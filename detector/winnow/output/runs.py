"""The text runs of a page as a reader takes them in: formulas as TeX, code without its line numbers, buttons apart."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.page.ancestors import nearest
from winnow.page.attributes import question
from winnow.page.subtrees import within
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
    """TeX of the ``math`` elements that hold it, by element."""
    found = {}
    for index in np.flatnonzero(page.tag == TAG_ID["math"]).tolist():
        element = page.elements[index]
        notes = (note for note in element.iter() if isinstance(note.tag, str) and note.tag.endswith("annotation"))
        tex = next((note.text for note in notes if note.get("encoding") == _TEX and note.text), element.get("alttext"))
        if tex and (bare := " ".join(tex.split())):
            found[index] = _STYLE.sub(r"\1", bare).strip()
    return found


def _changed(page: Page) -> dict[int, str]:
    changed: dict[int, str] = {}
    if any(value == _KATEX or _NUMBERS.search(value) for _, value in page.attributes.having(_POSSIBLE)):
        for element, value in page.attribute("class").items():
            if _NUMBERS.search(value):
                changed |= _without_numbers(page, element)
            elif value == _KATEX:
                changed |= _as_tex(page, element)
    return changed | _parted(page)


def _without_numbers(page: Page, element: int) -> dict[int, str]:
    runs = range(int(page.run_begin[element]), int(page.run_end[element]))
    text = "".join(page.runs[run] for run in runs)
    return dict.fromkeys(runs, "") if not text.strip() or text.replace("\n", " ").replace(" ", "").isdigit() else {}


def _as_tex(page: Page, glyphs: int) -> dict[int, str]:
    """TeX in place of the first run of the glyphs, and nothing for the others."""
    around = int(page.parent[glyphs])
    maths = [index for index in range(around, int(page.end[around])) if page.tag[index] == TAG_ID["math"]]
    runs = range(int(page.run_begin[glyphs]), int(page.run_end[glyphs]))
    tex = next((tex for index, tex in tex_of(page).items() if index in maths), "")
    if not tex or not runs:
        return {}
    return {**dict.fromkeys(runs, ""), runs[0]: f"${tex}$"}


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
