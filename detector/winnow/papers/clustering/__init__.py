"""Clustering of pages by the template that they were made from: DOM paths, MDL cost, exact and by MinHash."""

from winnow.papers.clustering.clusters import Clustering, cluster
from winnow.papers.clustering.paths import path_hashes

__all__ = ["Clustering", "cluster", "path_hashes"]
