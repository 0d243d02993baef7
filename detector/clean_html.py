"""What remains of a page, written as an HTML document of its own."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

import numpy as np

from detector.sanitising import OUTPUT_NAME, VOID, attributes, safe_address
from detector.tags import BLOCK_LEVEL, TAG_ID, UNKNOWN

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from detector.page import Page
    from detector.stripping import Remains

MAX_NESTING: Final = 128
"""Levels of markup; what lies deeper is written without its markup, for readers that recurse over a tree."""

_DIVISIONS: Final = np.array([name == "div" for name in OUTPUT_NAME])
_BORDERED: Final = np.array([name in BLOCK_LEVEL and name not in VOID for name in OUTPUT_NAME])


def write_html(page: Page, remains: Remains) -> str:
    """Write the remains of a page as an HTML document.

    Only harmless markup is written (see :mod:`detector.sanitising`), comments are not. Addresses stay as they are; a
    ``base`` element says what they are relative to, where that is known. The page and its tree are not changed.

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
    """Write elements and runs in document order, with a stack of the elements that are open."""
    wrapper = _wrappers(page, remains)
    # A last row for the end of the page has the runs after the last element written.
    kept = np.flatnonzero(remains.elements & ~wrapper)
    rows = zip(
        [*kept.tolist(), page.n],
        [*page.tag[kept].tolist(), UNKNOWN],
        [*page.run_begin[kept].tolist(), len(page.runs)],
        [*page.end[kept].tolist(), page.n],
        [*page.run_end[kept].tolist(), len(page.runs)],
        strict=True,
    )
    runs = iter([*np.flatnonzero(remains.runs).tolist(), len(page.runs)])
    next_run = next(runs)

    written: list[str] = []
    open_elements: list[tuple[int, int, str]] = []  # end in elements, end in runs, what closes it
    for index, tag, run_begin, end, run_end in rows:
        while next_run < run_begin:
            while open_elements and open_elements[-1][1] <= next_run:
                written.append(open_elements.pop()[2])
            written.append(escape(page.runs[next_run], quote=False))
            next_run = next(runs)
        while open_elements and open_elements[-1][0] <= index:
            written.append(open_elements.pop()[2])
        name = OUTPUT_NAME[tag]
        if not name:
            continue
        line = "\n" if name in BLOCK_LEVEL else ""
        if name in VOID:
            written.append(f"<{name}{attributes(page.attributes[index])}>{line}")
        elif len(open_elements) < MAX_NESTING:
            written.append(f"<{name}{attributes(page.attributes[index])}>")
            open_elements.append((end, run_end, f"</{name}>{line}"))
        elif line:
            written.append("<br>\n")
    return "".join(written)


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
