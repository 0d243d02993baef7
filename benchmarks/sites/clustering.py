"""Clustering of pages by template: adjusted Rand index on mixed sites, SiteLevel per cluster, time by number of pages.

Three tables.

1. Pages of several sites of SITES_DIR in one heap, drawn at random: how well the clusters agree with the sites
   (adjusted Rand index; a site of several templates that comes out as several clusters lowers it), the share of pages
   that are of the commonest site of their cluster (purity), and clusters per site. Both variants, with the threshold of
   essential paths that a single host needs (5% of the pages) and that of Kim and Shim for unrelated documents (each
   page's mode).
2. The hosts of the demo web: whether articles and listings come apart, and word F1 of the text that SiteLevel leaves,
   learned per host and per cluster, against the demo's exact truth.
3. Seconds of both variants by the number of pages of one host: pages written over the skeletons of real ones, 20 of
   each of 8 sites, every text that its site does not repeat replaced, and a tenth of the small branches that hold such
   texts left out. Parsing and hashing paths is stated for itself. Clusters are compared with the 8 sites.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks.shared.common import parser_of, say, shown, spread, table, write_json
from demo.hosts import BUILDERS
from demo.web import build_site
from winnow.page.page import Page, PageTooLarge
from winnow.page.subtrees import prefix_sums
from winnow.site.methods.base import method
from winnow.site.methods.clustering import cluster, path_hashes
from winnow.site.methods.labelling import labelled_pages
from winnow.site.methods.pages import SitePages
from winnow.site.methods.site_level import SiteLevel
from winnow.training.sites import Site, find_sites

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    Hashes = NDArray[np.uint64]

MIXED = (3, 6, 12)
THRESHOLDS = {"5% of the pages": 0.05, "mode of each page": 0.0}
NUMBERS = (250, 500, 1_000, 2_000, 4_000, 10_000)
SKELETONS = 8  # sites
PAGES_OF_SKELETON = 20
_CHANGED = 0.1


def main() -> None:
    """Measure and print."""
    parser = parser_of(__doc__ or "")
    parser.add_argument("sites", type=Path, metavar="SITES_DIR", help="folder with one folder a site")
    parser.add_argument("--trials", type=int, default=5, metavar="N", help="mixtures of each size (default: 5)")
    parser.add_argument("--pages", type=int, default=40, metavar="N", help="pages of each mixed site (default: 40)")
    parser.add_argument("--most", type=int, default=10_000, metavar="N", help="largest host (default: 10,000 pages)")
    parser.add_argument("--exact", type=int, default=2_000, metavar="N", help="largest exact run (default: 2,000)")
    parser.add_argument("--tables", type=int, nargs="+", choices=(1, 2, 3), default=(1, 2, 3), help="all by default")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    sites = find_sites(options.sites)
    figures: dict[str, list[list[object]]] = {}
    if 1 in options.tables:
        figures["mixtures"] = mixtures(sites, options)
    if 2 in options.tables:
        figures["demo"] = demo_hosts()
    if 3 in options.tables:
        figures["seconds"] = seconds_by_pages(sites, options)
    write_json(options, figures)


def mixtures(sites: Sequence[Site], options: argparse.Namespace) -> list[list[object]]:
    """Cluster heaps of several sites and compare the clusters with the sites."""
    chance = np.random.default_rng(options.seed)
    documents = {site.name: paths_of(site, options.pages) for site in shown(sites, "sites")}
    rows: list[list[object]] = []
    for number in [number for number in MIXED if number <= len(sites)]:
        heaps = [chance.permutation(len(sites))[:number] for _ in range(options.trials)]
        for threshold, least_support in THRESHOLDS.items():
            for variant in ("exact", "minhash"):
                figures = []
                for heap in heaps:
                    chosen = [documents[sites[index].name] for index in heap]
                    truth = np.repeat(np.arange(number), [len(each) for each in chosen])
                    labels = cluster([each for site in chosen for each in site], least_support, variant).labels
                    figures.append(
                        (adjusted_rand_score(truth, labels), purity(labels, truth), (labels.max() + 1) / number)
                    )
                rows.append([number, threshold, variant, *map(float, np.mean(figures, axis=0))])
                say(f"{number} sites, {threshold}, {variant}")
    headings = ["sites mixed", "essential", "variant", "adjusted Rand index", "purity", "clusters per site"]
    print(table(headings, rows), end="\n\n")
    return rows


def purity(labels: NDArray[np.int64], truth: NDArray[np.int64]) -> float:
    """Share of the documents that are of the commonest kind of their cluster."""
    return sum(max(Counter(truth[labels == label].tolist()).values()) for label in set(labels.tolist())) / len(labels)


def paths_of(site: Site, most: int) -> list[Hashes]:
    """Paths of a site's pages, or of some of them, evenly spread."""
    return [path_hashes(page) for page in pages_of(site, most)]


def pages_of(site: Site, most: int) -> Iterator[Page]:
    """Pages of a site, or some of them, evenly spread; those that are too large are left out."""
    for file in spread(site.files, most):
        try:
            yield Page.parse(file.read_bytes(), site.url(file))
        except PageTooLarge:
            say(f"{file} is too large and left out")


