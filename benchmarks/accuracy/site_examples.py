"""Labelled text blocks of a folder of sites, for the benchmarks that train on them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.shared.common import say
from winnow.training.examples import PAGES_PER_SITE, label_sites
from winnow.training.sites import find_sites

if TYPE_CHECKING:
    import argparse

    from winnow.training.examples import BlockPage


def add_site_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the folder of sites, and how much of it is read."""
    parser.add_argument("sites", type=Path, metavar="SITES_DIR", help="folder with one folder a site")
    parser.add_argument(
        "--pages-per-site",
        type=int,
        default=PAGES_PER_SITE,
        metavar="N",
        help="pages taken of each site (default: %(default)s)",
    )
    parser.add_argument("--processes", type=int, default=1, metavar="N", help="processes that read pages")
    parser.add_argument("--seed", type=int, default=0, help="picks pages and sites")


def site_examples(options: argparse.Namespace) -> dict[str, list[BlockPage]]:
    """Read the labelled pages by site. Ends the program where there are no sites."""

    def progress(done: int, total: int, _name: str = "", /) -> None:
        if done % 10 == 0 or done == total:
            say(f"{done:,} of {total:,} sites read")

    try:
        sites = find_sites(options.sites)
    except (OSError, ValueError) as error:
        sys.exit(str(error))
    pages = label_sites(
        sites,
        seed=options.seed,
        pages_per_site=options.pages_per_site,
        processes=options.processes,
        progress=progress,
    )
    by_site: dict[str, list[BlockPage]] = {}
    for page in pages:
        by_site.setdefault(page.source, []).append(page)
    return by_site
