"""Pages per second of a crawl over loopback: bare Scrapy, with Tamis, and with trafilatura in an item pipeline.

    python -m benchmarks.speed.crawl_speed [--pages 2000] [--rounds 3] [--processes 1]

The demo web is served by a process of its own. Every crawl is one `scrapy` process over all its pages that stores
address, title and text of each; Tamis counts in its private Valkey, which starts empty, and cleans in the crawl's own
process or in as many beside it as --processes says. The spider is the project's own, which follows the links it finds.
Rounds alternate between the kinds, and the medians count. *Processor* is the time of the crawl's own process per page,
its start included, without that of other processes. The report at the end of a crawl is off.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any, Final

from itemadapter import ItemAdapter

from benchmarks.shared.common import installed
from benchmarks.shared.crawls import QUICK, ROOT, crawl_command
from benchmarks.shared.peers import trafilatura_text
from demo.hosts import BUILDERS
from demo.server import DemoWeb
from tamis_papers.experiments.harness import parser_of, say, table, write_json

_BARE: Final = "bare Scrapy"
_TRAFILATURA: Final = {"ADDONS": "{}", "ITEM_PIPELINES": '{"benchmarks.speed.crawl_speed.TrafilaturaPipeline": 100}'}
_STAT: Final = re.compile(r"'(item_scraped_count|elapsed_time_seconds|tamis/items/\w+)': ([\d.]+)")


class TrafilaturaPipeline:
    """What people do today: the text of each item by trafilatura."""

    def process_item(self, item: Any) -> Any:
        """Fill the text."""
        adapter = ItemAdapter(item)
        adapter["text"] = trafilatura_text(adapter.pop("html"))
        return item


def main() -> None:
    """Run the crawls and print the table."""
    parser = parser_of(__doc__)
    parser.add_argument("--pages", type=int, default=2000, metavar="N", help="pages (%(default)s)")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="crawls of each kind (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="another seed, other pages (%(default)s)")
    parser.add_argument(
        "--processes", type=int, nargs="*", default=[1], metavar="N", help="cleaning processes of further crawls (1)"
    )
    options = parser.parse_args()

    per_host = -(-options.pages // len(BUILDERS))
    kinds = _kinds(options.processes)
    speeds: dict[str, list[float]] = {kind: [] for kind in kinds}
    processor: dict[str, list[float]] = {kind: [] for kind in kinds}
    stored: dict[str, int] = {}
    with tempfile.TemporaryDirectory(prefix="tamis-speed-") as folder:
        say(f"writing a web of {len(BUILDERS)} hosts with {per_host} pages each")
        with DemoWeb(Path(folder, "web"), options.seed, per_host) as web:
            urls = Path(folder, "urls.txt")
            urls.write_text("\n".join(web.urls.values()), encoding="utf-8")
            for round_number in range(options.rounds):
                for kind, settings in kinds.items():
                    stats = _crawl(Path(folder, f"{kind}-{round_number}"), urls, per_host, settings)
                    stored[kind] = int(stats["item_scraped_count"])
                    speeds[kind].append(stored[kind] / stats["elapsed_time_seconds"])
                    processor[kind].append(1_000 * stats["processor_seconds"] / stored[kind])
                    say(
                        f"round {round_number + 1}, {kind}: {stored[kind]} pages, {speeds[kind][-1]:.0f} a second, "
                        f"{processor[kind][-1]:.1f} ms of the processor each"
                    )
    bare, own = median(speeds[_BARE]), median(processor[_BARE])
    rows = [
        [
            *(kind, stored[kind], f"{median(rates):.0f}", f"{median(rates) / bare:.2f}"),
            *(f"{median(processor[kind]):.1f}", f"{median(processor[kind]) / own:.2f}"),
        ]
        for kind, rates in speeds.items()
    ]
    print(table(["crawl", "pages stored", "pages a second", "of bare", "processor, ms a page", "of bare"], rows))
    write_json(options, {"pages": stored, "pages_per_second": speeds, "processor_ms_per_page": processor})


def _kinds(processes: list[int]) -> dict[str, dict[str, object]]:
    """Settings of the crawls by name."""
    kinds: dict[str, dict[str, object]] = {_BARE: {"ADDONS": "{}"}, "with Tamis": {"TAMIS_PROCESSES": 0}}
    kinds |= {f"with Tamis, {number} beside it": {"TAMIS_PROCESSES": number} for number in processes}
    return kinds | ({"with trafilatura": dict(_TRAFILATURA)} if installed("trafilatura") else {})


def _crawl(folder: Path, urls: Path, per_host: int, settings: dict[str, object]) -> dict[str, float]:
    """Run one crawl and return its stats."""
    folder.mkdir()
    log = folder / "crawl.log"
    settings = (
        QUICK
        | settings
        | {
            "LOG_FILE": log,
            "TAMIS_STATE_DIR": folder / "state",
            "FEED_EXPORT_FIELDS": "url,title,text",
            "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
        }
    )
    command = crawl_command(urls, folder / "items.jsonl", settings, "crawl", "site", "-a", f"pages={per_host}")
    # Where nothing is written beside the modules, each process of a crawl would compile them all.
    environment = {**os.environ, "TAMIS_REDIS_URL": "", "PYTHONDONTWRITEBYTECODE": ""}
    with subprocess.Popen(command, cwd=ROOT, env=environment) as crawl:
        os.waitid(os.P_PID, crawl.pid, os.WEXITED | os.WNOWAIT)
        processor_seconds = _processor_seconds(crawl.pid)
    stats = {name: float(value) for name, value in _STAT.findall(log.read_text(encoding="utf-8"))}
    if crawl.returncode or "item_scraped_count" not in stats:
        sys.exit(f"the crawl ended with {crawl.returncode}:\n{log.read_text(encoding='utf-8')[-2_000:]}")
    return {**stats, "processor_seconds": processor_seconds}


def _processor_seconds(process: int) -> float:
    """Processor time of a process that has ended and was not waited for, without that of its children."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
