"""Separates the content of web pages from their template; works on HTML and lxml trees, without a crawler."""

from winnow.cleaning import Cleaned, clean
from winnow.models.registry import load_model
from winnow.output.segments import Segment
from winnow.page.page import DEFAULT_LIMITS, Limits, Page, PageTooLarge

__all__ = ["DEFAULT_LIMITS", "Cleaned", "Limits", "Page", "PageTooLarge", "Segment", "clean", "load_model"]
