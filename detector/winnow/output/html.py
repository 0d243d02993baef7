"""What remains of a page, written as an HTML document of its own."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.output.sanitising import OUTPUT_NAME, VOID, attributes, safe_address, with_lazy_source
from winnow.page.tags import BLOCK_LEVEL, TAG_ID, UNKNOWN

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.output.stripping import Remains
    from winnow.page.page import Page

MAX_NESTING: Final = 128
"""Levels of markup; what lies deeper is written without its markup, for readers that recurse over a tree."""

_DIVISIONS: Final = np.array([name == "div" for name in OUTPUT_NAME])
_BORDERED: Final = np.array([name in BLOCK_LEVEL and name not in VOID for name in OUTPUT_NAME])


def write_html(page: Page, remains: Remains) -> str:
    """Write the remains of a page as an HTML document.

    Only harmless markup is written (see :mod:`winnow.output.sanitising`), comments are not. Addresses stay as they are;
    a ``base`` element says what they are relative to, where that is known. The page and its tree are not changed.

    Args:
        page: the page.
        remains: the elements and runs that stay.
    """
    return f"<!DOCTYPE html>\n{_opening(page)}\n<body>\n{_body(page, remains)}</body>\n</html>\n"


def document(title: str, paragraphs: list[str]) -> str:
    """Write a title and paragraphs of text as an HTML document."""
    body = "".join(f"<p>{escape(paragraph, quote=False)}</p>\n" for paragraph in paragraphs)
    return f"<!DOCTYPE html>\n<html>\n{_head(title)}\n<body>\n{body}</body>\n</html>\n"


def _head(title: str, base: str = "") -> str:
    named = f"<title>{escape(title, quote=False)}</title>" if title else ""
    based = f'<base href="{escape(base)}">' if base else ""
    return f'<head><meta charset="utf-8">{named}{based}</head>'


def _opening(page: Page) -> str:
    """Everything before the body: the language, title and base address of the page."""
    language = dict(page.attributes[0]).get("lang", "") if page.n else ""
    base = page.url or ""
    for index in np.flatnonzero(page.tag == TAG_ID["base"])[:1].tolist():
        base = dict(page.attributes[index]).get("href", base)
    start = f'<html lang="{escape(language)}">' if language else "<html>"
    return f"{start}\n{_head(page.title, base if safe_address(base) else '')}"


def _body(page: Page, remains: Remains) -> str:
    """Write elements and runs in document order."""
    kept = np.flatnonzero(remains.elements & ~_wrappers(page, remains))
    runs = np.flatnonzero(remains.runs)
    # A last element and a last run stand for the end of the page.
    elements = zip(
        [*kept.tolist(), page.n],
        [*page.tag[kept].tolist(), UNKNOWN],
        [*page.run_begin[kept].tolist(), len(page.runs)],
        [*page.end[kept].tolist(), page.n],
        [*page.run_end[kept].tolist(), len(page.runs)],
        strict=True,
    )
    runs_to_come = zip([*runs.tolist(), len(page.runs)], [*_block_numbers(page, runs).tolist(), 0], strict=True)
    run, block = next(runs_to_come)
    body = _Body()
    for index, tag, run_begin, end, run_end in elements:
        while run < run_begin:
            body.close_before_run(run)
            body.text(page.runs[run], block)
            run, block = next(runs_to_come)
        body.close_before_element(index)
        if name := OUTPUT_NAME[tag]:
            body.element(name, page.attributes[index], end, run_end)
    return "".join(body.written)


class _Body:
    """The markup written so far, and a stack of the elements that are open."""

    def __init__(self) -> None:
        self.written: list[str] = []
        self.open_elements: list[tuple[int, int, str, bool]] = []  # end in elements and in runs, closing tag, border
        self.block = 0  # of the text written last
        self.bordered = True  # whether the border of a block-level element has been written since

    def text(self, run: str, block: int) -> None:
        """Write a run; ``block`` is 0 for white space outside all blocks."""
        if block:
            if block != self.block and not self.bordered:
                self.written.append("<br>\n")  # what kept two blocks apart is not there any more
            self.block = block
            self.bordered = False
        self.written.append(escape(run, quote=False))

    def element(self, name: str, pairs: list[tuple[str, str]], end: int, run_end: int) -> None:
        """Open an element, or write it whole if it has no end tag."""
        border = name in BLOCK_LEVEL
        self.bordered |= border
        if name == "img":
            pairs = with_lazy_source(pairs)
        if name in VOID:
            self.written.append(f"<{name}{attributes(pairs)}>{_line(border)}")
        elif len(self.open_elements) < MAX_NESTING:
            self.written.append(f"<{name}{attributes(pairs)}>")
            self.open_elements.append((end, run_end, f"</{name}>{_line(border)}", border))
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
        self.written.append(closing)
        self.bordered |= border


def _line(border: bool) -> str:
    return "\n" if border else ""


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
        wrapper[index] = not any(name == "id" for name, _ in page.attributes[index])
    return wrapper
