"""Pages that lose much of their text to the counts of their sites, to be looked at one by one.

    python -m benchmarks.accuracy.lost_pages SITES_DIR [--models FOLDS] [--least 0.4] [--out lost.jsonl]

Every page is cleaned alone, and with up to 100 other pages of its site counted.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

import tamis
from benchmarks.accuracy.site_evidence import SEEN, count_others
from benchmarks.shared.common import models_of_folds
from tamis.page.text import WORD
from tamis.site import PageCounts
from tamis_papers.experiments.harness import exit_on_bad_input, parser_of, say, write_json
from tamis_papers.pages import find_sites


def main() -> None:
    """Measure, print, and write what was lost."""
    parser = parser_of(__doc__)
    parser.add_argument("sites", type=Path, metavar="SITES_DIR", help="folder with one folder a site")
    parser.add_argument("--models", type=Path, metavar="FOLDS", help="models as `train_weights` writes them")
    parser.add_argument("--least", type=float, default=0.4, help="share of its words that a page loses (%(default)s)")
    parser.add_argument("--out", type=Path, metavar="FILE", help="JSON lines with both texts of each such page")
    options = parser.parse_args()
    lost: list[dict[str, str]] = []
    pages = 0
    with exit_on_bad_input():
        model_of = models_of_folds(options.models)
        for site in find_sites(options.sites):
            model, random, before = model_of(site.name), np.random.default_rng(0), len(lost)
            site_pages = {read.name: read.page for read in site.read_all()}
            for name, page in site_pages.items():
                counts = PageCounts(*count_others(page, site_pages, max(SEEN), model, random))
                alone, text = (tamis.clean(page, model=model, site=site).text for site in (None, counts))
                words, left = len(WORD.findall(alone)), len(WORD.findall(text))
                if words >= 10 and left < (1 - options.least) * words:
                    lost.append({"site": site.name, "page": name, "alone": alone, "counted": text})
            pages += len(site_pages)
            say(f"{site.name}: {len(lost) - before} of {len(site_pages)}")
        if options.out:
            options.out.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in lost), "utf-8")
    print(f"{len(lost)} of {pages} pages lose {options.least:.0%} of their words or more")
    write_json(options, {"pages": pages, "lost": len(lost)})


if __name__ == "__main__":
    main()
