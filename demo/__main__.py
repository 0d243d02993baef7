"""``make demo``: crawls the demo web with cleaning on and shows what came out."""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import tamis
from demo.crawl import crawl
from demo.report import host_table, is_twin, read_items
from demo.server import DemoWeb
from demo.web import DEFAULT_SEED

if TYPE_CHECKING:
    from collections.abc import Callable

DEFAULT_FOLDER = Path(".tamis/demo")
DEFAULT_PAGES = 24
_LISTINGS = 50
_MADE = ("web", "state", "hosts.txt", "items.jsonl", "crawl.log", "report.html")
_QUIET_SECONDS = 2.0
_WIDTH, _STORY_LENGTH = 90, 1500


def main() -> int:
    """Generate, serve, crawl, report.

    Returns:
        The exit code: 0, 1 where the crawl failed, 2 for a folder of something else, or 130 where it was interrupted.
    """
    parser = argparse.ArgumentParser(prog="python -m demo", description=__doc__)
    parser.add_argument("--folder", type=Path, default=DEFAULT_FOLDER, help="where to leave everything (%(default)s)")
    parser.add_argument("--pages", type=int, default=DEFAULT_PAGES, help="content pages per host (%(default)s)")
    parser.add_argument("--seed", type=int, default=DEFAULT_SEED, help="another seed, other pages (%(default)s)")
    options = parser.parse_args()
    folder = options.folder.resolve()
    if not _clear(folder):
        sys.stderr.write(f"{_short(folder)} holds something that is not of a demo: give another --folder\n")
        return 2
    _say(f"Writing a web of six hosts with {options.pages} content pages each into {_short(folder / 'web')} ...")
    with DemoWeb(folder / "web", options.seed, options.pages) as web:
        _say("Serving it on loopback and crawling it with: scrapy crawl site -a urls_file=hosts.txt -O items.jsonl")
        try:
            seconds = crawl(web.urls.values(), folder, options.pages + _LISTINGS, _progress(web))
        except RuntimeError as error:
            sys.stderr.write(f"\nThe crawl failed: {error}\n")
            return 1
        except KeyboardInterrupt:
            sys.stderr.write("\nStopped.\n")
            return 130
        items = read_items(folder / "items.jsonl")
        _say("\n")
        _say(host_table(web, items))
        _say("* Fraction of its words, over the later half of a host's pages; the web was written with the truth.")
        _say(f"{len(items)} pages in {seconds:.1f} s: {len(items) / seconds:.0f} pages per second.")
        if twin := next(filter(is_twin, items), None):
            _say(f"One story in two templates, for example:\n  {twin['url']}\n  {twin['duplicate_of']}")
        _show_page(web, items)
    scrapy = _short(Path(sys.executable).with_name("scrapy"))
    _say(
        f"\nItems: {_short(folder / 'items.jsonl')}   Log: {_short(folder / 'crawl.log')}\n"
        f"On a site of your own:  {scrapy} crawl site -a url=https://example.org/ -a pages=50 -O items.jsonl\n"
        'In a project of your own:  ADDONS = {"scrapy_tamis.Addon": 500}\n'
        f"The report of this crawl, open it in a browser:  {folder / 'report.html'}"
    )
    return 0


def _clear(folder: Path) -> bool:
    """Remove what a demo left in a folder, or make it; return ``False`` for a folder of something else."""
    folder.mkdir(parents=True, exist_ok=True)
    mark = folder / ".demo"
    if any(folder.iterdir()) and not mark.exists():
        return False
    for made in map(folder.joinpath, _MADE):
        shutil.rmtree(made) if made.is_dir() else made.unlink(missing_ok=True)
    mark.touch()
    return True


def _progress(web: DemoWeb) -> Callable[[float], None]:
    """Return what prints how far the crawl is: one line that is rewritten, or now and then a line into a file."""
    live = sys.stdout.isatty()
    printed = 0.0

    def show(seconds: float) -> None:
        nonlocal printed
        if not live and time.monotonic() - printed < _QUIET_SECONDS:
            return
        printed = time.monotonic()
        asked = sum(len(web.requests(name)) for name in web.urls)
        line = f"  {seconds:5.1f} s  {f'{asked:4} requests answered' if asked else 'Scrapy is starting'}"
        sys.stdout.write(f"\r{line}" if live else f"{line}\n")
        sys.stdout.flush()

    return show


def _show_page(web: DemoWeb, items: list[dict[str, Any]]) -> None:
    """Print a story of the newspaper, what was cut marked and in grey."""
    stories = [item for item in items if web.host(item["url"]) == "news"]
    item = min(stories, key=lambda item: abs(len(item["text"]) - _STORY_LENGTH))
    html = web.sites["news"].resources[urlsplit(item["url"]).path].body
    grey, plain = ("\33[90m", "\33[0m") if sys.stdout.isatty() else ("", "")
    _say(f"\nOne page, {item['template_share']:.0%} of it cut:\n")
    at = 0

    def is_kept_next(block: tamis.Segment) -> bool:
        nonlocal at
        found: int = item["text"].find(block.text, at)
        at = at if found < 0 else found + len(block.text)
        return found >= 0

    for is_kept, blocks in groupby(tamis.clean(html).blocks, is_kept_next):
        lines = [" ".join(block.text.split()) for block in blocks]
        for line in lines if is_kept else [" | ".join(lines)]:
            short = line if len(line) < _WIDTH else line[: _WIDTH - 3] + "..."
            _say(f"       {short}" if is_kept else f"{grey}[cut]  {short}{plain}")


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def _short(path: Path) -> str:
    """Return a path relative to the current folder where it lies below it."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


if __name__ == "__main__":
    sys.exit(main())
