"""Headings, lists, links, code, tables and pictures of the content that Markdown keeps, next to other extractors.

    python -m benchmarks.output.markup_kept GOLD PAGES_DIR --per-kind 30 --model folds/without-{fold}.npz

Counted are the elements of a page's HTML whose own text lies in its gold text, word for word. Kept is one whose text
stands in the same kind of element when the Markdown is rendered again: headings at any level, items of lists, links
with a target, code in blocks, cells of tables. A picture counts by the end of its address, where the nearest text
around it is gold. markdownify, which takes no template out, converts the whole page.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from markdown_it import MarkdownIt

from benchmarks.shared.common import (
    Models,
    add_gold_arguments,
    add_model_argument,
    gold_pages,
    parser_of,
    shown,
    spread,
    table,
    write_json,
)
from winnow import clean
from winnow.page.parsing import decode, parse_html

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lxml import etree

    from winnow.models.scores import Model
    from winnow.training.evaluation import GoldPage

KINDS: Final = {
    "headings": ("h1", "h2", "h3", "h4", "h5", "h6"),
    "items": ("li",),
    "links": ("a",),
    "code blocks": ("pre",),
    "cells": ("td", "th"),
    "images": ("img",),
}
_LEAST: Final = 3  # characters of an element's text
_LEVELS_AROUND: Final = 3
_LEAST_AROUND: Final = 20


def _extractors() -> dict[str, Callable[[str, str | None], str]]:
    found: dict[str, Callable[[str, str | None], str]] = {"Winnow": _by_winnow}
    if find_spec("trafilatura"):
        from trafilatura import extract  # noqa: PLC0415

        options = {
            "output_format": "markdown",
            "include_links": True,
            "include_images": True,
            "include_formatting": True,
        }
        found["trafilatura"] = lambda html, url: extract(html, url=url, **options) or ""
    if find_spec("markdownify"):
        from markdownify import markdownify  # noqa: PLC0415

        found["markdownify (whole page)"] = lambda html, _url: str(markdownify(html, heading_style="ATX"))
    return found


def main() -> None:
    """Convert every page with every extractor and print the table."""
    parser = parser_of(__doc__)
    add_gold_arguments(parser)
    add_model_argument(parser)
    parser.add_argument("--per-kind", type=int, metavar="N", help="so many pages of each page type, evenly spread")
    options = parser.parse_args()
    models = Models(options.model)
    extractors = _extractors()
    render = MarkdownIt("commonmark").enable(["table", "strikethrough"]).render
    kept = {name: Counter[str]() for name in extractors}
    there = Counter[str]()
    pages = gold_pages(options)
    for gold, body in shown(_of_each_kind(pages, options.per_kind) if options.per_kind else pages, "pages"):
        html = decode(body)
        wanted = _elements(parse_html(html), " ".join(gold.text.split()))
        there.update({kind: count.total() for kind, count in wanted.items()})
        extractors["Winnow"] = partial(_by_winnow, model=models.of(gold))
        for name, extract in extractors.items():
            found = _elements(parse_html(str(render(extract(html, gold.url)))), None)
            kept[name].update({kind: (wanted[kind] & found[kind]).total() for kind in KINDS})
    rows = [[name, *(f"{counts[kind] / max(there[kind], 1):.3f}" for kind in KINDS)] for name, counts in kept.items()]
    rows.append(["(on the pages)", *(f"{there[kind]:,}" for kind in KINDS)])
    print(table(["", *KINDS], rows))
    write_json(options, {name: dict(counts) for name, counts in kept.items()} | {"there": dict(there)})


def _by_winnow(html: str, url: str | None, model: Model | None = None) -> str:
    return clean(html, url, model=model).markdown


def _of_each_kind(pages: Sequence[tuple[GoldPage, bytes]], number: int) -> list[tuple[GoldPage, bytes]]:
    kinds = sorted({page.page_type for page, _ in pages})
    return [page for kind in kinds for page in spread([each for each in pages if each[0].page_type == kind], number)]


def _elements(root: etree._Element, gold: str | None) -> dict[str, Counter[str]]:
    """Texts of the elements of each kind, those in the gold text only where there is one."""
    found: dict[str, Counter[str]] = {}
    for kind, tags in KINDS.items():
        named = ((_name(element), element) for tag in tags for element in root.iter(tag))
        found[kind] = Counter(name for name, element in named if name and (gold is None or _is_gold(element, gold)))
    return found


def _is_gold(element: etree._Element, gold: str) -> bool:
    """Whether an element's text, or the nearest text around a picture, is in the gold text."""
    if element.tag == "img":
        around = list(element.iterancestors())[:_LEVELS_AROUND]
        text = next(filter(None, map(_text, around)), "")
        return len(text) >= _LEAST_AROUND and text in gold
    text = _text(element)
    return len(text) >= _LEAST and text in gold


def _name(element: etree._Element) -> str:
    return (element.get("src") or "").rpartition("/")[2] if element.tag == "img" else _text(element)


def _text(element: etree._Element) -> str:
    return " ".join("".join(map(str, element.itertext())).split())


if __name__ == "__main__":
    main()
