"""Code by what it is: ``pre``, the boxes of highlighters, and other elements whose white space counts."""

from __future__ import annotations

import re
from bisect import bisect_left
from itertools import compress
from typing import TYPE_CHECKING, Final

import numpy as np

from tamis.output.styles import styles_of_text
from tamis.page.attributes import attribute_predicate, token_pattern
from tamis.page.css_values import KEEPS_SPACES
from tamis.page.tree import (
    TAG_ID,
    as_mask,
    cached_on_page,
    elements_with_names,
    outermost,
    prefix_sums,
    sums_over_runs,
    tag_set,
    within,
)

if TYPE_CHECKING:
    from tamis.arrays import Flags
    from tamis.page.page import Page

_CODE_CLASSES: Final = attribute_predicate(
    "class", parts=("code", "crayon-pre", "syntaxhigh", "js-file", "fragment", "listing")
)
_BOX: Final = token_pattern(
    "crayon-pre", "syntaxhighlighter", "enlighter-code", "js-file-line-container", "ltx_lstlisting"
)
"""The last two are of GitHub and of LaTeXML."""
_LIST_OF_LINES: Final = token_pattern("code")
_FRAGMENT: Final = token_pattern("fragment")
_BESIDE: Final = token_pattern("crayon-toolbar", "ltx_listing_data", "ttc")
"""Of Crayon, of LaTeXML, and what Doxygen shows of a name that one points at."""
_CODE: Final = tag_set("code", "samp", "kbd", "tt")
_LINE_NUMBERS: Final = token_pattern(
    *("lineno", "linenos", "linenodiv", "linenumbers?", "line-numbers?", "line-num", "blob-num", "gutter"),
    *("rouge-gutter", "listing_lines", "hljs-ln-numbers", "hljs-ln-n", "crayon-nums?", "code-line-number"),
    *("CodeMirror-linenumber", "lntd?", "ln", "ltx_tag_listingline"),
)
_NUMBERED: Final = attribute_predicate("class", parts=("linen", "-num", "gutter", "listing", "ln"))
"""Every class of line numbers has one part."""
_UNSELECTABLE_CANDIDATES: Final = attribute_predicate("style", parts=("select",))
_UNSELECTABLE: Final = re.compile(r"user-select:\s*none")  # the numbers of Hugo
_LANGUAGE_CANDIDATES: Final = attribute_predicate("class", parts=("lang",))
_LANGUAGE: Final = re.compile(r"(?:^|[\s_-])lang(?:uage(?:-name)?)?(?:$|\s)")  # VitePress, MDN
_LANGUAGE_LABEL: Final = re.compile(r"[\w+#.-]{1,20}")
_COPY_CANDIDATES: Final = attribute_predicate("class", "aria-label", "title", "onclick", parts=("copy", "select"))
_COPY: Final = re.compile("copy(?!right)|clipboard|selectcode", re.IGNORECASE)
_COPY_LABEL: Final = re.compile(r"copy(?: code| snippet| to clipboard| item path)?|copied!?|select all", re.IGNORECASE)
_MAX_LABEL: Final = 40  # characters
_MAX_BLANK_RUNS: Final = 20  # between a label and its code
_CODE_LINE: Final = re.compile(r"(?:^|[\s-])line(?:$|\s)")


@cached_on_page
def code_blocks(page: Page) -> Flags:
    """bool[n], elements that are blocks of code, none of which is in another but a ``pre`` in a ``pre``.

    Besides ``pre`` these are boxes of highlighters, and elements for code or in a typewriter's letters with several
    lines, by ``br`` or since a style keeps their white space.
    """
    blocks: Flags = page.tag == TAG_ID["pre"]
    found = page.attributes.elements_matching(_CODE_CLASSES, _BOX)
    lists = page.attributes.elements_matching(_CODE_CLASSES, _LIST_OF_LINES)
    found += [element for element in lists if page.tag[element] == TAG_ID["ol"]]
    if fragments := page.attributes.elements_matching(_CODE_CLASSES, _FRAGMENT):  # Doxygen
        found += {element - 1 for element in code_line_elements(page)}.intersection(fragments)
    are_spaced = styles_of_text(page, "white-space") >= KEEPS_SPACES
    if np.count_nonzero(are_spaced):
        are_spaced &= _CODE[page.tag] | (styles_of_text(page, "font-family") > 0)
        outer = outermost(page.parent, are_spaced)
        candidates = are_spaced.nonzero()[0].tolist()
        found += [element for element in candidates if outer[element] == element and "\n" in _text(page, element)]
    broken = page.parent[page.tag == TAG_ID["br"]]
    found += set(broken[_CODE[page.tag[broken]]].tolist())
    if found:
        others = as_mask(page, found)
        blocks |= others & (outermost(page.parent, others | blocks) == np.arange(page.n))
    return blocks


def _text(page: Page, element: int) -> str:
    begin, end = page.run_offset[[page.run_begin[element], page.run_end[element]]].tolist()
    return page.text[begin:end].strip()


