"""Near-duplicates: clean text in, its shingles and the earlier document that it repeats out."""

from winnow.duplicates.shingles import resemblance, shingles

__all__ = ["resemblance", "shingles"]
