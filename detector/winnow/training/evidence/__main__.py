"""``python -m winnow.training.evidence``: learn the numbers of :data:`winnow.evidence.site_counts.LEARNED`, and print them."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from winnow.models import load_model
from winnow.training.evaluation import read_gold
from winnow.training.evidence.fitting import learn_evidence, repetitions
from winnow.training.sites import find_sites

if TYPE_CHECKING:
    from winnow.training.evidence.fitting import Repetitions


def main() -> None:
    """Count the blocks of the sites, fit, and print."""
    parser = argparse.ArgumentParser(
        prog="python -m winnow.training.evidence",
        description="Learn how much it says of a block that other pages of its host repeat it.",
    )
    parser.add_argument("sites", type=Path, metavar="SITES_DIR", help="folder with one folder a site")
    parser.add_argument("--gold", type=Path, required=True, metavar="FILE", help="gold pages, named SITE/FILE")
    parser.add_argument("--model", help="page-level model that has not seen the gold (default: the package's own)")
    parser.add_argument("--leave-out", nargs="+", default=[], metavar="SITE", help="sites to measure on")
    parser.add_argument("--pages", type=int, default=40, metavar="N", help="pages of each site (default: 40)")
    parser.add_argument("--seed", type=int, default=0, help="random seed (default: 0)")
    options = parser.parse_args()
    model = load_model(options.model)
    gold: dict[str, dict[str, str]] = {}
    for page in read_gold(options.gold):
        name, _, file = page.page_id.partition("/")
        gold.setdefault(name, {})[file.rpartition("/")[2]] = page.text
    hosts: list[Repetitions] = []
    with_gold: list[Repetitions] = []
    for site in find_sites(options.sites):
        if site.name in options.leave_out:
            continue
        print(f"winnow.training.evidence: counts {site.name}", file=sys.stderr, flush=True)
        texts = gold.get(site.name)
        found = repetitions(site, model, seed=options.seed, pages=options.pages, gold=texts)
        if found is not None:
            hosts.append(found)
            if texts is not None:
                with_gold.append(found)
    if not with_gold:
        parser.error("no site with gold pages")
    print(f"{learn_evidence(hosts, with_gold)}  # {len(hosts)} sites, {len(with_gold)} of them with gold text")


if __name__ == "__main__":
    main()
