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
from tamis_papers.evaluation import GoldPage
from tamis_papers.training.gold import GoldExample, source_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence, Set
    from pathlib import Path

    from numpy.typing import NDArray

_PRECISION: Final = 0.9


@dataclass(frozen=True, slots=True)
class FactExample(GoldExample):
    """A page with lines that must be in its text.

    Attributes:
        fields: lines by field, such as ``"recipes: ingredients"``, in lower case and with single spaces.
        exact: the fields whose lines must be there word for word.
    """

    fields: Mapping[str, Sequence[str]]
    exact: frozenset[str]

    def content(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """float64[m], 1 for the blocks that a line consists of or stands in; NaN for all others."""
        lines = set(chain.from_iterable(self.fields.values()))
        return np.array([1.0 if _has(_words(text), lines) else np.nan for text in texts])

    def fractions(self, text: str) -> dict[str, float]:
        """Return the fraction of each field's lines that a text has: nine tenths of the words, or all in a row."""
        whole = f" {_words(text)} "
        found = set(whole.split())
        return {
            field: fmean(
                f" {line} " in whole if field in self.exact else _fraction(line.split(), found) >= 0.9 for line in lines
            )
            for field, lines in self.fields.items()
        }

    def f1(self, text: str) -> float:
        """Word F1 of a text by the fraction of lines it has, if it is as precise as texts are on the whole."""
        recall = fmean(self.fractions(text).values())
        return 2 * _PRECISION * recall / (_PRECISION + recall)


def _words(text: str) -> str:
    return " ".join(WORD.findall(text.lower()))


def _fraction(words: Sequence[str], found: Set[str]) -> float:
    return sum(map(found.__contains__, words)) / len(words)


def _has(block: str, lines: Set[str]) -> bool:
    """Whether a block is a line or a part of one, or holds one."""
    is_part = " " in block
    return bool(block) and any(
        block == line or (is_part and f" {block} " in f" {line} ") or (" " in line and f" {line} " in f" {block} ")
        for line in lines
    )


def fact_examples(folder: Path) -> list[FactExample]:
    """Read the pages of a folder.

    Raises:
        OSError: there is no such folder.
    """
    found = []
    with (folder / "pages.jsonl").open(encoding="utf-8") as rows:
        for row in map(json.loads, rows):
            given = [
                (name, lines, name in row["exact"]) for name, lines in chain(row["must"].items(), row["exact"].items())
            ]
            fields = {f"{row['set']}: {name}": list(filter(None, map(_words, lines))) for name, lines, _ in given}
            fields = {name: lines for name, lines in fields.items() if lines}
            exact = frozenset(f"{row['set']}: {name}" for name, _, is_exact in given if is_exact)
            gold = GoldPage(row["id"], "", "", row["fold"], row["url"], (), ())
            found.append(FactExample(gold, folder / row["html_path"], source_of(gold), "facts", fields, exact))
    return found
