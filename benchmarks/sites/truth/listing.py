"""A page as a reader marks it: its sections, numbered and short, without a word of what any method says of them.

    python -m benchmarks.sites.truth.listing PAGE.html
    python -m benchmarks.sites.truth.listing PAGE.html --open 35,102

A line is an element: its number and that of the last one below it, name, characters, links, begin and end of its text.
What is plainly one thing is one line: an element with little text, a paragraph, list, form or table, a long stretch
with few links. ``--open`` lists what is in an element all the same. Only children of a single parent are told by it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from benchmarks.shared.common import parser_of
from winnow.page.page import Page
from winnow.page.tags import UNSEEN_TEXT
from winnow.page.tree import prefix_sums

if TYPE_CHECKING:
    from collections.abc import Collection

_ONE: Final = frozenset(
    {"p", "ul", "ol", "dl", "pre", "h1", "h2", "h3", "h4", "h5", "h6", "form", "select", "blockquote", "figure", "a"}
    | {"button", "label", "address", "nav", "footer", "table"}
)
_PARTS: Final = frozenset({"form", "nav", "footer", "aside", "header", "label", "input", "button"})
_LITTLE: Final = 70  # characters of an element that is not looked into
_MUCH: Final = 500  # characters of a stretch of prose
_PER_LINK: Final = 180  # and how many there are to a link
_SHOWN: Final = 84  # characters of a line's text


def listing(page: Page, opened: Collection[int] = ()) -> list[str]:
    """List the sections of a page.

    Args:
        page: the page.
        opened: elements that are not to be one line.
    """
    texts = page.block_texts()
    letters = np.fromiter(map(len, texts), np.int64, page.m)
    before = prefix_sums(letters)
    characters = before[page.block_end] - before[page.block_begin]
    direct = np.bincount(page.block_node, letters, minlength=page.n)
    tags = [str(element.tag) for element in page.elements]
    links, parts = (prefix_sums(np.array([tag in kind for tag in tags])) for kind in ({"a"}, _PARTS))
    children: list[list[int]] = [[] for _ in tags]
    for index in range(1, page.n):
        if tags[index] not in UNSEEN_TEXT and characters[index]:
            children[page.parent[index]].append(index)

    def is_one(index: int) -> bool:
        size, end = int(characters[index]), page.end[index]
        prose = size >= _MUCH and parts[end] == parts[index] and size >= _PER_LINK * (links[end] - links[index])
        return tags[index] in _ONE or size <= _LITTLE or (prose and tags[index] != "body")

    lines: list[str] = []
    stack = [(0, 0)]
    while stack:
        index, depth = stack.pop()
        inside = children[index]
        if len(inside) == 1 and not direct[index] and index not in opened:
            stack.append((inside[0], depth))  # what only wraps one thing is left out
            continue
        line = f"{' ' * depth}{index}-{page.end[index] - 1} {_name(page, index)} {characters[index]}c"
        line += f" {links[page.end[index]] - links[index]}a"
        if not inside or (is_one(index) and index not in opened):
            text = " | ".join(filter(None, texts[page.block_begin[index] : page.block_end[index]]))
            line += ": " + (text if len(text) <= _SHOWN else f"{text[: _SHOWN - 25]} … {text[-22:]}")
        else:
            stack.extend((child, depth + 1) for child in reversed(inside))
        lines.append(line)
    return lines


def _name(page: Page, index: int) -> str:
    attributes = dict(page.attributes[index])
    tag = str(page.elements[index].tag)
    if attributes.get("id"):
        return f"{tag}#{attributes['id'][:20]}"
    return ".".join([tag, *attributes.get("class", "").split()[:2]])


def main() -> None:
    """Print the listing of a page."""
    parser = parser_of(__doc__ or "")
    parser.add_argument("page", type=Path, metavar="PAGE.html")
    parser.add_argument("--open", default="", metavar="NUMBERS", help="elements to look into, with commas between them")
    options = parser.parse_args()
    page = Page.parse(options.page.read_bytes())
    print("\n".join(listing(page, {int(number) for number in options.open.split(",") if number})))


if __name__ == "__main__":
    main()
