"""Markdown from clean HTML."""

from __future__ import annotations


def to_markdown(html: str) -> str:
    """Convert clean HTML to Markdown, with ``#`` headings, ``-`` bullets and fenced code.

    Args:
        html: a document of :func:`winnow.output.html.write_html`, whose nesting is bounded: the converter recurses.
    """
    from markdownify import markdownify  # noqa: PLC0415  (slow to import, and most callers never ask for Markdown)

    _, _, body = html.partition("<body>")
    return str(markdownify(body, heading_style="ATX", bullets="-", newline_style="BACKSLASH")).strip()
