"""Pages of made-up hosts: the same menu and footer on each, and a story of its own."""

import random

WORDS = (
    *("harbour", "winter", "council", "bridge", "lantern", "orchard", "ferry", "market", "station", "meadow", "timber"),
    *(
        "copper",
        "museum",
        "garden",
        "valley",
        "printer",
        "summer",
        "railway",
        "teacher",
        "village",
        "captain",
        "letter",
    ),
)


def story(seed: str) -> str:
    chance = random.Random(seed)
    paragraphs = (chance.choices(WORDS, k=30) for _ in range(chance.randint(2, 4)))
    return "".join(f"<p>{' '.join(words).capitalize()}.</p>" for words in paragraphs)


def page(host: str, number: int, seed: str = "") -> str:
    return (
        f"<html><head><title>Story {number}</title></head><body><div><a href=/>Front page of {host}</a>"
        f"<a href=/about>About the people of {host}</a></div><div><h1>Story {number}</h1>"
        f"{story(seed or f'{host}{number}')}</div>"
        f"<div>Copyright of everything on {host} is with its owners, whoever they are</div></body></html>"
    )
