"""What comes out of a page, as the right side of the inspector shows it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from winnow import Cleaned

_PROBE = 24  # characters


@dataclass(frozen=True, slots=True)
class Outputs:
    """The forms of the content.

    Attributes:
        html: clean HTML.
        markdown: Markdown.
        rendered: the Markdown, rendered by CommonMark's rules with tables; no HTML of its own comes alive.
        facts: what the page says of itself, as pairs of a name and a value.
        item: the fields that the pipeline writes.
    """

    html: str
    markdown: str
    rendered: str
    facts: list[tuple[str, str]]
    item: dict[str, Any]

    @classmethod
    def of(cls, cleaned: Cleaned, item: dict[str, Any]) -> Self:
        """Work the forms out."""
        from markdown_it import MarkdownIt  # noqa: PLC0415  (of the extra [inspect], and not needed to judge a page)

        markdown = cleaned.markdown
        renderer = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
        return cls(cleaned.html, markdown, renderer.render(markdown), facts(cleaned), item)


def facts(cleaned: Cleaned) -> list[tuple[str, str]]:
    """What the page says of itself, each fact with where it was found."""
    metadata = cleaned.metadata
    found = []
    for name, value in asdict(metadata).items():
        if value and name != "sources":
            written = ", ".join(value) if isinstance(value, list) else str(value)
            source = metadata.sources.get(name)
            found.append((name.replace("_", " "), f"{written}\n(from {source})" if source else written))
    return found


def located(text: str, blocks: Sequence[str], kept: NDArray[np.bool_]) -> tuple[list[list[int]], str]:
    """Find the blocks that are kept in the text that came out.

    Args:
        text: the text.
        blocks: text of each block of the page.
        kept: bool[m], the blocks that the text is made of.

    Returns:
        For each block that was found its number, where it begins and where it ends, in UTF-16 units as a browser
        counts; and the text.
    """
    spans: list[tuple[int, int, int]] = []
    at = 0
    for block in np.flatnonzero(kept).tolist():
        sought = blocks[block]
        found = text.find(sought, at)
        end = found + len(sought)
        if found < 0 or found - at > len(sought) + 4 * _PROBE:
            found = text.find(sought[:_PROBE].split("\n")[0], at)
            if found < 0 or found - at > len(sought) + 4 * _PROBE:
                continue
            end = min(found + len(sought), len(text))
        spans.append((block, found, end))
        at = end
    return _in_utf16(text, spans), text


def _in_utf16(text: str, spans: list[tuple[int, int, int]]) -> list[list[int]]:
    if text.isascii() or max(map(ord, text), default=0) < 0x10000:
        return [list(span) for span in spans]
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
    before = np.append(0, np.cumsum(1 + (points > 0xFFFF)))
    return [[block, int(before[begin]), int(before[end])] for block, begin, end in spans]
