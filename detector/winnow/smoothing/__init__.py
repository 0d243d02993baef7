"""The smoother: scores in, scores that agree with the tree of the page, and its sections, out."""

from winnow.smoothing.smooth import SmoothedScores, smooth_scores, unsmoothed

__all__ = ["SmoothedScores", "smooth_scores", "unsmoothed"]
