"""Separates the content of web pages from their template; works on HTML and lxml trees, without a crawler."""

from winnow.cleaning import Cleaned, clean
from winnow.metadata import Metadata
from winnow.models import load_model
from winnow.output.chunks import Chunk
from winnow.page.page import DEFAULT_LIMITS, Limits, Page, PageTooLarge
from winnow.rules import Rules
from winnow.segments import Segment
from winnow.site import Site

__all__ = [
    "DEFAULT_LIMITS",
    "Chunk",
    "Cleaned",
    "Limits",
    "Metadata",
    "Page",
    "PageTooLarge",
    "Rules",
    "Segment",
    "Site",
    "clean",
    "load_model",
]
