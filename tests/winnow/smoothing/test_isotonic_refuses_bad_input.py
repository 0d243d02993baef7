from typing import Any

import numpy as np
import pytest

from winnow.smoothing.isotonic.regression import smooth

GOOD: dict[str, Any] = {"parent": [-1, 0, 0], "score": [0.1, 0.5, 0.9], "weight": [1, 1, 1], "penalty": [0.1, 0.1, 0.1]}


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("parent", [-1, 0], "parent: expected 3 integers"),
        ("parent", [[-1, 0, 0]], "parent: expected 3 integers"),
        ("parent", [-1.0, 0.0, 0.0], "parent: expected integers"),
        ("parent", [-1, 1, 0], "parent: every parent must come before"),
        ("parent", [-1, 2, 0], "parent: every parent must come before"),
        ("parent", [-2, 0, 0], "parent: every parent must come before"),
        ("parent", [0, 0, 0], "parent: every parent must come before"),
        ("parent", [-1, 0, 2**32], "parent: every parent must come before"),
        ("score", [0.1, 0.5, float("nan")], "score: expected numbers from 0 to 1"),
        ("score", [-0.1, 0.5, 0.9], "score: expected numbers from 0 to 1"),
        ("score", [0.1, 0.5, 1.1], "score: expected numbers from 0 to 1"),
        ("score", [0.1, 0.5, float("inf")], "score: expected numbers from 0 to 1"),
        ("score", [[0.1, 0.5, 0.9]], "score: expected one dimension"),
        ("score", 0.5, "score: expected one dimension"),
        ("weight", [1, 1], "weight: expected 3 integers"),
        ("weight", 1, "weight: expected 3 integers"),
        ("weight", [1, -1, 1], "weight: expected integers from 0 on"),
        ("weight", [1, 1.5, 1], "weight: expected integers"),
        ("weight", [True, False, True], "weight: expected integers"),
        ("weight", [1, 2**62, 2**62], "weight: expected integers from 0 on, with a sum"),
        ("weight", [1, 2**45, 1], "weight: a sum of 35184372088834 over 3 nodes is too large"),
        ("penalty", [0.1, 0.1], "penalty: expected one number or 3"),
        ("penalty", [[0.1, 0.1, 0.1]], "penalty: expected one number or 3"),
        ("penalty", [0.1, -0.1, 0.1], "penalty: expected numbers from 0 to infinity"),
        ("penalty", [0.1, float("nan"), 0.1], "penalty: expected numbers from 0 to infinity"),
        ("penalty", -1.0, "penalty: expected numbers from 0 to infinity"),
        ("penalty", float("nan"), "penalty: expected numbers from 0 to infinity"),
    ],
)
def test_bad_input_is_refused_by_name(name: str, value: Any, message: str) -> None:
    smooth(**GOOD)
    with pytest.raises(ValueError, match=message):
        smooth(**(GOOD | {name: value}))


def test_scores_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="could not convert"):
        smooth([-1], ["high"])


def test_no_nodes_give_no_sections() -> None:
    smoothed = smooth([], [], [], [])
    assert smoothed.value.shape == smoothed.section.shape == smoothed.starts_section.shape == (0,)
    assert (smoothed.value.dtype, smoothed.section.dtype, smoothed.starts_section.dtype) == (np.float64, np.int32, bool)
    assert smoothed.cost == 0
    assert smooth([], []).cost == 0


def test_a_single_node_pays_its_penalty() -> None:
    smoothed = smooth([-1], [0.7], penalty=0.25)
    assert (smoothed.value.tolist(), smoothed.section.tolist(), smoothed.cost) == ([0.7], [0], 0.25)


def test_an_infinite_penalty_of_a_root_counts_as_all_weights_plus_one() -> None:
    assert smooth([-1, 0], [0.5, 0.5], [2, 3], np.inf).cost == 6


@pytest.mark.parametrize("kind", ["int8", "int32", "int64", "uint8"])
def test_integers_of_any_width_are_taken(kind: str) -> None:
    weight = np.array([1, 2, 3], dtype=kind)
    parent = np.array([-1, 0, 0], dtype=kind if kind[0] == "i" else "int64")
    assert smooth(parent, [0.1, 0.5, 0.9], weight).value.tolist() == [0.1, 0.5, 0.9]
