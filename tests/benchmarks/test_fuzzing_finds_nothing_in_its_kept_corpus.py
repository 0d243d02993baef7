"""The inputs that fuzzing has kept are taken, or refused as what they are, and nothing that is written of them runs."""

import json
from dataclasses import fields

import pytest

from benchmarks.faults.fuzz_targets import TARGETS, look_for_harm
from benchmarks.faults.fuzzing import kept
from scrapy_winnow.learning.cards import Card


@pytest.mark.parametrize("target", TARGETS)
def test_no_kept_input_fails(target):
    inputs = kept(target)
    assert inputs
    for data in inputs:
        TARGETS[target](data)


@pytest.mark.parametrize(
    "html",
    [
        "<p>a<script>b</script>",
        "<p onclick=x>a",
        "<a href=' java\tscript:x'>a</a>",
        "<img src=data:text/html,x>",
        "<p style=x>a",
    ],
)
def test_harm_would_be_seen(html):
    with pytest.raises(AssertionError):
        look_for_harm(html)


@pytest.mark.parametrize("wrong", [{"auc": "much"}, {"hosts": 1.5}, {"version": None}, {"gain": True}])
def test_a_card_with_values_of_other_types_is_none_of_ours(wrong):
    numbers = [field.name for field in fields(Card) if field.type != "str"]
    card = {"version": "a", "parent": "b", "made": "c", **dict.fromkeys(numbers, 1)}
    assert Card.from_json(json.dumps(card)) is not None
    assert Card.from_json(json.dumps(card | wrong)) is None
    assert Card.from_json("[" * 100_000) is None
