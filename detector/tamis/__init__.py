"""Separates the content of web pages from their template; works on HTML and lxml trees, without a crawler."""

from tamis.cleaning import Cleaned, clean
from tamis.metadata import Metadata
from tamis.models import load_model
from tamis.output.chunks import Chunk
from tamis.page.page import DEFAULT_LIMITS, Limits, Page, PageTooLarge
from tamis.rules import Rules
from tamis.segments import Segment
from tamis.site import Site

__version__ = "0.3.0"

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
    "__version__",
    "clean",
    "load_model",
]
