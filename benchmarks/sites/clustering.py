"""Clustering of pages by template: agreement with sites, and planted templates by pages.

Two tables.

1. Pages of several sites of SITES_DIR in one heap, drawn at random: how well the clusters agree with the sites
   (adjusted Rand index; a site of several templates that comes out as several clusters lowers it), the share of pages
   that are of the commonest site of their cluster (purity), and clusters per site.
2. Pages of planted templates of one host, 100 to 10,000: clusters for each template, adjusted Rand index, and seconds.
   A template has a header and a footer that all share, parts of its own, parts that some of its pages
   have, content of words drawn for the page, and markup in it that some have. Writing and parsing are not counted.
"""

from __future__ import annotations

import random
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from sklearn.metrics import adjusted_rand_score

from scrapy_tamis.commands.common import with_progress
from tamis.page.page import Page
from tamis_papers.clustering import Clusters, dom_paths
from tamis_papers.experiments.harness import parser_of, say, table, write_json
from tamis_papers.pages import find_sites, spread

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tamis.folders import SitePages

    Hashes = NDArray[np.uint64]

NUMBERS = (100, 300, 1_000, 3_000, 10_000)
TEMPLATES = (4, 8, 12, 16)
ODDS = (0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.97)
INSIDE = (
    {tag: f"<{tag}>{{}}</{tag}>" for tag in ("h2", "blockquote", "h4")}
    | {tag: f"<p>Some <{tag}>{{}}</{tag}></p>" for tag in ("b", "a", "i", "code", "em")}
    | {"ul": "<ul><li>{}<li><a>more</a></ul>", "table": "<table><tr><td>{}<td>1</table>"}
)


def main() -> None:
    """Measure and print."""
    parser = parser_of(__doc__)
    parser.add_argument("sites", type=Path, metavar="SITES_DIR", help="folder with one folder a site")
    parser.add_argument(
        "--trials", type=int, default=5, metavar="N", help="mixtures of each size, planted hosts (default: 5)"
    )
    parser.add_argument("--pages", type=int, default=40, metavar="N", help="pages of each mixed site (default: 40)")
    parser.add_argument("--tables", type=int, nargs="+", choices=(1, 2), default=(1, 2), help="both by default")
    options = parser.parse_args()
    sites = find_sites(options.sites)
    figures: dict[str, list[list[object]]] = {}
    if 1 in options.tables:
        figures["mixtures"] = mixtures(sites, options)
    if 2 in options.tables:
        figures["planted"] = planted_templates(options)
    write_json(options, figures)


def mixtures(sites: Sequence[SitePages], options: argparse.Namespace) -> list[list[object]]:
    """Cluster heaps of several sites and compare the clusters with the sites."""
    chance = np.random.default_rng(0)
    documents = {site.name: paths_of(site, options.pages) for site in with_progress(sites, "sites")}
    rows: list[list[object]] = []
    for number in [number for number in (3, 6, 12) if number <= len(sites)]:
        heaps = [chance.permutation(len(sites))[:number] for _ in range(options.trials)]
        figures = []
        for heap in heaps:
            chosen = [documents[sites[index].name] for index in heap]
            truth = np.repeat(np.arange(number), [len(each) for each in chosen])
            labels, _ = Clusters().cluster([each for site in chosen for each in site])
            figures.append((adjusted_rand_score(truth, labels), purity(labels, truth), (labels.max() + 1) / number))
        rows.append([number, *map(float, np.mean(figures, axis=0))])
        say(f"{number} sites")
    headings = ["sites mixed", "adjusted Rand index", "purity", "clusters per site"]
    print(table(headings, rows), end="\n\n")
    return rows


def purity(labels: NDArray[np.int64], truth: NDArray[np.int64]) -> float:
    """Share of the documents that are of the commonest kind of their cluster."""
    return sum(max(Counter(truth[labels == label].tolist()).values()) for label in set(labels.tolist())) / len(labels)


