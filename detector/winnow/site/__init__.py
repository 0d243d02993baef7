"""What needs many pages of one host: counts of fingerprints, and labels made of them."""

from winnow.site.counting.counts import Counts, MemoryCounts, countable
from winnow.site.counting.leaves import frequencies_from_leaves, leaves
from winnow.site.counting.lossy import LossyCounts, frequency_estimates
from winnow.site.counting.site_level import site_level_templates, unique_units

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
