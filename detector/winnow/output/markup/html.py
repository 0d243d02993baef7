"""What remains of a page, written as an HTML document of its own."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.output.markup.code import language_of
from winnow.output.markup.sanitising import (
    OUTPUT_NAME,
    VOID,
    attributes,
    in_full,
    is_placeholder,
    largest_source,
    safe_address,
    with_lazy_source,
)
from winnow.output.runs import glyphs, shown_runs, tex_of
from winnow.output.tables import layout
from winnow.page.tags import BLOCK_LEVEL, TAG_ID, tag_set

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.output.stripping import Remains
    from winnow.page.page import Page

MAX_NESTING: Final = 128
"""Levels of markup; what lies deeper is written without its markup, for readers that recurse over a tree."""

_WHOLE: Final = tag_set("html", "body")
_PICTURES: Final = tag_set("img", "picture", "source", "video", "audio", "track")
_DIVISIONS: Final = np.array([name == "div" for name in OUTPUT_NAME])
_BORDERED: Final = np.array([name in BLOCK_LEVEL and name not in VOID for name in OUTPUT_NAME])


@dataclass(frozen=True, slots=True)
class Parts:
    """What is written of a page.

    Attributes:
        links: the targets of links; without them only the text stays.
        images: pictures, videos and sounds.
    """

    links: bool = True
    images: bool = True


EVERYTHING: Final = Parts()


def write_html(page: Page, remains: Remains, parts: Parts = EVERYTHING) -> str:
    """Write the remains of a page as an HTML document.

    Only harmless markup is written (see :mod:`winnow.output.markup.sanitising`), comments are not. Addresses are in
    full where it is known what they are relative to: the page's address, its ``base`` element, or the address that it
    states for itself. Tables that only lay out the page become ``div``, formulas ``<span class="math">`` with their
    TeX, and a ``pre`` says its language as ``class="language-..."``. The page and its tree are not changed.

    Args:
        page: the page.
        remains: the elements and runs that stay.
        parts: what is to be left out.
    """
    return f"<!DOCTYPE html>\n{_opening(page)}\n<body>\n{_body(page, remains, parts)}</body>\n</html>\n"


def document(title: str, paragraphs: list[str]) -> str:
    """Write a title and paragraphs of text as an HTML document."""
    body = "".join(f"<p>{escape(paragraph, quote=False)}</p>\n" for paragraph in paragraphs)
    return f"<!DOCTYPE html>\n<html>\n{_head(title)}\n<body>\n{body}</body>\n</html>\n"


def _head(title: str) -> str:
    named = f"<title>{escape(title, quote=False)}</title>" if title else ""
    return f'<head><meta charset="utf-8">{named}</head>'


def _opening(page: Page) -> str:
    """Everything before the body: the language, the direction and the title of the page."""
    stated: dict[str, str] = {}
    for index in np.flatnonzero(_WHOLE[page.tag])[:2].tolist():
        for name, value in page.attributes[index]:
            if name in {"lang", "dir"} and value.strip():
                stated.setdefault(name, value.strip())
    return f"<html{attributes(sorted(stated.items(), reverse=True))}>\n{_head(page.title)}"


def base_address(page: Page) -> str:
    """What the addresses on a page are relative to; "" where that is not known."""
    stated = page.attribute("href")
    for index in np.flatnonzero(page.tag == TAG_ID["base"]).tolist():
        if index in stated:
            base = in_full(stated[index], page.url or "")
            return base if base.startswith(("http://", "https://")) else page.url or ""
    if page.url:
        return page.url if safe_address(page.url) else ""
    for index in np.flatnonzero(page.tag == TAG_ID["link"]).tolist():
        found = dict(page.attributes[index])
        if found.get("rel", "").lower() == "canonical" and found.get("href", "").startswith(("http://", "https://")):
            return found["href"].strip()
    return ""


def _body(page: Page, remains: Remains, parts: Parts) -> str:
    """Write elements and runs in document order."""
    formulas = tex_of(page)
    unwritten = _wrappers(page, remains)
    shown = remains.runs
    if formulas:
        shown = shown & ~glyphs(page)[page.run_node]
    if not parts.images:
        unwritten = unwritten | _PICTURES[page.tag]
    kept = np.flatnonzero(remains.elements & ~unwritten)
    texts = shown_runs(page)
    if texts is not page.runs:
        shown = shown & np.fromiter(map(bool, texts), bool, len(texts))
    runs = np.flatnonzero(shown)
    names = _names(page, kept, parts)
    # A last element and a last run stand for the end of the page.
    elements = zip(
        [*kept.tolist(), page.n],
        [*names, ""],
        [*page.run_begin[kept].tolist(), len(page.runs)],
        [*page.end[kept].tolist(), page.n],
        [*page.run_end[kept].tolist(), len(page.runs)],
        strict=True,
    )
    runs_to_come = zip([*runs.tolist(), len(page.runs)], [*_block_numbers(page, runs).tolist(), 0], strict=True)
    run, block = next(runs_to_come)
    body = _Body(base_address(page))
    for index, name, run_begin, end, run_end in elements:
        while run < run_begin:
            body.close_before_run(run)
            body.text(texts[run], block)
            run, block = next(runs_to_come)
        body.close_before_element(index)
        if index in formulas:
            body.formula(formulas[index])
        elif name:
            pairs = page.attributes[index]
            if name == "img":
                pairs = _with_source(page, index, pairs)
            elif name == "pre":
                pairs = _with_language(page, index, pairs)
            body.element(name, pairs, end, run_end)
    return "".join(body.written)


def _names(page: Page, elements: NDArray[np.intp], parts: Parts) -> list[str]:
    """Name to write for each element; "" for one whose contents stand without it."""
    names = [OUTPUT_NAME[tag] for tag in page.tag[elements].tolist()]
    dissolved = layout(page)[elements] if (page.tag == TAG_ID["table"]).any() else np.zeros(len(elements), bool)
    for place in np.flatnonzero(dissolved).tolist():
        names[place] = "div"
    return names if parts.links else ["" if name == "a" else name for name in names]


def _with_source(page: Page, index: int, pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Give a picture its source from where a script, a ``picture`` or a ``noscript`` beside it would have it from."""
    pairs = with_lazy_source(pairs)
    found = dict(pairs)
    if not is_placeholder(found.get("src", "")):
        return pairs
    element = page.elements[index]
    picture, after = next(element.iterancestors("picture"), None), element.getnext()
    sources: list[str] = []
    if picture is not None:
        for offered in picture.iter("source"):
            sources += [offered.get("srcset", ""), offered.get("data-srcset", "")]
    if after is not None and after.tag == "noscript":
        twin = next(after.iter("img"), None)
        if twin is not None and not is_placeholder(twin.get("src", "")):
            sources.append(twin.get("src", ""))
    source = next(filter(None, map(largest_source, sources)), "")
    return [*((name, value) for name, value in pairs if name != "src"), ("src", source)] if source else pairs


