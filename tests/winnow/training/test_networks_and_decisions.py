"""Networks learn from the other blocks of a page and their order; page decisions are learned from pages not seen."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.winnow.test_models import read_in_order
from tests.winnow.training.conftest import small_network
from winnow.models.decision import CONFIDENCE_INPUTS, KIND_INPUTS, KINDS, KindInputs
from winnow.training import sequences
from winnow.training.blocks import KindExample, learn_confidence, learn_kinds
from winnow.training.sequences import SequencePage, fit_sequence

K = 5


def rest_of_page(random, number):
    """The fourth of 24 blocks says what all of them are."""
    is_content = number % 2
    return (4 if is_content else -4) * (np.arange(24) == 3), np.full(24, is_content)


def after_a_beginning(random, number):
    """Content is what stands behind the block that begins it."""
    begins = random.integers(1, 11)
    return 4 * (np.arange(12) == begins), np.arange(12) > begins


def before_an_end(random, number):
    ends = random.integers(1, 11)
    return 4 * (np.arange(12) == ends), np.arange(12) < ends


@pytest.mark.parametrize("make", [rest_of_page, after_a_beginning, before_an_end])
def test_what_other_blocks_and_their_order_tell_is_learned(make, monkeypatch):
    monkeypatch.setattr(sequences, "MIN_STEPS", 60)
    random, pages = np.random.default_rng(6), []
    for number in range(160):
        sign, target = make(random, number)
        inputs = random.normal(size=(len(sign), K)).astype(np.float32)
        inputs[:, 0] = sign
        pages.append(SequencePage(inputs, target.astype(np.float32), np.ones(len(sign), np.float32), copy=False))
    network = fit_sequence(pages, 0.0, seed=1)
    right = [(read_in_order(network, page.inputs) > 0) == (page.target > 0.5) for page in pages]
    assert np.mean(right) > 0.95


@pytest.mark.parametrize("kinds", [("article", "forum"), ("article", "product", "service")])
def test_kinds_are_told_by_words_that_enough_pages_have_and_by_numbers_without_them(kinds):
    random, examples = np.random.default_rng(4), []
    for number in range(120):
        kind = number % len(kinds)
        numbers = random.normal(size=len(KIND_INPUTS))
        numbers[kind], numbers[-1] = 9.0, np.nan if number % 2 else numbers[-1]
        words = np.array([40 + kind, 50, 1_000 + number]) if number % 4 < 2 else np.array([50])
        examples.append(KindExample("one", KINDS.index(kinds[kind]), KindInputs(numbers, words)))
    head = learn_kinds(examples)
    for kind, name in enumerate(kinds):
        unknown = np.full(len(KIND_INPUTS), np.nan)
        by_word = head.probabilities(KindInputs(unknown, np.array([40 + kind])))
        unknown[kind] = 9.0
        by_number = head.probabilities(KindInputs(unknown, np.array([], int)))
        assert KINDS[by_word.argmax()] == KINDS[by_number.argmax()] == name
    assert not head.tokens[1_000:1_120].any()


def test_confidence_is_the_f1_that_such_texts_have_had():
    random = np.random.default_rng(5)
    inputs = [np.append(1.0, random.random(len(CONFIDENCE_INPUTS) - 1)) for _ in range(300)]
    f1 = [0.4 + 0.5 * row[1] + random.normal() / 50 for row in inputs]
    weights = learn_confidence(["one"] * 200 + ["two"] * 100, f1, inputs)
    assert weights == pytest.approx([0.4, 0.5, 0, 0, 0, 0], abs=0.03)


def test_blocks_without_weight_teach_nothing_and_the_same_seed_gives_the_same_network():
    random = np.random.default_rng(2)
    inputs, target = random.normal(size=(40, 12, K)).astype(np.float32), random.random((40, 12)).astype(np.float32)
    weight = np.where(np.arange(12) < 6, 1, 0).astype(np.float32)
    fitted = []
    for other, seed in ((0.0, 1), (1.0, 1), (0.0, 2)):
        targets = np.where(weight > 0, target, np.float32(other))
        pages = [SequencePage(x, y, weight, copy=False) for x, y in zip(inputs, targets, strict=True)]
        fitted.append(fit_sequence(pages, 0.2, seed).arrays())
    assert all(np.array_equal(fitted[0][name], fitted[1][name]) for name in fitted[0])
    assert not np.array_equal(fitted[0]["network dense_weight"], fitted[2]["network dense_weight"])


def test_a_machine_with_one_core_gives_the_same_network_as_one_with_more():
    program = """import os, sys
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
from tests.winnow.training.conftest import FEW, sequences, small_network
vars(sequences).update(FEW)
sys.stdout.buffer.write(small_network())"""
    folder = Path(__file__).parents[3]
    assert subprocess.run([sys.executable, "-c", program], cwd=folder, stdout=-1, check=True).stdout == small_network()
