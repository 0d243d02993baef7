"""What a crawl of some hosts teaches about others: text F1 before and after a refit, by gold text.

    python -m benchmarks.accuracy.refit_elsewhere GOLD SITES_DIR --crawled SITE SITE ... --model MODEL [--marks]
        [--kept GOLD]

MODEL is refitted, as `winnow learn` does, to the site-level labels of some pages of the crawled sites of SITES_DIR;
with --marks, pages whose authors mark the article teach by that, as they do in a crawl. Both models then clean the gold
pages of the other sites of GOLD, whose pages are named ``site/file``, and those of --kept, which the refit should leave
as they were. MODEL must have learned from none of these.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from benchmarks.shared.common import model_or_exit, parser_of, say, table, write_json
from winnow import clean
from winnow.training.evaluation import page_accuracy
from winnow.training.examples import label_sites
from winnow.training.gold import gold_examples
from winnow.training.marked import label_marked_pages
from winnow.training.refitting import compared, refit
from winnow.training.sites import find_sites

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from winnow.models.networks import BlockPerceptron
    from winnow.training.evaluation import Unit
    from winnow.training.examples import BlockPage
    from winnow.training.gold import GoldExample


def main() -> None:
    """Refit, measure and print."""
    parser = parser_of(__doc__ or "")
    parser.add_argument("gold", type=Path, metavar="GOLD", help="gold pages of the sites")
    parser.add_argument("sites", type=Path, metavar="SITES_DIR", help="folder with one folder a site")
    parser.add_argument("--crawled", nargs="+", required=True, metavar="SITE", help="sites that teach")
    parser.add_argument("--model", required=True, help="model to refit, of the kind blocks")
    parser.add_argument("--marks", action="store_true", help="what authors mark teaches, too")
    parser.add_argument("--kept", type=Path, metavar="GOLD", help="gold pages unlike the sites', by words")
    parser.add_argument("--fold", type=int, help="only pages of this fold of --kept")
    parser.add_argument("--unit", choices=("word", "char"), default="word", help="of the sites' text (%(default)s)")
    parser.add_argument("--pages", type=int, default=20, metavar="N", help="pages of each site (%(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    pages = gold_examples([options.gold], options.sites)
    found = {site.name: site for site in find_sites(options.sites)}
    if missing := set(options.crawled) - found.keys():
        sys.exit(f"no site {', '.join(sorted(missing))} in {options.sites}")
    sites = [site for name, site in found.items() if name in {page.source for page in pages}]
    crawled = [site for name, site in found.items() if name in options.crawled]
    taught = label_sites(crawled, seed=options.seed, pages_per_site=options.pages)
    if options.marks:
        taught = _with_marks(taught, label_marked_pages(crawled, seed=options.seed), options.pages)
    others = [site for site in sites if site not in crawled]
    held_out = label_sites(others, seed=options.seed, pages_per_site=options.pages)
    before = cast("BlockPerceptron", model_or_exit(options.model))
    after = refit(before, taught, seed=options.seed)
    comparison = compared(after, before, held_out)
    if comparison is not None:
        say(f"AUC by the labels of the other sites: {comparison.gain:+.4f}, standard error {comparison.error:.4f}")
    groups: dict[str, tuple[Sequence[GoldExample], Unit]] = {
        site.name: ([page for page in pages if page.source == site.name], options.unit) for site in others
    }
    groups = {"the other sites": ([page for own, _ in groups.values() for page in own], options.unit), **groups}
    if options.kept:
        kept = [page for page in gold_examples([options.kept]) if options.fold in (None, page.gold.fold)]
        groups[options.kept.parent.name] = kept, "word"
    rows = []
    for name, (own, unit) in groups.items():
        was, now = (_f1(own, model, unit) for model in (before, after))
        error = float((now - was).std() / np.sqrt(len(own)))
        rows.append([name, len(own), float(was.mean()), float(now.mean()), float((now - was).mean()), error])
    print(table(["", "pages", "F1 before", "after", "gain", "standard error"], rows))
    write_json(options, {str(row[0]): row[1:] for row in rows})


def _with_marks(taught: Sequence[BlockPage], marked: Sequence[BlockPage], most: int) -> list[BlockPage]:
    """Of each site its marked pages first, and others up to so many."""
    of_site: dict[str, list[BlockPage]] = defaultdict(list)
    for page in [*(replace(page, marked=True) for page in marked), *taught]:
        of_site[page.source].append(page)
    return [page for own in of_site.values() for page in own[:most]]


def _f1(pages: Sequence[GoldExample], model: BlockPerceptron, unit: Unit) -> NDArray[np.float64]:
    """float64[pages], F1 of the text of each."""
    return np.array(
        [
            page_accuracy(clean(page.file.read_bytes(), page.gold.url, model=model).text, page.gold, unit).f1
            for page in pages
        ]
    )


if __name__ == "__main__":
    main()
