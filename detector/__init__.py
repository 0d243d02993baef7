"""Separates the content of web pages from their template; works on HTML and lxml trees, without a crawler."""

from detector.cleaning import Cleaned, clean
from detector.models import load_model
from detector.page import DEFAULT_LIMITS, Limits, Page, PageTooLarge
from detector.segments import Segment

__all__ = ["DEFAULT_LIMITS", "Cleaned", "Limits", "Page", "PageTooLarge", "Segment", "clean", "load_model"]
