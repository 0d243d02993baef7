"""Models are fitted to so little here that what makes that fast costs more than it gains."""

import os
from collections.abc import Iterator

import pytest

from winnow.training import sequences

os.environ["JAX_DISABLE_MOST_OPTIMIZATIONS"] = "1"


@pytest.fixture(autouse=True, scope="module")
def few_steps_of_one_length() -> Iterator[None]:
    """A step is compiled for each length that pages are filled up to; of longer ones a part is seen."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sequences, "EPOCHS", 1)
        patch.setattr(sequences, "MIN_STEPS", 8)
        patch.setattr(sequences, "_LENGTHS", (48,))
        yield
