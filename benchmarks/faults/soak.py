"""A long crawl in which everything goes wrong, against the same crawl undisturbed.

    python -m benchmarks.faults.soak [--pages 50000] [--hosts 300] [--folder DIR] [--plot docs/images/soak.svg]

Workers that share one Valkey crawl a web of many hosts over real HTTP. Each of them is killed with 9 and started again
--kills times at random, Valkey is killed with 9 once and comes back with its data, and --redesigned hosts have another
design from the middle on. Started again after whatever end, on the same folder, the command goes on where it was.

At the end every page has to be stored exactly once. The pages that came while Redis was away are asked for again, and
then the counts of all nodes of all hosts have to be those of the undisturbed crawl; for that, hosts do not settle, and
their tables have room. The F1 of the texts, word by word, may differ by .002 at most. The memory of a worker may be a
tenth larger in the last quarter of the crawl than in the second. The exit code is 1 if something is not so.

With --settle hosts settle and forget as they do by default; their counts are then not compared.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

import redis

from benchmarks.faults.long_crawl.checks import (
    Samples,
    Stored,
    counts_differing,
    memory_growth,
    samples_of,
    text_f1,
    uncounted,
)
from benchmarks.faults.long_crawl.crawl import Crawl, Trouble
from benchmarks.faults.long_crawl.web import ServedWeb, make_web
from benchmarks.shared.common import parser_of, say, table, write_json
from benchmarks.shared.plots import Panel, add_plot_argument, draw
from scrapy_winnow.storage.keys import site_of

if TYPE_CHECKING:
    import argparse

F1_TOLERANCE: Final = 0.002
MOST_GROWTH: Final = 1.1
_SETTINGS: Final = {
    "AUTOTHROTTLE_ENABLED": 0,
    "CONCURRENT_REQUESTS": 16,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 8,
    "FEED_EXPORT_FIELDS": "url,text",
    "LOG_LEVEL": "INFO",
    "ROBOTSTXT_OBEY": 0,
    "WINNOW_REPORT": "",
}
_EXACT: Final = {"WINNOW_SETTLE_PAGES": 0, "WINNOW_HOST_PAGES": 32_767, "WINNOW_HOST_BUDGET": 1_000_000}


def main() -> int:
    """Crawl twice, compare, print the table."""
    options = _options()
    folder: Path = options.folder
    folder.mkdir(parents=True, exist_ok=True)
    _check_plan(folder / "plan.json", options)
    per_host = options.pages // options.hosts
    if not (folder / "web").exists():
        say(f"making {options.hosts * per_host:,} pages of {options.hosts} hosts")
        make_web(folder / "web", options.hosts, per_host, options.redesigned)
    shares = _shares(folder / "web", options.workers)
    urls = [url for share in shares for url in share]
    settings = _SETTINGS | ({} if options.settle else _EXACT)
    trouble = Trouble.at_random([len(share) for share in shares], options.kills, options.seed)
    disturbed = Crawl(folder / "disturbed", shares, settings, trouble=trouble)
    quiet = Crawl(folder / "undisturbed", shares, settings)
    with ServedWeb(folder / "web") as web:
        for crawl in (disturbed, quiet):
            crawl.run(web.proxy)
        with disturbed.server as server, redis.Redis.from_url(server.url) as client:
            missed = [] if options.settle else uncounted(client, urls)
        if missed:
            say(f"asking again for {len(missed)} pages that are not counted")
            Crawl(folder / "again", [missed], settings, server=disturbed.server).run(web.proxy)
    return _report(options, disturbed, quiet, urls, len(missed))


def _options() -> argparse.Namespace:
    parser = parser_of(__doc__ or "")
    parser.add_argument("--pages", type=int, default=50_000, metavar="N", help="pages of all hosts (%(default)s)")
    parser.add_argument("--hosts", type=int, default=300, metavar="N", help="(%(default)s)")
    parser.add_argument("--redesigned", type=int, default=20, metavar="N", help="hosts redesigned (%(default)s)")
    parser.add_argument("--workers", type=int, default=4, metavar="N", help="(%(default)s)")
    parser.add_argument("--kills", type=int, default=10, metavar="N", help="of each worker (%(default)s)")
    parser.add_argument("--settle", action="store_true", help="let hosts settle, with the default settings")
    parser.add_argument("--seed", type=int, default=1, help="of the kills (%(default)s)")
    folder = Path(tempfile.gettempdir(), "winnow-soak")
    parser.add_argument("--folder", type=Path, default=folder, metavar="DIR", help="to go on in (%(default)s)")
    add_plot_argument(parser)
    return parser.parse_args()


def _check_plan(file: Path, options: argparse.Namespace) -> None:
    """Keep the plan of a folder, and refuse to go on there with another."""
    names = ("pages", "hosts", "redesigned", "workers", "kills", "settle", "seed")
    plan = {name: getattr(options, name) for name in names}
    if file.exists() and (kept := json.loads(file.read_text(encoding="utf-8"))) != plan:
        sys.exit(f"{file.parent} holds a soak of other numbers: {kept}; remove it or give another --folder")
    file.write_text(json.dumps(plan), encoding="utf-8")


def _shares(web: Path, workers: int) -> list[list[str]]:
    """The addresses of each worker: all of them have pages of all hosts, page after page of a host."""
    with (web / "index.jsonl").open(encoding="utf-8") as lines:
        pages = sorted((page["number"], page["host"], page["url"]) for page in map(json.loads, lines))
    return [[url for number, host, url in pages if (number + host) % workers == worker] for worker in range(workers)]


def _report(options: argparse.Namespace, disturbed: Crawl, quiet: Crawl, urls: list[str], missed: int) -> int:
    crawls = {"disturbed": disturbed, "undisturbed": quiet}
    stored = {name: Stored.of(crawl, urls) for name, crawl in crawls.items()}
    truth = options.folder / "web" / "truth.jsonl"
    f1 = {name: text_f1(crawl, truth) for name, crawl in crawls.items()}
    samples = {name: samples_of(crawl) for name, crawl in crawls.items()}
    growth = memory_growth(samples["undisturbed"])
    errors = {
        name: sum(_errors(worker.items.with_name("log")) for worker in crawl.workers) for name, crawl in crawls.items()
    }
    nodes, differing = _differing(disturbed, quiet, urls) if not options.settle else (0, 0)
    rows: list[list[object]] = [
        ["pages, hosts", *([f"{len(urls):,}, {options.hosts}"] * 2)],
        ["pages without an item", *(each.missing for each in stored.values())],
        ["items too many", *(each.too_many for each in stored.values())],
        [
            "workers killed -9; Redis killed -9",
            *(f"{sum(c.progress.kills)}; {c.progress.restarts}" for c in crawls.values()),
        ],
        ["errors in the logs", *errors.values()],
        ["seconds", *(round(crawl.progress.seconds) for crawl in crawls.values())],
        ["text F1", *(f"{each:.4f}" for each in f1.values())],
        ["largest memory of a worker, MB", *(round(_largest(each)) for each in samples.values())],
        ["data in Redis at the end, MB", *(round(each[-1]["redis"]) for each in samples.values())],
    ]
    if not options.settle:
        rows.insert(5, ["pages not counted at first, asked for again", missed, None])
        rows.insert(6, ["nodes counted; of these otherwise than undisturbed", f"{nodes:,}; {differing}", None])
    print(table(["", *crawls], rows))
    print(f"\nmemory of a worker, last quarter to second quarter of the undisturbed crawl: {growth:.3f}")
    if options.plot:
        draw(options.plot, _panels(samples))
    fails = {
        "a page is missing": any(each.missing for each in stored.values()),
        "a page is there twice": any(each.too_many for each in stored.values()),
        "counts differ": differing > 0,
        "the text F1 differs": abs(f1["disturbed"] - f1["undisturbed"]) > F1_TOLERANCE,
        "memory grows": growth > MOST_GROWTH,
        "there are errors in the logs": any(errors.values()),
    }
    for text in (text for text, fail in fails.items() if fail):
        say(f"FAILED: {text}")
    write_json(options, {"table": rows, "growth": growth, "failed": [text for text, fail in fails.items() if fail]})
    return int(any(fails.values()))


def _differing(disturbed: Crawl, quiet: Crawl, urls: list[str]) -> tuple[int, int]:
    hosts = sorted({str(site_of(url)) for url in urls})
    with (
        disturbed.server as one,
        quiet.server as other,
        redis.Redis.from_url(one.url) as here,
        redis.Redis.from_url(other.url) as there,
    ):
        return counts_differing(here, there, hosts)


def _largest(samples: Samples) -> float:
    return max(max(sample["workers"], default=0.0) for sample in samples)


def _errors(log: Path) -> int:
    with log.open(encoding="utf-8", errors="replace") as lines:
        return sum("] ERROR: " in line or "] CRITICAL: " in line for line in lines)


def _panels(samples: dict[str, Samples]) -> list[Panel]:
    workers = {
        name: [(sample["pages"], max(sample["workers"], default=0.0)) for sample in each]
        for name, each in samples.items()
    }
    data = {name: [(sample["pages"], sample["redis"]) for sample in each] for name, each in samples.items()}
    return [
        Panel("pages stored", "largest worker, MB", workers, {}, marked=False),
        Panel("pages stored", "data in Redis, MB", data, {}, marked=False),
    ]


if __name__ == "__main__":
    sys.exit(main())
