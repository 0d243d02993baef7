"""HTML to Markdown and back: how many examples of the CommonMark specification come back as the very same HTML.

    python -m benchmarks.output.markdown_round_trip

The examples are those without raw HTML, which the tests bring along; the renderer is markdown-it-py. White space around
blocks and line breaks does not count. Converters that are not installed are left out.
"""

from __future__ import annotations

import json
import re
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lxml import etree, html
from markdown_it import MarkdownIt

from tamis.output.markdown import to_markdown
from tamis_papers.experiments.harness import parser_of, table, write_json

if TYPE_CHECKING:
    from collections.abc import Callable

EXAMPLES: Final = Path(__file__).parents[2] / "tests" / "tamis" / "output" / "commonmark" / "examples.json"
_BLOCKS: Final = frozenset("div p ul ol li blockquote pre h1 h2 h3 h4 h5 h6 hr br".split())


def converters() -> dict[str, Callable[[str], str]]:
    """Converters by name."""
    found: dict[str, Callable[[str], str]] = {"Tamis": to_markdown}
    if find_spec("markdownify"):
        from markdownify import markdownify  # noqa: PLC0415

        options = {"heading_style": "ATX", "bullets": "-", "newline_style": "BACKSLASH"}
        found["markdownify"] = lambda page: markdownify(page, **options).strip()
        found["markdownify, everything escaped"] = lambda page: markdownify(page, **options, escape_misc=True).strip()
    if find_spec("html_to_markdown"):
        from html_to_markdown import ConversionOptions, convert  # noqa: PLC0415

        escaped = {"escape_asterisks": True, "escape_underscores": True, "escape_misc": True}
        found["html-to-markdown"] = lambda page: convert(page, ConversionOptions()).content
        found["html-to-markdown, everything escaped"] = lambda page: convert(page, ConversionOptions(**escaped)).content
    if find_spec("html2text"):
        from html2text import HTML2Text  # noqa: PLC0415

        found["html2text"] = lambda page: HTML2Text(bodywidth=0).handle(page)
    return found


def main() -> None:
    """Convert every example with every converter and print the table."""
    options = parser_of(__doc__).parse_args()
    examples = [example["html"] for example in json.loads(EXAMPLES.read_text(encoding="utf-8"))]
    render = MarkdownIt("commonmark").render
    same = {
        name: sum(_normal(str(render(convert(page)))) == _normal(page) for page in examples)
        for name, convert in converters().items()
    }
    rows = [[name, count, f"{count / len(examples):.3f}"] for name, count in same.items()]
    print(table(["converter", "the same", f"of {len(examples)}"], rows))
    write_json(options, same)


def _normal(page: str) -> list[Any]:
    root = html.fragment_fromstring(page, create_parent="div") if page.strip() else etree.Element("div")
    return _contents(root, pre=False)


def _contents(element: etree._Element, *, pre: bool) -> list[Any]:
    """Children of an element, as text or as name, attributes and contents, without white space at blocks' edges."""
    pre = pre or element.tag == "pre"
    found: list[Any] = [element.text or ""]
    for child in element:
        found.append((child.tag, sorted(child.attrib.items()), _contents(child, pre=pre)))
        found.append(child.tail or "")
    if pre:
        return [part for part in found if part]
    for place in range(0, len(found), 2):
        text = re.sub(r"\s+", " ", found[place])
        before = found[place - 1][0] if place else element.tag
        after = found[place + 1][0] if place + 1 < len(found) else element.tag
        text = text.lstrip() if before in _BLOCKS else text
        found[place] = text.rstrip() if after in _BLOCKS else text
    return [part for part in found if part]


if __name__ == "__main__":
    main()
