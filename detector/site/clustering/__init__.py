"""Clustering of pages by the template that they were made from: DOM paths, MDL cost, exact and by MinHash."""

from detector.site.clustering.clusters import Clustering, cluster
from detector.site.clustering.paths import path_hashes

__all__ = ["Clustering", "cluster", "path_hashes"]
