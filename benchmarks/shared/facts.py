"""Pages with lines that must be in their text, such as the ingredients of a recipe: partial labels to learn from.

A folder of them has `pages.jsonl`, an object a page: `html_path`, `url`, `fold`, and the lines by field in `must` and
`exact`. Nothing says which other blocks are content.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import chain
from statistics import fmean
from typing import TYPE_CHECKING, Final

import numpy as np

from tamis.page.text import WORD
from tamis.training.evaluation import GoldPage
from tamis.training.gold import GoldExample, source_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

_MOST: Final = 0.9  # of the words of a line
_PRECISION: Final = 0.9
_MIN_WORDS: Final = 2  # of a block that is a part of a line: one word is said of many things


@dataclass(frozen=True, slots=True)
class FactExample(GoldExample):
    """A page with lines that must be in its text, in lower case and with single spaces between their words."""

    lines: tuple[str, ...]

    def content(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """float64[m], 1 for the blocks that a line consists of or stands in; NaN for all others."""
        words = [" ".join(WORD.findall(text.lower())) for text in texts]
        return np.array([1.0 if self._has(block) else np.nan for block in words])

    def f1(self, text: str) -> float:
        """Word F1 of a text by the fraction of lines it has, if it is as precise as texts are on the whole."""
        found = set(WORD.findall(text.lower()))
        words_of = [line.split() for line in self.lines]
        recall = fmean(sum(map(found.__contains__, words)) >= _MOST * len(words) for words in words_of)
        return 2 * _PRECISION * recall / (_PRECISION + recall)

    def _has(self, block: str) -> bool:
        is_part = block.count(" ") >= _MIN_WORDS - 1
        return bool(block) and any(
            block == line or (is_part and f" {block} " in f" {line} ") or (" " in line and f" {line} " in f" {block} ")
            for line in self.lines
        )


def fact_examples(folder: Path) -> list[GoldExample]:
    """Read the pages of a folder.

    Raises:
        OSError: there is no such folder.
    """
    found: list[GoldExample] = []
    with (folder / "pages.jsonl").open(encoding="utf-8") as rows:
        for row in map(json.loads, rows):
            given = chain(*row.get("must", {}).values(), *row.get("exact", {}).values())
            lines = (" ".join(WORD.findall(line.lower())) for line in given)
            gold = GoldPage(row["id"], "", "", row["fold"], row["url"], (), ())
            file = folder / row["html_path"]
            found.append(FactExample(gold, file, source_of(gold), "facts", tuple(filter(None, dict.fromkeys(lines)))))
    return found
