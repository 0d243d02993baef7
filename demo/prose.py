"""Text from a grammar: sentence patterns with slots, drawn so that no sentence is said twice on a host.

In a pattern ``[name]`` is replaced by one of the grammar's phrases of that name (or by the value bound to it for the
page), ``[one/other]`` by one of the alternatives, and ``[12-90]`` by a number between the two.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping, Sequence

Grammar: TypeAlias = "Mapping[str, Sequence[str]]"

_SLOT = re.compile(r"\[([^\[\]]+)\]")
_RANGE = re.compile(r"(\d+)-(\d+)")
_INDEFINITE = re.compile(r"\b([Aa]) (?=[aeiouAEIOU])(?!one\b|once\b|us|uni|eu|Uni|EU)")
_NEXT_SENTENCE = re.compile(r"(?<=[.?!] )[a-z]")
_TRIES = 40


class Prose:
    """Says sentences of one grammar.

    Args:
        rng: Source of every choice.
        *grammars: Phrases by name; later grammars win.
        english: Whether "a" before a vowel becomes "an", and sentences are joined by spaces.
    """

    def __init__(self, rng: random.Random, *grammars: Grammar, english: bool = True, spaces: bool = True) -> None:
        self._rng = rng
        self._phrases: dict[str, Sequence[str]] = {}
        for grammar in grammars:
            self._phrases.update(grammar)
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
