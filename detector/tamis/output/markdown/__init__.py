"""Markdown from clean HTML: CommonMark with GitHub's tables and strikethrough, which renders to the same page again."""

from tamis.output.markdown.writer import to_markdown

__all__ = ["to_markdown"]
