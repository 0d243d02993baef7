"""Formulas of a page as TeX, each once: from TeX in the page, else from its MathML.

A page has a formula in several forms for several readers: MathML with an annotation, glyphs laid out by KaTeX or
MathJax, a script of TeX, a picture with a description. One of them is chosen, the others are left out.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from lxml import etree

from tamis.page.attributes import attribute_predicate, token_pattern
from tamis.page.text import run_text
from tamis.page.tree import (
    IS_BLOCK_LEVEL,
    TAG_ID,
    as_mask,
    cached_on_page,
    elements_with_names,
    nearest,
    outermost,
    sums_in_blocks,
    tag_set,
    within,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tamis.arrays import Flags, Indices
    from tamis.page.page import Page

_CLASSES: Final = attribute_predicate(
    "class", parts=("katex", "-math", "mathjax", "mjx-chtml", "math-container", "arithmatex", "math ")
)
_CONTAINER: Final = token_pattern(
    *("katex(?:-display)?", "mwe-math-element", "MathJax(?:_Display|_Preview|_SVG|_SVG_Display|_CHTML)?"),
    *("MJXc-display", "mjx-chtml"),
)
_SCRIPTS: Final = attribute_predicate("type", parts=("math/tex",))
_PICTURES: Final = attribute_predicate("class", "src", parts=("latex", "-math", "emoji", "smil", "mathjax", "katex"))
_RENDERER: Final = re.compile("mathjax|katex", re.IGNORECASE)
_TEX_CONTAINER: Final = token_pattern(
    "math-container", "arithmatex", "math (?:inline|display|notranslate)", "js-(?:inline|display)-math"
)
_DOLLARS: Final = re.compile(  # of MathJax, of KaTeX
    r"""inlineMath\b.{0,60}?["']\$["']|left["']?\s?:\s?["']\$["'],\s?["']?right["']?\s?:\s?["']\$["']""", re.DOTALL
)
# Linear: a formula has a few hundred characters at most.
_DELIMITED: Final = re.compile(
    r"\\\((.{1,800}?)\\\)|(?:\\\[(.{1,800}?)\\\]|\$\$([^$]{1,800})\$\$)|(?<![\\$\w])\$(?=[^\s$])([^$]{1,800})(?<=\S)\$(?![\w$])"
    r"|(\\begin\{(?:align|equation|gather|eqnarray|multline)\*?\}.{1,800}?\\end\{[a-z]{1,12}\*?\})",
    re.DOTALL,
)
_CODE: Final = tag_set("pre", "code", "kbd", "samp", "tt")
_TEX_PICTURE: Final = re.compile("latex|mwe-math", re.IGNORECASE)
_EMOJI: Final = re.compile(r"(?:^|[\s-])(?:tw)?(?:emoji|smil(?:ey|ie)s?)(?:$|[\s-])")
_TEX_SIGNS: Final = re.compile(r"[\\^_]")
_MAX_SCRIPTS: Final = 100
_MAX_TEX: Final = 4_000  # characters
_MAX_MATHML: Final = 1_000  # elements
# Linear: a search begins at the beginning of a word, and words and what parts them have no character in common.
_PROSE: Final = re.compile(r"(?<![^\W\d_])(?<!\\)(?:[^\W\d_]{2,}+[\s,.;:!?'’-]++){6}[^\W\d_]{2}")
_EMOJI_TEXT: Final = re.compile(r":[\w +-]{1,30}:|\S{1,20}|[\W_]{1,40}")  # 😀, :big smile:, xD, ;-)
_TEX_ATTRIBUTES: Final = ("data-latex", "data-tex", "data-formula")
_STYLE: Final = re.compile(r"^\{\\(?:display|text)style (.*)\}$", re.DOTALL)
_IS_DISPLAY: Final = re.compile("display|block")
_MATH: Final = TAG_ID["math"]


class Formula(NamedTuple):
    """A formula in TeX, or the emoji that a picture shows."""

    tex: str
    is_display: bool  # has a line of its own
    is_emoji: bool = False

    def __str__(self) -> str:
        if self.is_emoji:
            return self.tex
        return f"$${self.tex}$$" if self.is_display else f"${self.tex}$"


@dataclass(frozen=True, eq=False, slots=True)
class Formulas:
    """The formulas of a page.

    Attributes:
        by_element: each by the element that it was read from, in document order.
        first: first element of all its forms, by the same element.
        is_replaced: bool[n], the elements of all forms.
    """

    by_element: dict[int, Formula]
    first: dict[int, int]
    is_replaced: Flags


@cached_on_page
def find_formulas(page: Page) -> Formulas:
    """Find the formulas of a page; most pages have none."""
    table, custom, nothing = page.attributes, page.unknown_names, Formulas({}, {}, np.zeros(page.n, bool))
    is_marked = any(map(table.matching, (_CLASSES, _SCRIPTS, _PICTURES))) or table.names.keys() & _TEX_ATTRIBUTES
    if not (is_marked or "math" in page.tag_names or "mjx-container" in custom.values()):
        return nothing
    emoji = [index for index, value in table.matching(_PICTURES) if _EMOJI.search(value) and "/" not in value]
    pictures = table.elements_matching(_PICTURES, _TEX_PICTURE)
    found = _tex_of_maths(page) if "math" in page.tag_names else {}
    for at, tex in (pair for name in _TEX_ATTRIBUTES for pair in page.attribute(name).items()):
        found[at] = Formula(_clean_tex(tex), bool(IS_BLOCK_LEVEL[page.tag[at]]))
    descriptions = page.attribute("alt") if pictures or emoji else {}
    for element in pictures:
        if page.tag[element] == TAG_ID["img"] and (tex := _clean_tex(descriptions.get(element, ""))):
            found[element] = Formula(tex, _is_display(page, element))
    for element in table.elements_with(emoji):
        sign = descriptions.get(element, "").strip()
        if page.tag[element] == TAG_ID["img"] and _EMOJI_TEXT.fullmatch(sign):
            found[element] = Formula(sign, is_display=False, is_emoji=True)
    for element in table.elements_matching(_SCRIPTS):
        if page.tag[element] == TAG_ID["script"] and (tex := _clean_tex(page.raw_text(element))):
            found[element] = Formula(tex, _is_display(page, element))
    found = {element: formula for element, formula in sorted(found.items()) if formula.tex}
    if not found:
        return nothing
    roots = table.elements_matching(_CLASSES, _CONTAINER)
    roots += [element for element, name in custom.items() if name == "mjx-container"]
    return _choose_forms(page, found, outermost(page.parent, as_mask(page, [*roots, *found])))


def split_runs_with_tex(page: Page, rewrites: Mapping[int, str]) -> dict[int, list[str | Formula]]:
    """Split the runs that hold TeX between delimiters, some of them rewritten, on pages where a script renders it."""
    table = page.attributes
    containers = table.elements_matching(_CLASSES, _TEX_CONTAINER)
    has_renderer = any(_RENDERER.search(value) and "/" in value for _, value in table.matching(_PICTURES))
    if not (containers or has_renderer):
        return {}
    in_container, in_code = within(page, as_mask(page, containers)), within(page, _CODE[page.tag])
    scripts = elements_with_names(page, "script")[:_MAX_SCRIPTS] if has_renderer else []
    has_dollars = any(_DOLLARS.search(page.raw_text(index)) for index in scripts)
    found = {}
    for run in np.flatnonzero(page.is_nonblank & ~in_code[page.run_node]).tolist():
        written = run_text(page, run, rewrites)
        if "$" in written or "\\" in written:
            pieces = _split_tex(written, has_dollars=has_dollars or bool(in_container[page.run_node[run]]))
            if len(pieces) > 1:
                found[run] = pieces
    return found


def _split_tex(text: str, *, has_dollars: bool) -> list[str | Formula]:
    pieces: list[str | Formula] = []
    end = 0
    for formula in _DELIMITED.finditer(text):
        inline, display = formula[1] or formula[4], formula[2] or formula[3] or formula[5]
        if formula[4] and not (has_dollars or _TEX_SIGNS.search(inline)):
            continue  # prices
        if tex := _clean_tex(inline or display or ""):
            pieces += [text[end : formula.start()], Formula(tex, is_display=not inline)]
            end = formula.end()
    return [*pieces, text[end:]]


def _choose_forms(page: Page, found: dict[int, Formula], container: Indices) -> Formulas:
    """Choose one of the forms of each formula, which are in one container or next to each other."""
    chosen: dict[int, tuple[int, Formula]] = {}  # by container
    for element, formula in found.items():
        root = int(container[element])
        is_display = formula.is_display or (not formula.is_emoji and _is_display(page, root))
        if root not in chosen or (page.tag[element] == TAG_ID["script"] and root != element):
            chosen[root] = element, formula._replace(is_display=is_display)
    roots = np.unique(container[container >= 0]).tolist()
    replaced = np.zeros(page.n, bool)
    before: list[int] = []  # roots that may be the output of the next script
    first = {element: root for root, (element, _) in chosen.items()}
    for root in roots:
        if page.tag[root] == TAG_ID["script"] and root in chosen:  # MathJax 2 writes its output before it
            element, formula = chosen[root]
            while before and _is_next_to(page, before[-1], first[element]):
                formula = formula._replace(is_display=formula.is_display or _is_display(page, before[-1]))
                first[element] = before[-1]
                replaced[before[-1]] = True
                chosen.pop(before.pop(), None)
            chosen[root] = element, formula
        elif page.tag[root] != _MATH:
            before.append(root)
        replaced[root] |= root in chosen
    return Formulas(dict(sorted(chosen.values())), first, within(page, replaced))


def _is_next_to(page: Page, element: int, later: int) -> bool:
    """Whether two elements are siblings with only white space between them."""
    between = slice(int(page.run_end[element]), int(page.run_begin[later]))
    return bool(page.parent[element] == page.parent[later]) and not page.is_nonblank[between].any()


def _is_display(page: Page, element: int) -> bool:
    attributes = dict(page.attributes[element])
    return any(_IS_DISPLAY.search(attributes.get(name, "").lower()) for name in ("class", "display", "mode", "type"))


def _clean_tex(tex: str) -> str:
    """Normalise TeX; "" for what is none, too long for a formula or seven words of prose in a row."""
    if len(tex) > _MAX_TEX or _PROSE.search(tex):
        return ""
    return _STYLE.sub(r"\1", " ".join(tex.split())).strip().replace("$", "")


def _tex_of_maths(page: Page) -> dict[int, Formula]:
    """Formula of each outermost ``math`` element: its annotation in TeX, its ``alttext``, or its MathML converted."""
    math_of = outermost(page.parent, page.tag == _MATH)
    annotations: dict[int, str] = {}
    for index, encoding in page.attribute("encoding").items():
        if encoding == "application/x-tex" and math_of[index] >= 0 and index in page.raw_texts:
            annotations.setdefault(int(math_of[index]), page.raw_text(index))
    descriptions, found = page.attribute("alttext"), {}
    for index in np.unique(math_of[page.tag == _MATH]).tolist():
        tex = _clean_tex(annotations.get(index, "")) or _clean_tex(descriptions.get(index, ""))
        if not tex and page.end[index] - index <= _MAX_MATHML:
            tex = _clean_tex(_convert_mathml(page.subtree(index)[0]))
        found[index] = Formula(tex, _is_display(page, index))
    return found


# MathML to TeX, https://www.w3.org/TR/mathml-core/; signs stay as they are, which MathJax and KaTeX read, too.

_FUNCTIONS: Final = frozenset(
    """
    arccos arcsin arctan arg cos cosh cot coth csc deg det dim exp gcd hom inf ker lg lim liminf limsup ln log max min
    Pr sec sin sinh sup tan tanh
    """.split()
)
_ESCAPES: Final = str.maketrans(
    {sign: f"\\{sign}" for sign in "{}%#&_"}
    | {"\\": "\\backslash ", "^": "\\hat{}", "~": "\\sim "}
    | dict.fromkeys("\u2061\u2062\u2063\u2064", "")  # invisible signs between factors and the like
)
_PATTERNS: Final = {  # TeX by name, and number of children
    "mfrac": ("\\frac{{{}}}{{{}}}", 2),
    "mroot": ("\\sqrt[{1}]{{{0}}}", 2),
    "msup": ("{}^{{{}}}", 2),
    "msub": ("{}_{{{}}}", 2),
    "msubsup": ("{}_{{{}}}^{{{}}}", 3),
    "munder": ("{}_{{{}}}", 2),
    "mover": ("\\overset{{{1}}}{{{0}}}", 2),
    "munderover": ("{}_{{{}}}^{{{}}}", 3),
}
_LETTER: Final = re.compile(r".|\\[a-zA-Z]+ ")  # or the name of a function: what needs no braces as a base
_WITH_TEXT: Final = frozenset({"mi", "mo", "mn", "ms", "mtext", "math"})
_BETWEEN_CHILDREN: Final = {  # TeX between the children of an element, before them and after them
    "msqrt": ("", "\\sqrt{", "}"),
    "mtr": (" & ", "", ""),
    "mtable": (" \\\\ ", "\\begin{matrix} ", " \\end{matrix}"),
}


def _convert_mathml(math: etree._Element) -> str:
    """Convert MathML to TeX."""
    written: list[list[str]] = [[]]  # the children of each open element
    walk = etree.iterwalk(math, events=("start", "end"))
    for event, element in walk:
        name = element.tag.rpartition("}")[2] if isinstance(element.tag, str) else "annotation"
        is_shown = name not in {"annotation", "annotation-xml", "mphantom"}
        if event == "start":
            if not is_shown:
                walk.skip_subtree()
            written.append([])
            continue
        children = written.pop()
        if is_shown:
            written[-1].append(_convert_element(name, element, children))
    return "".join(written[0])


def _convert_element(name: str, element: etree._Element, children: list[str]) -> str:
    if not children:
        return _convert_token(name, " ".join((element.text or "").split())) if name in _WITH_TEXT else " "
    pattern, number = _PATTERNS.get(name, ("", 0))
    if len(children) == number:
        base = children[0]
        grouped = f"{{{base}}}" if pattern.startswith("{") and not _LETTER.fullmatch(base) else base
        return pattern.format(grouped, *children[1:])
    joint, before, after = _BETWEEN_CHILDREN.get(name, ("", "", ""))
    if name == "mfenced":
        joint, before, after = element.get("separators", ",")[:1], element.get("open", "("), element.get("close", ")")
    return f"{before}{joint.join(children)}{after}"


def _convert_token(name: str, text: str) -> str:
    if text in _FUNCTIONS:
        return f"\\{text} "
    if name == "mi" and len(text) > 1 and text.isalpha():
        return f"\\mathrm{{{text}}}"
    escaped = text.translate(_ESCAPES)
    return f"\\text{{{escaped}}}" if name == "mtext" and text else escaped


_MAX_BETWEEN: Final = 100  # elements between a formula and the text of its line


@cached_on_page
def formula_blocks(page: Page) -> dict[int, int]:
    """The block that each formula is kept with, by its element: that of its line, else the one before it."""
    formulas = find_formulas(page)
    if not formulas.by_element or not page.m:
        return {}
    is_replaced = formulas.is_replaced[page.run_node]
    glyphs, visible = np.flatnonzero(page.is_nonblank & is_replaced), np.flatnonzero(page.is_nonblank & ~is_replaced)
    has_others = sums_in_blocks(page, page.is_nonblank & ~is_replaced) > 0
    block_element, found = nearest(page.parent, IS_BLOCK_LEVEL[page.tag]), {}
    for element, first in formulas.first.items():
        parent, end = int(block_element[page.parent[element]]), page.run_end[element]
        at, following = bisect_left(glyphs, page.run_begin[first]), bisect_left(visible, end)
        ahead = int(visible[following]) if following < len(visible) else page.r
        behind = int(visible[following - 1]) if following else -1
        block = max(_block_of(page, behind), 0)
        if at < len(glyphs) and glyphs[at] < max(end, page.run_end[first]) and has_others[_block_of(page, glyphs[at])]:
            block = _block_of(page, int(glyphs[at]))
        elif _is_in_line(page, parent, ahead, int(page.end[element]), bisect_right(page.run_begin, ahead)):
            block = _block_of(page, ahead)
        elif _is_in_line(page, parent, behind, bisect_right(page.run_begin, behind), first):
            block = _block_of(page, behind)
        found[element] = block
    return found


def _is_in_line(page: Page, parent: int, run: int, begin: int, end: int) -> bool:
    """Whether a run is in a block of an element, without a block-level element from ``begin`` to ``end``."""
    block = _block_of(page, run)
    if block < 0 or page.block_node[block] != parent or end - begin > _MAX_BETWEEN:
        return False
    return not IS_BLOCK_LEVEL[page.tag[begin : max(begin, end)]].any()


def _block_of(page: Page, run: int) -> int:
    """The block of a run; -1 if it has none."""
    block = bisect_right(page.block_run_end, run)
    return block if run >= 0 and block < page.m and page.block_run_begin[block] <= run else -1