def _with_language(page: Page, index: int, pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    language = language_of(page, index)
    if not language:
        return pairs
    classes = dict(pairs).get("class", "").split()
    names = " ".join([*(name for name in classes if not name.startswith("language-")), f"language-{language}"])
    return [*((name, value) for name, value in pairs if name != "class"), ("class", names)]


class _Body:
    """The markup written so far, and a stack of the elements that are open."""

    def __init__(self, base: str) -> None:
        self.written: list[str] = []
        self.open_elements: list[tuple[int, int, str, bool]] = []  # end in elements and in runs, closing tag, border
        self.block = 0  # of the text written last
        self.bordered = True  # whether the border of a block-level element has been written since
        self._base = base
        self._preformatted = 0  # open elements whose line ends are text

    def text(self, run: str, block: int) -> None:
        """Write a run; ``block`` is 0 for white space outside all blocks."""
        if block:
            if block != self.block and not self.bordered:  # what kept two blocks apart is not there any more
                self.written.append("\n" if self._preformatted else "<br>\n")
            self.block = block
            self.bordered = False
        self.written.append(escape(run, quote=False))

    def formula(self, tex: str) -> None:
        """Write a formula."""
        self.written.append(f'<span class="math">{escape(tex, quote=False)}</span>')

    def element(self, name: str, pairs: list[tuple[str, str]], end: int, run_end: int) -> None:
        """Open an element, or write it whole if it has no end tag."""
        border = name in BLOCK_LEVEL
        self.bordered |= border
        if name in VOID:
            self.written.append(f"<{name}{attributes(pairs, self._base)}>{self._line(border)}")
        elif len(self.open_elements) < MAX_NESTING:
            self._preformatted += name == "pre"
            self.written.append(f"<{name}{attributes(pairs, self._base)}>")
            self.open_elements.append((end, run_end, f"</{name}>", border))
        elif border:
            self.written.append("<br>\n")

    def close_before_element(self, index: int) -> None:
        """Close what does not hold the element."""
        while self.open_elements and self.open_elements[-1][0] <= index:
            self._close()

    def close_before_run(self, run: int) -> None:
        """Close what does not hold the run."""
        while self.open_elements and self.open_elements[-1][1] <= run:
            self._close()

    def _close(self) -> None:
        _, _, closing, border = self.open_elements.pop()
        self._preformatted -= closing == "</pre>"
        self.written.append(f"{closing}{self._line(border)}")
        self.bordered |= border

    def _line(self, border: bool) -> str:
        return "\n" if border and not self._preformatted else ""


def _block_numbers(page: Page, runs: NDArray[np.intp]) -> NDArray[np.intp]:
    """int[k], number of the text block that each of the k runs is in, from 1; 0 for none."""
    number = np.searchsorted(page.block_run_begin, runs, side="right")
    end = np.append(0, page.block_run_end)[number]
    return np.where(runs < end, number, 0)


def _wrappers(page: Page, remains: Remains) -> NDArray[np.bool_]:
    """bool[n], every nameless ``div`` of which nothing is left but one block-level element, a box in a box."""
    children = np.bincount(page.parent[remains.elements] + 1, minlength=page.n + 1)[1:]
    texts = np.bincount(page.run_node[remains.runs], minlength=page.n)
    wrapper: NDArray[np.bool_] = _DIVISIONS[page.tag] & (children == 1) & (texts == 0)
    only_child = remains.elements & wrapper[page.parent]
    wrapper[page.parent[only_child]] = _BORDERED[page.tag[only_child]]
    for index in np.flatnonzero(wrapper).tolist():
        wrapper[index] = not any(name in {"id", "lang", "dir"} for name, _ in page.attributes[index])
    return wrapper
