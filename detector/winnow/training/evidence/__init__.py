"""Training of site evidence: how much it says of a block that other pages of its host repeat it."""

from winnow.training.evidence.fitting import Repetitions, learn_evidence, repetitions

__all__ = ["Repetitions", "learn_evidence", "repetitions"]
