"""A refit learns from further sites what their pages repeat, and keeps what the model knew."""

from dataclasses import replace

import numpy as np
import pytest

from winnow.models import load_model
from winnow.models.networks import BlockPerceptron
from winnow.page.page import Page
from winnow.training.examples import BlockPage, block_page
from winnow.training.refitting import STEPS, Moving, compared, refit

STORY = "The otter of the mill pond number {} was seen again in the morning by people who went there. " * 5


def html(number: int) -> str:
    notice = "".join(
        f"<div class=tidbit><p>Remember tidbit {place}, wherever you read it.</p></div>" for place in "abc"
    )
    return f"<body><div class=story><h1>Otters {number}</h1><p>{STORY.format(*[number] * 5)}</p></div>{notice}</body>"


@pytest.fixture(scope="module")
def parent() -> BlockPerceptron:
    model = load_model()
    assert isinstance(model, BlockPerceptron)
    return model


@pytest.fixture(scope="module")
def pages() -> list[BlockPage]:
    """Pages of four sites on which each has its story alone, and notices that all have."""
    content = np.array([np.nan, 1, 0, 0, 0], np.float32)
    return [
        block_page(Page.parse(html(number)), content, f"site{site}") for site in range(4) for number in range(site, 5)
    ]


def notices(model: BlockPerceptron) -> float:
    page = Page.parse(html(9))
    return float(model.score(page).templateness[page.n + 2 :].mean())


def test_what_sites_repeat_is_learned_and_everything_else_stays(parent: BlockPerceptron, pages: list[BlockPage]):
    steps: list[str] = []
    before = parent.version, [array.copy() for array in parent.networks[0].arrays]
    model = refit(parent, pages, moving=Moving(steps=15), begins=steps.append)
    assert all(np.array_equal(*both) for both in zip(before[1], parent.networks[0].arrays, strict=True))
    assert steps == list(STEPS)
    assert notices(model) > notices(parent)
    assert model.decision is parent.decision
    assert model.tables is parent.tables
    for new, old in zip(model.networks, parent.networks, strict=True):
        for now, was in zip(new.arrays, old.arrays, strict=True):
            assert 0 < np.abs(now - was).max() < 0.02
    assert model.version != parent.version == before[0]
    again = refit(parent, pages, moving=Moving(steps=15))
    assert again.version == model.version


def test_what_an_author_marks_is_content_for_certain(parent: BlockPerceptron, pages: list[BlockPage]):
    content = np.array([0, np.nan, 1, 1, 1], np.float32)  # of the notices, which the model takes for template
    by_site, by_mark = (
        refit(parent, [replace(page, content=content, marked=marked) for page in pages], moving=Moving(steps=15))
        for marked in (False, True)
    )
    assert notices(by_mark) < notices(by_site)


def test_it_is_measured_by_the_mean_gain_on_hosts_that_did_not_teach(parent: BlockPerceptron, pages: list[BlockPage]):
    wrong = [replace(page, content=1 - page.content) for page in pages]
    worse = refit(parent, wrong, moving=Moving(rate=0.02, steps=12))
    comparison = compared(worse, parent, pages)
    assert comparison is not None
    assert comparison.gain < 0
    assert not comparison.is_better(0.0)


def test_labels_of_one_kind_teach_nothing(parent: BlockPerceptron, pages: list[BlockPage]):
    with pytest.raises(ValueError, match="both kinds"):
        refit(parent, [replace(page, content=np.zeros_like(page.content)) for page in pages])
