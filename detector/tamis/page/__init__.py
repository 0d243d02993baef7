"""A page as flat arrays: HTML or an lxml tree in, a :class:`Page` out, and sums and look-ups over its tree."""

from tamis.page.page import DEFAULT_LIMITS, Limits, Page, PageTooLarge

__all__ = ["DEFAULT_LIMITS", "Limits", "Page", "PageTooLarge"]