@cached_on_page
def in_code_blocks(page: Page) -> Flags:
    """bool[n], whether each element is a block of code or inside one."""
    blocks = code_blocks(page)
    return within(page, blocks) if np.count_nonzero(blocks) else blocks


def code_line_elements(page: Page) -> list[int]:
    """Elements that are a line of code by their class, but for those that a ``br`` ends."""
    lines = page.attributes.containing(("line",), "class")
    found = page.attributes.elements_with([index for index, value in lines if _CODE_LINE.search(value)])
    if not found or "br" not in page.tag_names:
        return found
    is_break = np.append(page.tag == TAG_ID["br"], False)
    return list(compress(found, ~is_break[page.end[found]]))


def ends_line_itself(page: Page, element: int) -> bool:
    """Whether the text of an element in a block of code has a line feed at its end."""
    end = int(page.run_end[element])
    return bool(page.run_begin[element] < end and page.text[page.run_offset[end] - 1] == "\n")


def beside_code(page: Page) -> list[int]:
    """Elements that are no part of the code: line numbers, buttons to copy it, toolbars, and its language before it."""
    table = page.attributes
    numbered, has_code = table.elements_matching(_NUMBERED, _LINE_NUMBERS), np.count_nonzero(code_blocks(page)) > 0
    if has_code and (unselectable := table.elements_matching(_UNSELECTABLE_CANDIDATES, _UNSELECTABLE)):
        in_code = in_code_blocks(page)
        numbered = sorted({*numbered, *(element for element in unselectable if in_code[element])})
    found = _line_numbers(page, numbered)
    if has_code:
        found += _blocks_of_numbers(page, found)
        links = page.attribute("href")
        copying = [*elements_with_names(page, "button"), *table.elements_matching(_COPY_CANDIDATES, _COPY)]
        buttons = [element for element in copying if links.get(element, "#")[:1] == "#"]  # another link is a word
        found += labelled(page, buttons, _COPY_LABEL)
        labels = labelled(page, table.elements_matching(_LANGUAGE_CANDIDATES, _LANGUAGE), _LANGUAGE_LABEL)
        found += [label for label in labels if _is_before_code(page, label)]
        boxes = table.containing(("crayon-toolbar", "ltx_listing_data", "ttc"), "class")
        found += table.elements_with([index for index, value in boxes if _BESIDE.search(value)])
    return found


def _blocks_of_numbers(page: Page, numbers: list[int]) -> list[int]:
    """The blocks of code that hold nothing but line numbers: a column of them."""
    if not numbers:
        return []
    is_other = page.is_nonblank & ~within(page, as_mask(page, numbers))[page.run_node]
    is_column = (sums_over_runs(page, page.is_nonblank) > 0) & (sums_over_runs(page, is_other) == 0)
    found: list[int] = (code_blocks(page) & is_column).nonzero()[0].tolist()
    return found


def _is_before_code(page: Page, element: int) -> bool:
    """Whether the next text after that of an element is code."""
    end = int(page.run_end[element])
    following = end + np.flatnonzero(page.is_nonblank[end : end + _MAX_BLANK_RUNS])[:1]
    return bool(in_code_blocks(page)[page.run_node[following]].any())


def language_in_toolbar(page: Page, block: int) -> str:
    """The language that Crayon shows above a block of code; "" without it."""
    labels = _toolbar_labels(page)
    above = labels[max(bisect_left(labels, block) - 1, 0) :][:1]
    is_own = bool(above) and above[0] < block and not code_blocks(page)[above[0] : block].any()
    return _text(page, above[0]).lower() if is_own else ""


@cached_on_page
def _toolbar_labels(page: Page) -> list[int]:
    labels = page.attributes.containing(("crayon-language",), "class")
    return sorted(page.attributes.elements_with([index for index, _ in labels]))


def labelled(page: Page, elements: list[int], pattern: re.Pattern[str]) -> list[int]:
    """Those of some elements whose whole text, which is short, a pattern matches."""
    if not elements:
        return []
    chosen = np.array(elements)
    begin, end = (page.run_offset.take(bound.take(chosen)).tolist() for bound in (page.run_begin, page.run_end))
    return [
        element
        for element, at, to in zip(elements, begin, end, strict=True)
        if at < to <= at + _MAX_LABEL and pattern.fullmatch(page.text[at:to].strip())
    ]


def _line_numbers(page: Page, elements: list[int]) -> list[int]:
    """The elements whose text is a number, or that have none."""
    if not elements:
        return []
    is_other = within(page, as_mask(page, elements))[page.run_node]
    inside = np.flatnonzero(is_other)
    bounds = zip(page.run_offset[inside].tolist(), page.run_offset[inside + 1].tolist(), strict=True)
    texts = (page.text[begin:end].replace("\n", "0").replace(" ", "0") for begin, end in bounds)
    is_other[inside] = [not text.isdigit() for text in texts]
    has_text, has_others = prefix_sums(page.is_nonblank), prefix_sums(is_other)
    begin, end = page.run_begin[elements], page.run_end[elements]
    is_number = (has_text[begin] == has_text[end]) | (has_others[begin] == has_others[end])
    return list(compress(elements, is_number.tolist()))
