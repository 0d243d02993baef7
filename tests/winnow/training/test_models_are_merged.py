"""Models of the same pages become one that averages their networks."""

import numpy as np
import pytest

from winnow.models.blocks.block_features import FEATURE_NAMES
from winnow.models.blocks.features.tokens import TABLE_SIZE, TokenTables
from winnow.models.blocks.network import Network
from winnow.models.blocks.perceptron import BlockPerceptron
from winnow.page.page import Page
from winnow.training.blocks.merging import merged

K = len(FEATURE_NAMES)
PAGE = Page.parse("<main><p>one two three</p><p>four</p></main>")


def model(seed: int, tables: int = 0) -> BlockPerceptron:
    random = np.random.default_rng(seed)
    networks = [
        Network(*(random.normal(size=shape).astype(np.float32) / 9 for shape in Network.shapes(K, 4, 3)))
        for _ in range(3)
    ]
    odds = np.random.default_rng(tables).normal(size=(2, TABLE_SIZE)).astype(np.float32)
    scale = np.ones(K, np.float32)
    return BlockPerceptron.of(TokenTables(*odds), np.full(K, seed, np.float32), scale, networks)


def logits(of: BlockPerceptron) -> np.ndarray:
    content = 1 - of.score(PAGE).templateness[PAGE.n :]
    return np.log(content / (1 - content))


def test_the_first_networks_of_every_model_are_averaged():
    first, last = model(0), model(1)
    both = merged([first, last], 2)
    assert both.networks == (*first.networks[:2], *last.networks[:2])
    assert np.array_equal(both.mean, last.mean)
    alone = [
        logits(BlockPerceptron.of(last.tables, last.mean, last.scale, each.networks[:2])) for each in (first, last)
    ]
    assert logits(both) == pytest.approx(np.mean(alone, axis=0), abs=1e-4)


def test_models_of_other_pages_are_refused():
    with pytest.raises(ValueError, match="token tables differ"):
        merged([model(0, tables=1), model(1)], 2)
    with pytest.raises(ValueError, match="no model"):
        merged([], 2)
