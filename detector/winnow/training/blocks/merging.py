"""Merges block models that were trained in different ways on the same pages: networks that differ err differently."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from winnow.models.blocks.perceptron import BlockPerceptron

if TYPE_CHECKING:
    from collections.abc import Sequence


def merged(models: Sequence[BlockPerceptron], networks: int) -> BlockPerceptron:
    """Average the first networks of each of several models.

    Args:
        models: trained on the same pages, so that their token tables are the same; features are standardised as in
            the last one.
        networks: how many networks of each are taken.

    Raises:
        ValueError: there is no model, or their token tables differ.
    """
    if not models:
        raise ValueError("there is no model to merge")
    last = models[-1]
    for model in models[:-1]:
        same = np.array_equal(model.tables.names, last.tables.names)
        if not same or not np.array_equal(model.tables.words, last.tables.words):
            raise ValueError("models of different pages cannot be merged: their token tables differ")
    chosen = [network for model in models for network in model.networks[:networks]]
    return BlockPerceptron.of(last.tables, last.mean, last.scale, chosen)
