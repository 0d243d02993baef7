"""What needs many pages of one host: counts of fingerprints, and labels made of them."""

from detector.site.counts import Counts, MemoryCounts, countable
from detector.site.site_level import site_level_templates, unique_units

__all__ = ["Counts", "MemoryCounts", "countable", "site_level_templates", "unique_units"]
