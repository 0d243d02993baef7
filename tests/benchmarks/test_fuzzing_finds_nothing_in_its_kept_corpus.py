"""The inputs that fuzzing has kept are taken, or refused as what they are, and nothing that is written of them runs."""

import pytest

from benchmarks.faults.fuzz_targets import TARGETS, look_for_harm
from benchmarks.faults.fuzzing import kept


@pytest.mark.parametrize("target", TARGETS)
def test_no_kept_input_fails(target):
    inputs = kept(target)
    assert inputs
    for data in inputs:
        TARGETS[target](data)


@pytest.mark.parametrize(
    "html",
    [
        *("<p>a<script>b</script>", "<p onclick=x>a", "<a href=' java\tscript:x'>a</a>"),
        *("<img src=data:text/html,x>", "<p style=x>a"),
    ],
)
def test_harm_would_be_seen(html):
    with pytest.raises(AssertionError):
        look_for_harm(html)
