"""What a model calls a probability is one on sites that it has not seen, once it has been calibrated there."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from demo.web import build_site
from winnow.models import load_model
from winnow.models.networks import BlockPerceptron
from winnow.page.page import Page
from winnow.training.blocks import Calibration
from winnow.training.examples import BlockPage, block_page

if TYPE_CHECKING:
    from numpy.typing import NDArray

TRUE = Calibration(scale=0.5, shift=1.0)


@pytest.fixture(scope="module")
def model() -> BlockPerceptron:
    loaded = load_model("blocks-self-taught")
    assert isinstance(loaded, BlockPerceptron)
    return loaded


@pytest.fixture(scope="module")
def pages() -> list[BlockPage]:
    """Pages of two sites, without labels."""
    found = []
    for name in ("news", "docs"):
        for resource in build_site(name, seed=3, pages=30).resources.values():
            if resource.status == 200 and resource.body.startswith(b"<!"):
                page = Page.parse(resource.body)
                found.append(block_page(page, np.full(page.m, np.nan, np.float32), name))
    return found


def content(model: BlockPerceptron, page: BlockPage) -> "NDArray[np.float64]":
    return model.content_probability(page.matrix(model.tables), page.windows)


def logits(model: BlockPerceptron, page: BlockPage) -> "NDArray[np.float64]":
    probability = content(model, page)
    return np.log(probability / (1 - probability))


@pytest.fixture(scope="module")
def labelled(model: BlockPerceptron, pages: list[BlockPage]) -> list[BlockPage]:
    """The pages with labels drawn as if the model were too certain, and too often of content."""
    random = np.random.default_rng(0)
    calibrated = TRUE.applied(model)
    return [
        replace(page, content=(random.random(len(page.words)) < content(calibrated, page)).astype(np.float32))
        for page in pages
    ]


def test_the_last_layer_takes_the_calibration(model: BlockPerceptron, pages: list[BlockPage]):
    expected = TRUE.scale * logits(model, pages[0]) - TRUE.shift
    np.testing.assert_allclose(logits(TRUE.applied(model), pages[0]), expected, atol=1e-3)


def test_what_is_too_certain_is_found(model: BlockPerceptron, labelled: list[BlockPage]):
    found = Calibration.of(model, labelled)
    assert found.scale == pytest.approx(TRUE.scale, abs=0.15)
    assert found.shift == pytest.approx(TRUE.shift, abs=0.4)


def test_a_calibrated_model_needs_no_more(model: BlockPerceptron, labelled: list[BlockPage]):
    again = Calibration.of(Calibration.of(model, labelled).applied(model), labelled)
    assert again.scale == pytest.approx(1, abs=0.01)
    assert again.shift == pytest.approx(0, abs=0.02)


def test_a_source_with_more_pages_says_no_more(model: BlockPerceptron, labelled: list[BlockPage]):
    news = [page for page in labelled if page.source == "news"]
    once, twice = Calibration.of(model, labelled), Calibration.of(model, labelled + news)
    assert twice.scale == pytest.approx(once.scale, abs=0.01)
    assert twice.shift == pytest.approx(once.shift, abs=0.02)


@pytest.mark.parametrize("label", [0, 1, np.nan])
def test_labels_of_one_kind_or_none_change_nothing(model: BlockPerceptron, pages: list[BlockPage], label: float):
    same = [replace(page, content=np.full(len(page.words), label, np.float32)) for page in pages[:2]]
    assert Calibration.of(model, same) == Calibration()
    assert Calibration.of(model, []) == Calibration()
