"""Clustering of pages by the template that they were made from: DOM paths, MDL cost, exact and by MinHash."""

from winnow.site.methods.clustering.clusters import Clustering, cluster
from winnow.site.methods.clustering.paths import path_hashes

__all__ = ["Clustering", "cluster", "path_hashes"]
