"""Accuracy of archives in two passes and in one, against a crawl of the same pages.

    python -m benchmarks.archives.evidence [GOLD SITES_DIR] [--model MODEL] [--pages N]

The demo web is crawled, and an archive of the pages of that very crawl is cleaned again: its truth says which
words are content and which are template. Of GOLD, text F1 over the gold pages of each site, whose pages come in an
order of chance; in one pass a page has then the counts that a crawl would have.
"""

from __future__ import annotations

import random
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.archives.warcs import rows_of, write_warc
from benchmarks.shared.common import parser_of, say, table, write_json
from demo.crawl import CrawlFiles, crawl
from demo.report import accuracy, read_items
from demo.server import DemoWeb
from scrapy_winnow.archives import ArchiveRun, OnePassRun, Options
from winnow.training.evaluation import page_accuracy, read_gold
from winnow.training.sites import find_sites

if TYPE_CHECKING:
    import argparse

RUNS = {"one pass": OnePassRun, "two passes": ArchiveRun}
_LISTINGS = 50


def main() -> None:
    """Measure and print."""
    parser = parser_of(__doc__ or "")
    parser.add_argument("gold", type=Path, nargs="?", metavar="GOLD", help="gold pages, .jsonl or .jsonl.xz")
    parser.add_argument("sites", type=Path, nargs="?", metavar="SITES_DIR", help="folder with one folder a site")
    parser.add_argument("--model", help="page-level model for the gold pages (default: the package's own)")
    parser.add_argument("--unit", choices=("word", "char"), default="word", help="char for unspaced scripts")
    parser.add_argument("--pages", type=int, default=60, help="content pages per host of the demo web")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows, figures = _demo(Path(folder), options.pages)
        print(table(["demo web", "template cut", "content kept"], rows))
        if options.gold and options.sites:
            gold_rows = _gold(Path(folder), options)
            print(table(["gold pages", "first 10 of a site", "all", "pages"], gold_rows))
            figures |= {f"gold, {name}": f1 for name, _, f1, _ in gold_rows}
    write_json(options, figures)


def _demo(folder: Path, pages: int) -> tuple[list[list[Any]], dict[str, float]]:
    files = CrawlFiles(folder / "crawl")
    files.folder.mkdir()
    archive = folder / "crawl.warc.gz"
    with DemoWeb(folder / "web", pages=pages) as web:
        say("crawling the demo web")
        crawl(web.urls.values(), files, pages + _LISTINGS, further=["WINNOW_KEEP_HTML=True"])
        items = {"crawl": read_items(files.items)}
        write_warc(archive, ((item["url"], item["html"].encode()) for item in items["crawl"]))
        for name, run in RUNS.items():
            say(name)
            run([str(archive)], folder / name, Options(duplicates=False)).run()
            items[name] = rows_of(folder / name)
        urls = set.intersection(*({item["url"] for item in of_run} for of_run in items.values()))
        found = {
            name: accuracy(web, [item for item in of_run if item["url"] in urls]) for name, of_run in items.items()
        }
    say(f"{len(urls)} pages")
    rows = [[name, each.template_recall, each.content_recall] for name, each in found.items()]
    return rows, {f"demo, {name}": each.template_recall for name, each in found.items()}


def _gold(folder: Path, options: argparse.Namespace) -> list[list[Any]]:
    gold = {page.page_id: page for page in read_gold(options.gold)}
    chance = random.Random(options.seed)
    archives, places = [], {}
    for site in find_sites(options.sites):
        names = [file.relative_to(site.folder).as_posix() for file in site.files]
        if not any(f"{site.name}/{name}" in gold for name in names):
            continue
        order = chance.sample(range(len(names)), len(names))
        host = f"{site.name.replace('_', '-')}.example"
        pages = [(f"https://{host}/{names[index]}", site.files[index]) for index in order]
        file = folder / f"{site.name}.warc.gz"
        write_warc(file, ((url, page.read_bytes()) for url, page in pages))
        archives.append(str(file))
        places |= {
            url: (place, gold[f"{site.name}/{names[index]}"])
            for place, ((url, _), index) in enumerate(zip(pages, order, strict=True))
            if f"{site.name}/{names[index]}" in gold
        }
    rows: list[list[Any]] = []
    for name, run in RUNS.items():
        say(f"{name}: {len(places)} gold pages of {len(archives)} sites")
        output = folder / f"gold {name}"
        run(archives, output, Options(model=options.model, duplicates=False)).run()
        scores = [
            (places[row["url"]][0], page_accuracy(row["text"], places[row["url"]][1], options.unit).f1)
            for row in rows_of(output)
            if row["url"] in places
        ]
        first = [f1 for place, f1 in scores if place < 10]
        rows.append([name, float(np.mean(first)), float(np.mean([f1 for _, f1 in scores])), len(scores)])
    return rows


if __name__ == "__main__":
    main()
