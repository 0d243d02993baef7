"""Sentences for made-up pages."""

import random

WORDS = ["wind", "river", "stone", "glass", "paper", "cloud", "salt", "iron", "lemon", "harbour", "winter", "garden"]


def prose(seed: str | int, words: int) -> str:
    """So many words, always the same for a seed."""
    return " ".join(random.Random(seed).choices(WORDS, k=words))
