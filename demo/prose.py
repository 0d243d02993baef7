"""Text from a grammar: sentence patterns with slots, drawn so that no sentence is said twice on a host.

In a pattern ``[name]`` is replaced by one of the grammar's phrases of that name (or by the value bound to it for the
page), ``[one/other]`` by one of the alternatives, and ``[12-90]`` by a number between the two.
"""

from __future__ import annotations

import re
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

_TIMES = re.compile(r"(?:(\d+) x )?(.+)", re.DOTALL)
_SLOT = re.compile(r"\[([^\[\]]+)\]")
_RANGE = re.compile(r"(\d+)-(\d+)")
_INDEFINITE = re.compile(r"\b([Aa]) (?=[aeiouAEIOU])(?!one\b|once\b|us|uni|eu|Uni|EU)")
_NEXT_SENTENCE = re.compile(r"(?<=[.?!] )[a-z]")
_TRIES = 40


def read_grammar(name: str) -> dict[str, list[str]]:
    """Read a file of `demo/corpora`: phrases by name.

    After ``== name`` come its phrases, a line each or parted by bars; ``3 x`` before a phrase or a name repeats it.
    """
    grammar: dict[str, list[str]] = {}
    text = Path(__file__).with_name("corpora").joinpath(f"{name}.txt").read_text(encoding="utf-8")
    for part in text.split("\n== ")[1:]:
        heading, *lines = part.split("\n")
        phrases = chain.from_iterable(line.replace("\\n", "\n").split("|") for line in lines)
        counted = [_TIMES.fullmatch(phrase.strip(" ")) for phrase in phrases]
        times, key = _TIMES.fullmatch(heading).groups()  # type: ignore[union-attr]
        grammar[key] = [found[2] for found in counted if found for _ in range(int(found[1] or 1))] * int(times or 1)
    return grammar


class Prose:
    """Says sentences of one grammar.

    Args:
        rng: Source of every choice.
        *grammars: Names of its files; their phrases by name, later grammars win.
        english: Whether "a" before a vowel becomes "an", and sentences are joined by spaces.
    """

    def __init__(self, rng: random.Random, *grammars: str, english: bool = True, spaces: bool = True) -> None:
        self._rng = rng
        self._phrases = dict(chain.from_iterable(read_grammar(name).items() for name in grammars))
        self._english = english
        self._joint = " " if spaces else ""
        self._decks: dict[str, list[str]] = {}
        self._said: set[str] = set()

    def draw(self, name: str) -> str:
        """Return a phrase of that name, unexpanded; all of them come up once before any comes up again."""
        deck = self._decks.get(name)
        if not deck:
            deck = list(self._phrases[name])
            self._rng.shuffle(deck)
            self._decks[name] = deck
        return deck.pop()

    def raw(self, pattern: str, bound: Mapping[str, str] | None = None) -> str:
        """Replace every slot of a pattern, innermost first, and change nothing else."""
        values = bound or {}

        def replace(match: re.Match[str]) -> str:
            slot = str(match[1])
            if slot in values:
                return values[slot]
            if slot in self._phrases:
                return self.draw(slot)
            number = _RANGE.fullmatch(slot)
            if number:
                return str(self._rng.randint(int(number[1]), int(number[2])))
            return self._rng.choice(slot.split("/"))

        text = pattern
        while _SLOT.search(text):
            text = _SLOT.sub(replace, text)
        return text

    def fill(self, pattern: str, bound: Mapping[str, str] | None = None) -> str:
        """Replace every slot of a pattern and make a sentence of it: capital letter, "an" before a vowel."""
        text = self.raw(pattern, bound)
        if self._english:
            text = _INDEFINITE.sub(r"\1n ", text)
            text = _NEXT_SENTENCE.sub(lambda match: match[0].upper(), text)
        return text[:1].upper() + text[1:]

    def say(self, name: str, bound: Mapping[str, str] | None = None) -> str:
        """Return a sentence that was not said before, if one can be found in a reasonable number of tries."""
        text = ""
        for _ in range(_TRIES):
            text = self.fill(f"[{name}]", bound)
            if text not in self._said:
                break
        self._said.add(text)
        return text

    def paragraph(self, name: str, at_least: int, at_most: int, bound: Mapping[str, str] | None = None) -> str:
        """Return a paragraph of between ``at_least`` and ``at_most`` sentences."""
        count = self._rng.randint(at_least, at_most)
        return self._joint.join(self.say(name, bound) for _ in range(count))
