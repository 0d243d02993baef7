"""Features of text blocks in their context, and the perceptron that scores them: the default page-level model."""

from winnow.models.blocks.perceptron import BlockPerceptron

__all__ = ["BlockPerceptron"]
