"""A long crawl in which everything goes wrong, against the same crawl undisturbed.

    python -m benchmarks.faults.soak [--pages 50000] [--hosts 300] [--folder DIR] [--plot docs/images/soak.svg]

Workers that share one Valkey crawl a web of many hosts over real HTTP. Each of them is killed with 9 and started again
--kills times at random, Valkey is killed with 9 once and comes back with its data, and --redesigned hosts have another
design from the middle on. Started again after whatever end, on the same folder, the command goes on where it was.

At the end every page has to be stored exactly once. The pages that came while Redis was away are asked for again, and
then the counts of all nodes of all hosts have to be those of the undisturbed crawl; for that, hosts do not settle, and
their tables have room. The F1 of the texts, word by word, may differ by .002 at most. The memory of a worker may be a
tenth larger in the last quarter of the crawl than in the second. The exit code is 1 if something is not so.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import redis
from scrapy import Request
from scrapy.utils.request import RequestFingerprinter

from benchmarks.faults.soak_crawl import Crawl, ServedWeb, Trouble, make_web, urls_of
from benchmarks.shared.common import svg_figure
from benchmarks.shared.counting import counted_nodes, counted_pages
from benchmarks.shared.crawls import QUICK
from demo.truth import words
from scrapy_tamis.storage.evidence import page_id_of
from scrapy_tamis.storage.keys import host_keys, site_of
from tamis_papers.experiments.harness import parser_of, say, table, write_json

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

Samples = list[dict[str, Any]]

_SETTINGS: Final = QUICK | {
    "CONCURRENT_REQUESTS": 16,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 8,
    "FEED_EXPORT_FIELDS": "url,text",
    "TAMIS_SETTLE_PAGES": 0,
    "TAMIS_HOST_BUDGET": 1_000_000,
}


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
    trouble = Trouble.at_random([len(share) for share in shares], options.kills, options.seed)
    disturbed = Crawl(folder / "disturbed", shares, _SETTINGS, trouble=trouble)
    quiet = Crawl(folder / "undisturbed", shares, _SETTINGS)
    with ServedWeb(folder / "web") as web:
        for crawl in (disturbed, quiet):
            crawl.run(web.proxy)
        with disturbed.server as server, redis.Redis.from_url(server.url) as client:
            missed = uncounted(client, urls)
        if missed:
            say(f"asking again for {len(missed)} pages that are not counted")
            Crawl(folder / "again", [missed], _SETTINGS, server=disturbed.server).run(web.proxy)
    return _report(options, disturbed, quiet, urls, len(missed))


def _options() -> argparse.Namespace:
    parser = parser_of(__doc__)
    parser.add_argument("--pages", type=int, default=50_000, metavar="N", help="pages of all hosts (%(default)s)")
    parser.add_argument("--hosts", type=int, default=300, metavar="N", help="(%(default)s)")
    parser.add_argument("--redesigned", type=int, default=20, metavar="N", help="hosts redesigned (%(default)s)")
    parser.add_argument("--workers", type=int, default=4, metavar="N", help="(%(default)s)")
    parser.add_argument("--kills", type=int, default=10, metavar="N", help="of each worker (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the kills (%(default)s)")
    folder = Path(tempfile.gettempdir(), "tamis-soak")
    parser.add_argument("--folder", type=Path, default=folder, metavar="DIR", help="to go on in (%(default)s)")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw memory and data there as SVG, too")
    return parser.parse_args()


def _check_plan(file: Path, options: argparse.Namespace) -> None:
    """Keep the plan of a folder, and refuse to go on there with another."""
    names = ("pages", "hosts", "redesigned", "workers", "kills", "seed")
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
    missing, extra = zip(*(missing_and_extra(crawl, urls) for crawl in crawls.values()), strict=True)
    truth = options.folder / "web" / "truth.jsonl"
    f1 = {name: text_f1(crawl, truth) for name, crawl in crawls.items()}
    samples = {name: samples_of(crawl) for name, crawl in crawls.items()}
    growth = memory_growth(samples["undisturbed"])
    errors = {
        name: sum(_errors(worker.items.with_name("log")) for worker in crawl.workers) for name, crawl in crawls.items()
    }
    nodes, differing = counts_differing(disturbed, quiet, urls)
    rows: list[list[object]] = [
        ["pages, hosts", *([f"{len(urls):,}, {options.hosts}"] * 2)],
        ["pages without an item", *missing],
        ["items too many", *extra],
        [
            "workers killed -9; Redis killed -9",
            *(f"{sum(c.progress.kills)}; {c.progress.restarts}" for c in crawls.values()),
        ],
        ["errors in the logs", *errors.values()],
        ["pages not counted at first, asked for again", missed, None],
        ["nodes counted; of these otherwise than undisturbed", f"{nodes:,}; {differing}", None],
        ["seconds", *(round(crawl.progress.seconds) for crawl in crawls.values())],
        ["text F1", *(f"{each:.4f}" for each in f1.values())],
        ["largest memory of a worker, MB", *(round(_largest(each)) for each in samples.values())],
        ["data in Redis at the end, MB", *(round(each[-1]["redis"]) for each in samples.values())],
    ]
    print(table(["", *crawls], rows))
    print(f"\nmemory of a worker, last quarter to second quarter of the undisturbed crawl: {growth:.3f}")
    if options.plot:
        _draw(options.plot, samples)
    fails = {
        "a page is missing": any(missing),
        "a page is there twice": any(extra),
        "counts differ": differing > 0,
        "the text F1 differs": abs(f1["disturbed"] - f1["undisturbed"]) > 0.002,
        "memory grows": growth > 1.1,
        "there are errors in the logs": any(errors.values()),
    }
    for text in (text for text, fail in fails.items() if fail):
        say(f"FAILED: {text}")
    write_json(options, {"table": rows, "growth": growth, "failed": [text for text, fail in fails.items() if fail]})
    return int(any(fails.values()))


def _largest(samples: Samples) -> float:
    return max((max(sample["workers"], default=0.0) for sample in samples), default=0.0)


def _errors(log: Path) -> int:
    with log.open(encoding="utf-8", errors="replace") as lines:
        return sum("] ERROR: " in line or "] CRITICAL: " in line for line in lines)


def _draw(file: Path, samples: dict[str, Samples]) -> None:
    """Draw the memory of the largest worker and the data in Redis, by pages stored."""
    with svg_figure(file, 9.2, 3.4) as figure:
        for axes, label, key in zip(
            figure.subplots(1, 2), ("largest worker, MB", "data in Redis, MB"), ("workers", "redis"), strict=True
        ):
            for name, each in samples.items():
                values = [max(sample["workers"], default=0.0) if key == "workers" else sample[key] for sample in each]
                axes.plot([sample["pages"] for sample in each], values, label=name, linewidth=1.4)
            axes.set(xlabel="pages stored", ylabel=label)
            axes.legend(frameon=False)


def missing_and_extra(crawl: Crawl, urls: Sequence[str]) -> tuple[int, int]:
    """Pages of the web that have no item, and items beyond the first of a page or of no page at all."""
    found = Counter(url for worker in crawl.workers for url in urls_of(worker.items))
    return len(set(urls) - found.keys()), found.total() - len(found.keys() & set(urls))


def text_f1(crawl: Crawl, truth: Path) -> float:
    """F1 of the words of all texts against those that are content."""
    with truth.open(encoding="utf-8") as lines:
        content = {page["url"]: words(page["content"]) for page in map(json.loads, lines)}
    common = kept = 0
    for worker in crawl.workers:
        with worker.items.open(encoding="utf-8") as lines:
            for item in map(json.loads, lines):
                found = words(item.get("text") or "")
                common += (found & content[item["url"]]).total()
                kept += found.total()
    return 2 * common / (kept + sum(each.total() for each in content.values()))


def uncounted(client: redis.Redis, urls: Sequence[str]) -> list[str]:
    """The pages that are not among those counted: Redis was away when they came, or another had the same contents."""
    fingerprint = RequestFingerprinter().fingerprint
    counted: dict[str, set[bytes]] = {}
    for host in {str(site_of(url)) for url in urls}:
        counted[host] = set(counted_pages(client, host))
    return [url for url in urls if page_id_of(fingerprint(Request(url))) not in counted[str(site_of(url))]]


def counts_differing(disturbed: Crawl, quiet: Crawl, urls: Sequence[str]) -> tuple[int, int]:
    """Nodes that are counted, and those whose counts differ between two crawls; a host's pages count as a node."""
    nodes = differing = 0
    with disturbed.server as here, quiet.server as there:
        clients: list[Any] = [redis.Redis.from_url(server.url) for server in (here, there)]
        for host in {str(site_of(url)) for url in urls}:
            state = host_keys("tamis", host).state
            one, other = (counted_nodes(each, host) | {b"pages": each.hget(state, "pages") or b"0"} for each in clients)
            nodes += len(one.keys() | other.keys())
            differing += sum(one.get(key) != other.get(key) for key in one.keys() | other.keys())
    return nodes, differing


def memory_growth(samples: Samples) -> float:
    """By how much the largest memory of a worker has grown from the second quarter of the pages to the last."""
    last = samples[-1]["pages"]

    def largest(begin: float, end: float) -> float:
        return _largest([sample for sample in samples if begin * last <= sample["pages"] <= end * last])

    before = largest(0.25, 0.5)
    return largest(0.75, 1) / before if before else float("nan")


def samples_of(crawl: Crawl) -> Samples:
    """The samples of a crawl's memory, in the order of time."""
    with (crawl.folder / "memory.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


if __name__ == "__main__":
    sys.exit(main())
