"""Kept for ``learning/``, and goes with it."""

from scrapy_winnow.storage.batches import Script

__all__ = ["Script"]
