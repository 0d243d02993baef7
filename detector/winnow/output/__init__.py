"""What comes out: smoothed scores in; what is cut, the clean text, HTML, Markdown and the sections out."""

from winnow.output.html import write_html
from winnow.output.markdown import to_markdown
from winnow.output.segments import Segment, segments
from winnow.output.stripping import Remains, remains, template_units
from winnow.output.text import block_texts, join_blocks, visible_text

__all__ = [
    "Remains",
    "Segment",
    "block_texts",
    "join_blocks",
    "remains",
    "segments",
    "template_units",
    "to_markdown",
    "visible_text",
    "write_html",
]