def demo_hosts() -> list[list[object]]:
    """Cluster the hosts of the demo web, whose kinds of pages and template text are known."""
    rows: list[list[object]] = []
    for name in BUILDERS:
        site = build_site(name)
        truth = [page for page in site.truth.values() if page.kind in {"article", "listing"}]
        urls = [f"https://{name}.example{page.path}" for page in truth]
        pages = SitePages.of_html([(url, site.resources[p.path].body) for url, p in zip(urls, truth, strict=True)])
        gold = {url: page.content_text for url, page in zip(urls, truth, strict=True)}
        kinds = np.array([page.kind == "listing" for page in truth], np.int64)
        labels = np.zeros(len(truth), np.int64)
        clusters = method("clusters").learn(pages).clusters
        for label, numbers in enumerate(clusters):
            labels[numbers] = label
        f1 = []
        for per_cluster in (False, True):
            scores = [
                word_f1(labelled.text, gold[labelled.read.name])
                for labelled in labelled_pages(pages, SiteLevel(), per_cluster=per_cluster)
            ]
            f1.append(float(np.mean(scores)))
        rows.append([name, len(truth), len(clusters), purity(labels, kinds), adjusted_rand_score(kinds, labels), *f1])
        say(f"demo: {name}")
    headings = ["demo host", "pages", "clusters", "purity", "adjusted Rand index", "SiteLevel per host", "per cluster"]
    print(table(headings, rows), end="\n\n")
    return rows


def word_f1(text: str, gold: str) -> float:
    """F1 of the words of a text, as bags."""
    found, wanted = Counter(text.split()), Counter(gold.split())
    shared = (found & wanted).total()
    return 2 * shared / max(1, found.total() + wanted.total())


def seconds_by_pages(sites: Sequence[Site], options: argparse.Namespace) -> list[list[object]]:
    """Time both variants on hosts of growing size."""
    skeletons = [skeletons_of(site) for site in shown(spread(sites, SKELETONS), "skeletons")]
    chance = random.Random(options.seed)
    begin = time.perf_counter()
    parsing = 0.0
    documents, truth = [], []
    for _ in shown(range(options.most), "pages written"):
        kind = chance.randrange(len(skeletons))
        html = chance.choice(skeletons[kind]).written(chance)
        start = time.perf_counter()
        documents.append(np.unique(path_hashes(Page.parse(html))))
        parsing += time.perf_counter() - start
        truth.append(kind)
    say(f"{options.most:,} pages written and parsed in {time.perf_counter() - begin:.0f} s")
    rows: list[list[object]] = []
    for number in [each for each in NUMBERS if each <= options.most]:
        row: list[object] = [number, f"{parsing * number / options.most:.1f}"]
        for variant in ("exact", "minhash"):
            if variant == "exact" and number > options.exact:
                row += ["-", "-", "-"]
                continue
            start = time.perf_counter()
            found = cluster(documents[:number], variant=variant)
            seconds = time.perf_counter() - start
            row += [f"{seconds:.1f}", len(found.templates), adjusted_rand_score(truth[:number], found.labels)]
            say(f"{number:,} pages, {variant}: {seconds:.1f} s")
        rows.append(row)
    headings = ["pages", "parse and hash, s", "exact, s", "clusters", "ARI", "MinHash, s", "clusters", "ARI"]
    print(table(headings, rows))
    return rows


def skeletons_of(site: Site) -> list[Skeleton]:
    """Make skeletons of some pages of a site, evenly spread."""
    pages = SitePages.of_files(site.folder, site.files)
    learned = SiteLevel().learn(pages)
    reads = map(pages.read, spread(range(len(pages)), PAGES_OF_SKELETON))
    return [Skeleton(read.page, learned.label(read).template) for read in reads if read.page.m]


class Skeleton:
    """A real page, of which new ones are written: the same template, other content, a little more or less of it."""

    def __init__(self, page: Page, template: NDArray[np.bool_]) -> None:
        self._page = page
        in_template = np.zeros(len(page.runs) + 1, np.int64)
        blocks = template[page.n :]
        in_template[page.block_run_begin[blocks]] += 1
        in_template[page.block_run_end[blocks]] -= 1
        self._kept = (np.cumsum(in_template)[:-1] > 0) | [run.isspace() for run in page.runs]
        content = prefix_sums(~self._kept)
        self._branch = (content[page.run_end] - content[page.run_begin] > 0) & (page.end - np.arange(page.n) < 20)
        self._words = " ".join(page.block_texts()).split()

    def written(self, chance: random.Random) -> str:
        """Write a new page."""
        page = self._page
        out: list[str] = []
        index, run = 0, 0
        closing: list[tuple[int, int, str]] = []
        while index < page.n or run < len(page.runs):
            at_run = run < len(page.runs) and (index >= page.n or run < page.run_begin[index])
            while closing and (closing[-1][1] <= run if at_run else closing[-1][0] <= index):
                out.append(f"</{closing.pop()[2]}>")
            if at_run:
                length = max(1, len(page.runs[run].split()))
                new = " ".join(chance.choice(self._words) for _ in range(length))
                out.append(escape(page.runs[run] if self._kept[run] else f" {new} ", quote=False))
                run += 1
            elif self._branch[index] and chance.random() < _CHANGED:
                index, run = int(page.end[index]), int(page.run_end[index])
            else:
                attributes = "".join(f' {key}="{escape(value)}"' for key, value in page.attributes[index])
                out.append(f"<{page.elements[index].tag}{attributes}>")
                closing.append((int(page.end[index]), int(page.run_end[index]), str(page.elements[index].tag)))
                index += 1
        out.extend(f"</{name}>" for _, _, name in reversed(closing))
        return "".join(out)


if __name__ == "__main__":
    main()
