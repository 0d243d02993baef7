"""What a crawl teaches: a model refitted after a crawl against the model before it, on the labels of other sites.

    python -m benchmarks.accuracy.learning SITES_DIR DEV_DIR [--sites 40] [--pages 40] [--rest]

So many sites of SITES_DIR are served on loopback, each under its own name, and crawled with WINNOW_LEARN on and a
private Valkey that starts empty. The examples that are there after the crawl refit a model, as `winnow learn` does,
with four fifths of the hosts. Then the models are measured on the site-level labels of DEV_DIR, whose sites taught
nobody.

The shipped self-taught model has learned from all of SITES_DIR, if that is what it was trained on: the crawl shows it
nothing new. With --rest a model is trained on the sites that were not crawled and is refitted, too, as a crawl of new
hosts would.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median
from threading import Thread
from typing import TYPE_CHECKING, Final, cast
from urllib.parse import unquote, urlsplit

import numpy as np
from redis import Redis

from benchmarks.shared.common import parser_of, say, table, write_json
from scrapy_winnow.learning.collection import Collection, Collector
from scrapy_winnow.learning.examples import FEATURE_VERSION
from scrapy_winnow.learning.teaching import example_of
from scrapy_winnow.storage.embedded import EmbeddedServer
from scrapy_winnow.storage.evidence import HashedPage, SiteEvidence
from scrapy_winnow.storage.keys import LearningKeys
from winnow import load_model
from winnow.page.page import Page
from winnow.training.blocks import measured
from winnow.training.examples import BlockPage, label_sites
from winnow.training.networks import train_block_model
from winnow.training.refitting import compared, refit
from winnow.training.sites import Site, find_sites

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping, Sequence

    from winnow.models.networks import BlockPerceptron

ROOT: Final = Path(__file__).resolve().parents[2]
_TIMED: Final = 60  # pages


def main() -> None:
    """Crawl, refit, measure and print."""
    parser = parser_of(__doc__ or "")
    parser.add_argument("sites_dir", type=Path, metavar="SITES_DIR", help="sites to crawl, one folder a site")
    parser.add_argument("dev_dir", type=Path, metavar="DEV_DIR", help="sites to measure on")
    parser.add_argument("--sites", type=int, default=40, metavar="N", help="sites to crawl (%(default)s)")
    parser.add_argument("--pages", type=int, default=40, metavar="N", help="pages of each (%(default)s)")
    parser.add_argument(
        "--model",
        action="append",
        metavar="MODEL",
        help="model to refit, more than once for several (blocks-self-taught)",
    )
    parser.add_argument("--rest", action="store_true", help="refit a model of the sites that are not crawled, too")
    parser.add_argument("--seed", type=int, default=5)
    options = parser.parse_args()

    sites = find_sites(options.sites_dir)
    order = np.random.default_rng(options.seed).permutation(len(sites)).tolist()
    crawled, rest = ([sites[number] for number in part] for part in (order[: options.sites], order[options.sites :]))
    say(f"cost of an example: {cost(crawled):.2f} parses of the same page")
    collection = crawl(crawled, options)
    say("reading the sites to measure on")
    dev = label_sites(find_sites(options.dev_dir), seed=options.seed)

    rows: list[list[object]] = []
    for name in options.model or ["blocks-self-taught"]:
        before = cast("BlockPerceptron", load_model(name))
        rows += compare(Path(name).stem, before, collection, dev)
    say("training on the examples alone")
    rows.append(row("examples alone", train_block_model([], collection.fitted, seed=options.seed), dev))
    if options.rest:
        say(f"training on the {len(rest)} sites that were not crawled")
        before = train_block_model([], label_sites(rest, seed=options.seed, pages_per_site=10), seed=options.seed)
        rows += compare(f"{len(rest)} other sites", before, collection, dev)
    headings = ["model", "text F1 by labels", "AUC", "recall at precision 0.90"]
    print(table(headings, rows))
    write_json(options, {"rows": rows})


def compare(name: str, before: BlockPerceptron, collection: Collection, dev: Sequence[BlockPage]) -> list[list[object]]:
    """Refit a model, and measure both; say what a learner would have made of it."""
    begun = time.monotonic()
    after = refit(before, collection.fitted)
    say(f"refitting {name} took {time.monotonic() - begun:.0f} s")
    comparison = compared(after, before, collection.held_out)
    if comparison is not None:
        say(
            f"on {collection.held_out_hosts} crawled hosts held out: AUC {comparison.candidate.auc:.4f} (was "
            f"{comparison.parent.auc:.4f}), mean gain {comparison.gain:+.4f}, standard error {comparison.error:.4f}: "
            f"{'published' if comparison.is_better(0.002) else 'not published'}"
        )
    return [row(name, before, dev), row(f"{name}, refitted", after, dev)]


def row(name: str, model: BlockPerceptron, dev: Sequence[BlockPage]) -> list[object]:
    """Figures of a model on the labels of the sites to measure on."""
    figures = measured([(model, dev)])
    assert figures is not None
    found: list[object] = [name, figures.content_f_measure, figures.auc, figures.recall_at_precision_90]
    say(f"{name}: F1 {found[1]:.4f}, AUC {found[2]:.4f}, recall {found[3]:.4f}")
    return found


def cost(sites: Sequence[Site]) -> float:
    """Time to make an example, in parses of the same page, median over some pages."""
    ratios = []
    for number in range(_TIMED):
        site = sites[number % len(sites)]
        html = site.files[number % len(site.files)].read_bytes()
        parse, make = [], []
        for _ in range(3):
            begun = time.perf_counter()
            page = Page.parse(html)
            parsed = time.perf_counter()
            hashed = HashedPage.of(page)
            hash_made = time.perf_counter()
            example_of(hashed, SiteEvidence(np.ones(len(hashed.units), np.int64), 40, 0, counted=True))
            make.append(time.perf_counter() - hash_made)
            parse.append(parsed - begun)
        ratios.append(min(make) / min(parse))
    return median(ratios)


def crawl(sites: Sequence[Site], options: argparse.Namespace) -> Collection:
    """Crawl some pages of each site with learning on, and return the examples."""
    chance = np.random.default_rng(options.seed)
    chosen = [[site.url(site.files[n]) for n in chance.permutation(len(site.files))[: options.pages]] for site in sites]
    urls = [url for turn in range(options.pages) for of_site in chosen for url in of_site[turn : turn + 1]]
    files = {_address(site.url(file)): file for site in sites for file in site.files}
    with tempfile.TemporaryDirectory(prefix="winnow-learning-") as name:
        folder = Path(name)
        (folder / "urls.txt").write_text("\n".join(url.replace("https:", "http:", 1) for url in urls), encoding="utf-8")
        begun = time.monotonic()
        with serving(files) as proxy:
            command = [sys.executable, "-m", "scrapy", "runspider", str(ROOT / "benchmarks" / "shared" / "listed.py")]
            command += ["-a", f"urls_file={folder / 'urls.txt'}"]
            for setting in (
                "WINNOW_LEARN=1",
                f"WINNOW_STATE_DIR={folder / 'state'}",
                f"LOG_FILE={folder / 'log'}",
                "AUTOTHROTTLE_ENABLED=0",
                "ROBOTSTXT_OBEY=0",
                "CONCURRENT_REQUESTS=8",
            ):
                command += ["-s", setting]
            subprocess.run(command, cwd=ROOT, env={**os.environ, "http_proxy": proxy, "no_proxy": ""}, check=True)
        seconds = time.monotonic() - begun
        log = (folder / "log").read_text(encoding="utf-8")
        for line in log.splitlines():
            if "'winnow/" in line:
                say(line.strip())
        with EmbeddedServer(folder / "state") as server, Redis.from_url(server.url) as client:
            collector = Collector(client, LearningKeys.of("winnow", FEATURE_VERSION))
            extent, collection = collector.extent(), collector.read()
        number = len(collection.fitted) + len(collection.held_out)
        say(
            f"{len(urls):,} pages of {len(sites)} sites in {seconds:.0f} s; {number} examples of {extent.hosts} hosts, "
            f"{extent.bytes / max(number, 1):,.0f} bytes each"
        )
        return collection


def _address(url: str) -> tuple[str, str]:
    """Host and path as they are asked for: host names have no case, and paths may be quoted."""
    parts = urlsplit(url)
    return parts.netloc.lower(), unquote(parts.path)


@contextmanager
def serving(files: Mapping[tuple[str, str], Path]) -> Iterator[str]:
    """Serve files by their addresses, as an HTTP proxy on loopback, so that every site has its own name."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            file = files.get(_address(self.path))
            body = file.read_bytes() if file is not None else b""
            self.send_response(200 if file is not None else 404)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing of single requests."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


if __name__ == "__main__":
    main()
