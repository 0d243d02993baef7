"""Features of text blocks: one row of numbers per block, describing the block and its neighbours."""

from winnow.features.blocks import FEATURE_NAMES, STATIC_NAMES, BlockFeatures, features_of

__all__ = ["FEATURE_NAMES", "STATIC_NAMES", "BlockFeatures", "features_of"]
