"""The site-level methods side by side: template found, pages needed, time, memory, and what they teach.

    python -m benchmarks.sites.site_methods
    python -m benchmarks.sites.site_methods --gold sites-gold.jsonl SITES_DIR
    python -m benchmarks.sites.site_methods --reference SITES_DIR --manifest sites.jsonl
    python -m benchmarks.sites.site_methods --teach SITES_DIR GOLD PAGES_DIR

The truth is, without arguments, that of the generator of the demo web (exact); with --gold, which blocks the gold text
of pages ``site/file`` leaves out; with --reference, labels of the method site-level from all pages of a site, which are
no truth and only tell how far the others agree with it.

Each method learns from at most --pages pages of a site (menus from those it finds by links), and --tested pages are
labelled. "Text" is precision, recall and F1 of template by characters of blocks, "node" by elements that hold text;
they are summed over the pages of a site, and averaged over sites. "Pages needed" is the least of 2, 5, 10, 20, 40 and
--pages pages to learn from that give new pages at least 0.95 of the text F1 of the last, the median of sites; for
menus, the pages loaded. Time is learning and labelling, for each page, in milliseconds and in parses of the same pages;
memory is what a site needs at most, above what was in use before.

With --teach, a page-level model is trained by each method's labels on --taught-sites sites, and cleans gold pages.
"""

from __future__ import annotations

import json
import multiprocessing
import sys
import time
from collections import defaultdict
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from benchmarks.shared.common import parser_of, say, table, write_json
from benchmarks.sites.site_teachers import add_teaching_arguments, taught
from benchmarks.sites.site_truth import KeptPages, KnownSite, Overlap, demo_sites, gold_sites, reference_sites
from winnow.papers.methods import METHODS, labelled_pages, method
from winnow.papers.pages import SiteError, SitePages

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

PER_CLUSTER: Final = ", per cluster"
MENUS: Final = "menus"
STEPS: Final = (2, 5, 10, 20, 40)
ENOUGH: Final = 0.95
_UNKNOWN: Final = -1  # number of a page that was not learned from


def main() -> None:
    """Measure what the arguments ask for, and print a table for each."""
    options = _options()
    if options.teach:
        write_json(options, taught(options, [name for name in options.methods if PER_CLUSTER not in name]))
        return
    sites = _sites(options)
    if not sites:
        sys.exit("no site with a known truth")
    rows = [_row(name, sites, options) for name in options.methods]
    headings = ["", *(f"{kind} {figure}" for kind in ("text", "node") for figure in ("P", "R", "F1"))]
    print(table([*headings, "sites", "pages needed", "ms a page", "parses", "MB"], [_cells(row) for row in rows]))
    print()
    genres = sorted({site.genre for site in sites})
    print(
        table(["text F1 by genre", *genres], [[row["method"], *(row["genres"].get(g) for g in genres)] for row in rows])
    )
    write_json(options, {row["method"]: row for row in rows})


def _options() -> argparse.Namespace:
    parser = parser_of(__doc__ or "")
    names = [*METHODS, f"site-level{PER_CLUSTER}"]
    truth = parser.add_mutually_exclusive_group()
    truth.add_argument("--gold", nargs=2, type=Path, metavar=("GOLD", "SITES_DIR"), help="sites with gold text")
    truth.add_argument(
        "--reference", type=Path, metavar="SITES_DIR", help="sites to compare with exact site-level labels"
    )
    truth.add_argument("--teach", nargs=3, type=Path, metavar=("SITES_DIR", "GOLD", "PAGES_DIR"), help="train models")
    parser.add_argument("--manifest", type=Path, metavar="FILE", help="genres: JSON lines with 'site' and 'genre'")
    parser.add_argument("--methods", nargs="+", choices=names, default=names, metavar="METHOD")
    parser.add_argument("--pages", type=int, default=60, metavar="N", help="pages of each site (default: %(default)s)")
    parser.add_argument("--tested", type=int, default=12, metavar="N", help="of them, labelled (default: %(default)s)")
    parser.add_argument("--sites", type=int, metavar="N", help="so many sites only")
    parser.add_argument("--seed", type=int, default=1, help="picks pages, and is that of the demo web")
    add_teaching_arguments(parser)
    return parser.parse_args()


def _sites(options: argparse.Namespace) -> list[KnownSite]:
    if options.gold:
        found = gold_sites(*options.gold)
    elif options.reference:
        found = reference_sites(options.reference, _genres(options.manifest))
    else:
        found = demo_sites(options.pages, options.seed)
    return list(found)[: options.sites]


def _genres(manifest: Path | None) -> dict[str, str]:
    if manifest is None:
        return {}
    rows = map(json.loads, manifest.read_text(encoding="utf-8").splitlines())
    return {row["site"]: row["genre"] for row in rows}