def paths_of(site: SitePages, most: int) -> list[Hashes]:
    """Paths of a site's pages, or of some of them, evenly spread; pages that are too large are left out."""
    return [dom_paths(read.page) for read in site.subset(spread(range(len(site)), most)).read_all()]


def planted_templates(options: argparse.Namespace) -> list[list[object]]:
    """Cluster hosts of planted templates, and count the clusters."""
    found: dict[int, list[tuple[float, float, float]]] = defaultdict(list)
    for trial in with_progress(range(options.trials), "hosts"):
        host = PlantedHost(TEMPLATES[trial % len(TEMPLATES)], random.Random(trial))
        written = [host.page() for _ in range(NUMBERS[-1])]
        documents = [np.unique(dom_paths(Page.parse(html))) for _, html in written]
        truth = np.array([template for template, _ in written])
        for number in NUMBERS:
            start = time.process_time()
            labels, _ = Clusters().cluster(documents[:number])
            seconds = time.process_time() - start
            share = (labels.max() + 1) / len(set(truth[:number].tolist()))
            found[number].append((share, adjusted_rand_score(truth[:number], labels), seconds))
    rows: list[list[object]] = []
    for number, each in found.items():
        shares = [share for share, _, _ in each]
        rows.append([number, min(shares), max(shares), *map(float, np.mean(each, axis=0))])
    headings = ["pages", "clusters a template: least", "most", "mean", "adjusted Rand index", "seconds"]
    print(table(headings, rows))
    return rows


class PlantedHost:
    """A host of several templates, whose pages are written one by one; at least 0.6 of an even share is of each."""

    def __init__(self, templates: int, chance: random.Random) -> None:
        self._chance = chance
        self._header, self._footer = self._part(25), self._part(20)
        shares = [max(chance.gammavariate(5, 1) / 5, 0.6) for _ in range(templates)]
        self._shares = shares
        self._templates = [
            (
                "".join(self._part(chance.randrange(4, 14)) for _ in range(chance.randrange(2, 6))),
                [(self._part(chance.randrange(3, 12)), chance.choice(ODDS)) for _ in range(chance.randrange(1, 5))],
                {tag: chance.choice(ODDS) for tag in INSIDE},
                chance.choice(("article", "div", "main", "section")) + " " * chance.randrange(1, 4),
            )
            for _ in range(templates)
        ]

    def page(self) -> tuple[int, str]:
        """Write a page, and tell which template it is of."""
        chance = self._chance
        (template,) = chance.choices(range(len(self._templates)), self._shares)
        fixed, parts, inside, wrapper = self._templates[template]
        tag, depth = wrapper.rstrip(), wrapper.count(" ")
        content = [f"<h1>{self._words(5)}</h1>", *(f"<p>{self._words(12)}</p>" for _ in range(chance.randrange(3, 12)))]
        content += [INSIDE[name].format(self._words(3)) for name, share in inside.items() if chance.random() < share]
        some = [part for part, share in parts if chance.random() < share]
        body = f"<{tag}>" * depth + "".join(content) + f"</{tag}>" * depth + fixed + "".join(some)
        return template, f"<body>{self._header}<div>{body}</div>{self._footer}</body>"

    def _part(self, elements: int) -> str:
        out: list[str] = []
        opened: list[str] = []
        for _ in range(elements):
            opened.append(self._chance.choice(("div", "section", "ul", "span", "h3", "aside", "nav", "form")))
            out.append(f"<{opened[-1]}>{self._words(2)}")
            while opened and self._chance.random() < 0.6:
                out.append(f"</{opened.pop()}>")
        return "".join(out) + "".join(f"</{tag}>" for tag in reversed(opened))

    def _words(self, number: int) -> str:
        return " ".join(f"w{self._chance.randrange(4_000)}" for _ in range(number))


if __name__ == "__main__":
    main()
