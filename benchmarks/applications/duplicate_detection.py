"""Near-duplicates found with and without templates: the page-level paper's Table 2 (section 6.2) on a Lyrics-like set.

The paper took the lyrics of the same songs from three sites. Here the same texts (gold texts of articles, GOLD) stand
inside the pages of five real sites: the main content of each page is exchanged (content_exchange.py of the papers'
experiments), so that templates are real and it is known which pages are duplicates. Every copy loses one word in 500,
as people who copy do. The sites are taken in groups of five; each text of a group is on one page of each of its sites.

Pages are compared by the paper's rule: lower-case alphanumeric words, windows of 6, the 8 smallest hashes, duplicates
from 4 in common. Duplicate pairs: one text on two sites of its group, all of them. Non-duplicate pairs: different texts
on the same site, as many as there are duplicate pairs, drawn at random.

What differs from the paper: texts of articles, not of songs; templates of 15 sites, not of 3; SITELEVEL and the counts
of "combined" see the pages of the site that are in the set, not all the site has.

    python -m benchmarks.applications.duplicate_detection SITES_DIR GOLD
"""

from __future__ import annotations

import sys
from collections import defaultdict
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from scipy.stats import binomtest

from benchmarks.shared.peers import trafilatura_text
from tamis import load_model
from tamis.duplicates import near_duplicates, shingles
from tamis_papers.evaluation import read_gold
from tamis_papers.experiments.content_exchange import (
    BASIC,
    COMBINED,
    SMOOTH,
    WAYS,
    cleaned_texts,
    frames_of_sites,
    mistyped,
    shortened,
)
from tamis_papers.experiments.harness import exit_on_bad_input, parser_of, say, table, write_json
from tamis_papers.pages import find_sites, spread

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from tamis_papers.experiments.content_exchange import Frame


GROUP: Final = 5
"""Sites that carry the same texts."""

_MIN_WORDS: Final = 100
_STYLES: Final = ("p", "div", "br")  # of the paragraphs: every site has its own way

Shingles = dict[tuple[str, int], "NDArray[np.uint64]"]
"""By site and number of text."""


def main() -> None:
    """Build the set, clean it in every way, compare the pairs, print the table."""
    parser = parser_of(__doc__)
    parser.add_argument("sites", type=Path, metavar="SITES_DIR", help="folder with one folder a site")
    parser.add_argument("gold", type=Path, metavar="GOLD", help="gold pages whose texts are used, .jsonl or .jsonl.xz")
    parser.add_argument("--model", nargs="+", default=[None], metavar="MODEL", help="models (default: the package's)")
    options = parser.parse_args()

    random = np.random.default_rng(0)
    with exit_on_bad_input():
        texts = _texts(options.gold)
        frames = frames_of_sites(find_sites(options.sites), least=40)
    groups = _groups(list(frames), random)
    placed = place(frames, groups, texts, random)
    pairs = _pairs(groups, placed, random)
    say(f"{len(texts):,} texts, {sum(map(len, placed.values())):,} pages, {len(pairs[0]):,} pairs of either kind")

    rows, figures = [], {}
    for number, name in enumerate(options.model):
        model = load_model(name)
        ways = WAYS if number == 0 else _OF_MODEL
        found: dict[str, Shingles] = defaultdict(dict)
        for done, (site, pages) in enumerate(placed.items(), 1):
            cleaned = cleaned_texts([(html, url) for _, html, url in pages], model, ways)
            for (text, html, _), by_method in zip(pages, cleaned, strict=True):
                if number == 0:
                    by_method["trafilatura"] = trafilatura_text(html)
                for method, content in by_method.items():
                    found[method][site, text] = shingles(content)
            say(f"{done} of {len(placed)} sites cleaned")
        for method, of_pages in found.items():
            label = f"{method}, {name or model.name}" if method in _OF_MODEL else method
            same, different = ([near_duplicates(of_pages[one], of_pages[other]) for one, other in of] for of in pairs)
            figures[label] = {"found": sum(same), "parted": different.count(False), "pairs": len(same)}
            rows.append([label, _percent(sum(same), len(same)), _percent(different.count(False), len(different))])
    print(table(["text compared", "duplicates found, %", "non-duplicates parted, %"], rows))
    write_json(options, figures)


_OF_MODEL: Final = (BASIC, SMOOTH, COMBINED)


def _texts(gold: Path) -> list[list[str]]:
    """Texts of articles, cut to paragraphs of about 400 words; near-duplicates among them are left out."""
    texts: list[list[str]] = []
    seen: set[int] = set()
    for page in read_gold(gold):
        paragraphs = shortened(page.text) if page.page_type == "article" else []
        own = set(shingles("\n".join(paragraphs)).tolist())
        if sum(len(paragraph.split()) for paragraph in paragraphs) >= _MIN_WORDS and not own & seen:
            seen |= own
            texts.append(paragraphs)
    return texts or sys.exit(f"{gold}: no article has {_MIN_WORDS} words")


def _groups(sites: list[str], random: np.random.Generator) -> list[list[str]]:
    order = [sites[index] for index in random.permutation(len(sites)).tolist()]
    groups = [order[at : at + GROUP] for at in range(0, len(order) - GROUP + 1, GROUP)]
    return groups or sys.exit(f"{GROUP} sites are needed at least, {len(sites)} have enough pages")


def place(
    frames: Mapping[str, Sequence[Frame]],
    groups: Sequence[Sequence[str]],
    texts: Sequence[list[str]],
    random: np.random.Generator,
) -> dict[str, list[tuple[int, bytes, str]]]:
    """Put texts into the pages of their groups' sites: number of the text, HTML and address, by site."""
    order = random.permutation(len(texts)).tolist()
    names = sorted(frames)
    placed: dict[str, list[tuple[int, bytes, str]]] = {}
    for group in groups:
        number = min(90, len(order), *(len(frames[site]) for site in group))
        own, order = order[:number], order[number:]
        for site in group:
            of_site = {frame.url: frame for frame in frames[site]}
            style = _STYLES[names.index(site) % len(_STYLES)]
            shuffled = [sorted(of_site)[index] for index in random.permutation(len(of_site)).tolist()]
            placed[site] = [
                (text, of_site[url].filled(mistyped(texts[text], 0.002, random), style), url)
                for text, url in zip(own, spread(shuffled, number), strict=True)
            ]
    return placed


def _pairs(
    groups: Sequence[Sequence[str]], placed: Mapping[str, Sequence[tuple[int, bytes, str]]], random: np.random.Generator
) -> tuple[list[Any], list[Any]]:
    duplicates = [
        ((one, text), (other, text))
        for group in groups
        for one, other in combinations(group, 2)
        for text, _, _ in placed[one]
    ]
    same_site = [
        ((site, one[0]), (site, other[0])) for site, pages in placed.items() for one, other in combinations(pages, 2)
    ]
    drawn = random.permutation(len(same_site))[: len(duplicates)]
    return duplicates, [same_site[index] for index in drawn.tolist()]


def _percent(hits: int, of: int) -> str:
    """A share and its 95% interval by Wilson's score: ``76.0 (75.1-76.9)``."""
    low, high = binomtest(hits, of).proportion_ci(method="wilson")
    return f"{100 * hits / of:.1f} ({100 * low:.1f}-{100 * high:.1f})"


if __name__ == "__main__":
    main()
