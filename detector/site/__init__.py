"""What needs many pages of one host: counts of fingerprints, and labels made of them."""

from detector.site.counts import Counts, MemoryCounts, countable
from detector.site.leaves import frequencies_from_leaves, leaves
from detector.site.lossy import LossyCounts, frequency_estimates
from detector.site.site_level import site_level_templates, unique_units

__all__ = [
    "Counts",
    "LossyCounts",
    "MemoryCounts",
    "countable",
    "frequencies_from_leaves",
    "frequency_estimates",
    "leaves",
    "site_level_templates",
    "unique_units",
]
