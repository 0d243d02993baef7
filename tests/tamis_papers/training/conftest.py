"""Models are fitted to so little here that what makes that fast costs more than it gains."""

import os
from collections.abc import Iterator

import numpy as np
import pytest

from tamis.features import FEATURE_NAMES
from tamis_papers.training import sequences

os.environ["JAX_DISABLE_MOST_OPTIMIZATIONS"] = "1"
FEW = {"EPOCHS": 1, "MIN_STEPS": 8, "_LENGTHS": (24,)}


@pytest.fixture(autouse=True, scope="module")
def few_steps_of_one_length() -> Iterator[None]:
    """A step is compiled for each length that pages are filled up to; of longer ones a part is seen."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in FEW.items():
            patch.setattr(sequences, name, value)
        yield


def small_network() -> bytes:
    """Weights of a network that a few steps were taken with."""
    inputs, target = np.random.default_rng(0).normal(size=(24, len(FEATURE_NAMES))), np.linspace(0, 1, 24)
    pages = [sequences.SequencePage(inputs * number, target, np.ones(24), copy=False) for number in range(16)]
    return sequences.fit_sequence(pages, 0.2, 1).dense_weight.tobytes()
