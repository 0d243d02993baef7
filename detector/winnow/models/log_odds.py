"""Log-odds of probabilities, the scale on which evidence adds up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def log_odds(probabilities: NDArray[np.float64] | np.float64, least: float) -> NDArray[np.float64]:
    """float64[...], log-odds of float64[...] probabilities, all taken to be at least ``least`` away from 0 and 1."""
    bounded = np.minimum(np.maximum(probabilities, least), 1 - least)
    odds: NDArray[np.float64] = np.log(bounded / (1 - bounded))
    return odds
