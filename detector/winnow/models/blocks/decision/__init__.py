"""The decision which blocks of a page are kept: cuts, of which learned trees judge the best."""

from winnow.models.blocks.decision.learned import LearnedDecision

__all__ = ["LearnedDecision"]
