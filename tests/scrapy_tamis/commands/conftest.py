"""Small models in files, for the tests of the command line."""

import numpy as np
import pytest

from tamis_papers.element_features import NODE_FEATURES
from tamis_papers.page_level import BUCKETS, LogisticModel


def _save(path, weights, intercept):
    features = len(NODE_FEATURES)
    weight = np.zeros((BUCKETS, features))
    for number, feature in enumerate(NODE_FEATURES):
        weight[:, number] = weights.get(feature, 0.0)
    bounds = np.full((BUCKETS, features), 100.0)
    LogisticModel(-bounds, bounds, weight, np.full(BUCKETS, intercept)).save(path)
    return str(path)


@pytest.fixture
def model(tmp_path):
    """A file with a logistic model that looks at the share of anchor text and nothing else."""
    return _save(tmp_path / "links.npz", {"anchor_text_share": 8.0}, -4.0)


@pytest.fixture
def everything_is_content(tmp_path):
    """A file with a logistic model that keeps all text."""
    return _save(tmp_path / "keep.npz", {}, -9.0)
