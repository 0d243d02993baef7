"""What a text block is like: one row of numbers a block, and the blocks around it."""

from winnow.features.blocks import FEATURE_NAMES, STATIC_NAMES, BlockFeatures, features_of

__all__ = ["FEATURE_NAMES", "STATIC_NAMES", "BlockFeatures", "features_of"]
