"""What a site's counts say of a block is learned from marks, which outlive a change of how blocks are cut."""

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks.accuracy.site_evidence import learn_evidence
from tamis_papers.marks import PageMarks, hash_block, read_marks


def test_marks_follow_the_text_of_blocks() -> None:
    texts = ["Home", "A story", "Home", "Its end"]
    marks = PageMarks("sites", "site", "page", None, "article", "tcmc", tuple(map(hash_block, texts)))
    assert marks.of_blocks(texts) == "tcmc"
    assert marks.of_blocks(["Home", "A story", "Its end", "new", "Home"]) == "tccmm"


def test_the_weights_tell_blocks_that_repeat_from_those_that_do_not() -> None:
    random = np.random.default_rng(0)
    own, share = random.normal(0, 2, 4_000), random.uniform(0, 1, 4_000)
    template = random.uniform(size=4_000) < 1 / (1 + np.exp(-(own + 3 * share - 1)))
    unknown = np.zeros(4_000)
    learned = learn_evidence(np.stack([own, share, *[unknown] * 3], axis=1), template, np.ones(4_000))
    assert learned.fraction == pytest.approx(3, abs=0.4)
    assert learned.constant == pytest.approx(-1, abs=0.2)


def test_marked_pages_may_have_any_line_ends_in_their_names(tmp_path: Path) -> None:
    row = {"set": "s", "site": "a", "page": "b\u2028c\x85d", "kind": "article", "marks": "c", "blocks": "00000000"}
    (tmp_path / "marks.jsonl").write_text(json.dumps(row, ensure_ascii=False) + "\n", "utf-8")
    assert [marks.page for marks in read_marks(tmp_path / "marks.jsonl")] == [row["page"]]


def test_a_line_that_is_no_marked_page_is_named(tmp_path: Path) -> None:
    file = tmp_path / "marks.jsonl"
    file.write_text('{"set": "s", "site": "a", "page": "b", "kind": "article", "marks": "ct", "blocks": "00000000"}\n')
    with pytest.raises(ValueError, match="line 1: 2 marks of 1 blocks"):
        read_marks(file)
