"""Documents with known near-duplicates: stories in several versions, and others that share phrases but not the story.

Words are drawn from a language of its own, made for a seed: pseudo-words with Zipf's frequencies, and between them
stock phrases that all stories share, so that unrelated texts have windows in common as they do in real languages.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

_WORDS: Final = 20_000
_PHRASES: Final = 400
_PHRASE_SHARE: Final = 0.12
_SERIES_SHARE: Final = 0.15
EDITS: Final = (0.0, 0.01, 0.02, 0.05, 0.08)
"""Shares of words that a version of a story changes, drops or adds."""


@dataclass(frozen=True, slots=True)
class Document:
    """A text, its address, and the number of its story: texts of one story are near-duplicates."""

    url: str
    text: str
    story: int


def made_documents(number: int, seed: int) -> list[Document]:
    """Return so many documents in the order in which they are met.

    Six of ten stories have one version. The others have two to five: each is edited at one of the rates of `EDITS`, and
    may have lost its end, gained a paragraph, or kept 20 words of the template of its host. One of seven stories is of
    a series, as weather reports are: its sentences are those of the series with a third of the words exchanged.
    """
    random = np.random.default_rng(seed)
    language = _Language(random)
    series = [language.text(200, random) for _ in range(20)]
    hosts = [language.text(20, random) for _ in range(50)]
    found: list[Document] = []
    story = 0
    while len(found) < number:
        words = language.text(int(np.clip(random.lognormal(5.5, 0.6), 60, 2000)), random)
        if random.random() < _SERIES_SHARE:
            kept, new = series[random.integers(len(series))], language.text(200, random)
            words = [word if random.random() < 2 / 3 else new[at] for at, word in enumerate(kept)]
        versions = 1 if random.random() < 0.6 else int(random.integers(2, 6))
        for version in range(versions):
            host = int(random.integers(len(hosts)))
            text = words if version == 0 else _version(words, language, random)
            if random.random() < 0.2:
                text = [*hosts[host], *text]
            found.append(
                Document(f"http://host{host}.example/2026/story-{story}-{version}.html", " ".join(text), story)
            )
        story += 1
    return [found[place] for place in random.permutation(number).tolist()]


def given_documents(path: Path) -> list[Document]:
    """Read documents from a file of JSON objects, one a line, with ``url``, ``text`` and ``story``.

    Ends the program where it cannot be read.
    """
    stories: dict[Any, int] = {}
    found = []
    try:
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            story = stories.setdefault(row["story"], len(stories))
            found.append(Document(str(row["url"]), str(row["text"]), story))
    except (OSError, KeyError, TypeError, ValueError) as error:
        sys.exit(f"{path}: {error!r}")
    return found or sys.exit(f"{path}: no documents")


class _Language:
    def __init__(self, random: np.random.Generator) -> None:
        syllables = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]
        lengths = random.integers(1, 5, _WORDS)
        self._words = ["".join(random.choice(syllables, length)) for length in lengths]
        ranks = np.arange(1, _WORDS + 1)
        self._cumulated = np.cumsum(1 / ranks) / np.sum(1 / ranks)
        self._phrases = [self._drawn(int(random.integers(4, 11)), random) for _ in range(_PHRASES)]

    def _drawn(self, number: int, random: np.random.Generator) -> list[str]:
        places = np.searchsorted(self._cumulated, random.random(number))
        return [self._words[min(place, _WORDS - 1)] for place in places.tolist()]

    def text(self, number: int, random: np.random.Generator) -> list[str]:
        """So many words, stock phrases among them."""
        words: list[str] = []
        while len(words) < number:
            if random.random() < _PHRASE_SHARE:
                words += self._phrases[random.integers(_PHRASES)]
            else:
                words += self._drawn(int(random.integers(5, 30)), random)
        return words[:number]


def _version(words: list[str], language: _Language, random: np.random.Generator) -> list[str]:
    rate = EDITS[random.integers(len(EDITS))]
    changed: list[str] = []
    for word, chance in zip(words, random.random(len(words)).tolist(), strict=True):
        if chance >= rate:
            changed.append(word)
        elif chance < rate / 2:
            changed += language.text(1, random)
        elif chance < 0.75 * rate:
            changed += [word, *language.text(1, random)]
    if random.random() < 0.15:
        changed = changed[: max(1, int(0.85 * len(changed)))]
    if random.random() < 0.15:
        changed += language.text(len(words) // 8, random)
    return changed