def _row(name: str, sites: Sequence[KnownSite], options: argparse.Namespace) -> dict[str, Any]:
    """Measure one method on all sites."""
    by_genre: dict[str, list[float]] = defaultdict(list)
    figures, needed, seconds, parses = [], [], [], []
    for site in sites:
        say(f"{name}: {site.name}")
        part = site if name == MENUS else site.bounded(options.pages, options.seed)
        try:
            measured = _measured(name, part, options)
        except SiteError as error:
            say(f"{name}: {site.name}: {error}")
            continue
        seconds.append(measured.seconds)
        parses.append(measured.seconds / measured.parse)
        figures.append([*measured.overlap.figures("text"), *measured.overlap.figures("node")])
        by_genre[site.genre].append(figures[-1][2])
        if name == MENUS:
            needed.append(measured.learned_from)
        elif PER_CLUSTER not in name:
            needed.append(_needed(name, part, options))
    largest = max(sites, key=lambda site: len(site.pages))
    if name != MENUS:
        largest = largest.bounded(options.pages, options.seed)
    return {
        "method": name,
        "figures": np.mean(figures, axis=0).tolist() if figures else [None] * 6,
        "sites": len(figures),
        "needed": float(np.median([each for each in needed if each])) if any(needed) else None,
        "ms": 1000 * float(np.median(seconds)) if seconds else None,
        "parses": float(np.median(parses)) if parses else None,
        "mb": _memory(name, largest),
        "genres": {genre: float(np.mean(values)) for genre, values in by_genre.items()},
    }


def _cells(row: dict[str, Any]) -> list[object]:
    ms, parses, needed = row["ms"], row["parses"], row["needed"]
    return [
        *(row["method"], *row["figures"], row["sites"], needed and f"{needed:.0f}", ms and f"{ms:.1f}"),
        *(parses and f"{parses:.1f}", row["mb"] and f"{row['mb']:.1f}"),
    ]


@dataclass
class _Measured:
    """What one method did on one site; seconds are for one page."""

    overlap: Overlap
    seconds: float
    parse: float
    learned_from: int | None


def _measured(name: str, site: KnownSite, options: argparse.Namespace) -> _Measured:
    pages = site.pages
    tested = range(0, len(pages), max(len(pages) // options.tested, 1))
    truths = {number: site.truth(read) for number, read in ((number, pages.read(number)) for number in tested)}
    begin = time.perf_counter()
    for number in tested:
        pages.read(number)
    parse = (time.perf_counter() - begin) / len(tested)

    begin = time.perf_counter()
    overlap, learned_from = Overlap(), None
    if PER_CLUSTER in name:
        chosen = method(name.removesuffix(PER_CLUSTER))
        labelled = {pages.names[number]: number for number in tested}
        for each in labelled_pages(pages, chosen, per_cluster=True):
            if each.read.name in labelled:
                overlap.add(each.read.page, each.template, truths[labelled[each.read.name]])
        seconds = (time.perf_counter() - begin) / len(pages)
    else:
        learned = method(name).learn(pages)
        seconds = (time.perf_counter() - begin) / len(pages)
        learned_from = learned.pages
        begin = time.perf_counter()
        for number in tested:
            read = pages.read(number)
            overlap.add(read.page, learned.label(read).template, truths[number])
        seconds += (time.perf_counter() - begin) / len(tested)
    return _Measured(overlap, seconds, parse, learned_from)


def _needed(name: str, site: KnownSite, options: argparse.Namespace) -> int | None:
    """Pages that a method has to learn from, to find nearly what it finds with all of them."""
    kept = KeptPages.of(site.pages)
    order = np.random.default_rng(options.seed).permutation(len(kept)).tolist()
    new = [replace(kept.read(number), number=_UNKNOWN) for number in order[-options.tested :]]
    truths = [site.truth(read) for read in new]
    steps = [*(step for step in STEPS if step < len(order)), len(order)]
    found: dict[int, float] = {}
    for step in steps:
        try:
            learned = method(name).learn(kept.subset(sorted(order[:step])))
        except SiteError:
            continue
        overlap = Overlap()
        for read, truth in zip(new, truths, strict=True):
            overlap.add(read.page, learned.label(read).template, truth)
        found[step] = overlap.figures("text")[2]
    last = found.get(steps[-1])
    return next((step for step, f1 in found.items() if last and f1 >= ENOUGH * last), None)


def _memory(name: str, site: KnownSite) -> float | None:
    """Megabytes that learning needs at most above what its process used before, in a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(partial(_peak, name, site.pages))


def _peak(name: str, pages: SitePages) -> float | None:
    pages.read(0)
    before = _most_memory(reset=True)
    try:
        for _ in labelled_pages(pages, method(name.removesuffix(PER_CLUSTER)), per_cluster=PER_CLUSTER in name):
            pass
    except SiteError:
        return None
    after = _most_memory()
    return None if before is None or after is None else after - before


def _most_memory(*, reset: bool = False) -> float | None:
    """Megabytes that this process has had at most, since the last reset; ``None`` where the system does not tell."""
    status = Path("/proc/self/status")
    if not status.exists():
        return None
    if reset:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    lines = (line.split() for line in status.read_text(encoding="ascii").splitlines())
    return next(int(line[1]) / 1024 for line in lines if line[0] == "VmHWM:")


if __name__ == "__main__":
    main()
