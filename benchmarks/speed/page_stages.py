"""What a page costs, stage by stage, on one core, next to lxml's parse of the same page and to other extractors.

    python -m benchmarks.speed.page_stages [PAGES_DIR] [--sample 200] [--repeat 3] [--model NAME|FILE]

Without a folder the pages are those of the demo web. Every stage runs --repeat times on a page newly parsed, and the
fastest run counts, in processor time. It starts with empty memos, as on the first page of a site. A row has the median
over pages of its milliseconds, their mean, and the median of its ratio to lxml's parse of the same page in UTF-8,
whatever parses it for Tamis; all extractors get bytes, and find out the charset. Below it the
memory of the page nearest to 5,000 elements: the most that Python allocated at once, and the growth of the process, its
tree included; and that for three pages made of 90,000 elements, and for one that reaches both default limits.
"""

from __future__ import annotations

import gc
import multiprocessing
import statistics
import tracemalloc
from collections import defaultdict
from functools import cache
from pathlib import Path
from time import thread_time
from typing import TYPE_CHECKING, Any, Final

from lxml import etree
from threadpoolctl import threadpool_limits

from benchmarks.shared.common import html_files, pages_or_demo_web, process_megabytes
from benchmarks.shared.peers import peers
from scrapy_tamis.commands.common import with_progress
from tamis import Page, PageTooLarge, clean, load_model
from tamis.fingerprints import node_fingerprints
from tamis.memo import Memo
from tamis.output.text import text_of_blocks
from tamis.page.parsing import decode
from tamis.smoothing import smooth
from tamis_papers.experiments.harness import parser_of, say, table, write_json

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from tamis.models import Model

NODES: Final = 5_000
PARSE: Final = "lxml parse"
READ: Final = "HTML to arrays"
WHOLE: Final = "Tamis, arrays to text"
EVERYTHING: Final = "Tamis, HTML to text"
WORST: Final = {
    "paragraphs": "<body>" + "<p>x" * 89_990,
    "lists of links": "<body>" + "<li class='a b'><a href='/x'>A link</a><p>and some words, more." * 29_990,
    "nested": "<body>" + ("<div><p>x " * 300 + "</div>" * 300) * 149,
    "16 MB of paragraphs": "<body>" + ("<p>" + "some words, more and more. " * 6)[:161] * 99_000,
}


def main() -> None:
    """Time every stage on every page and print the table."""
    parser = parser_of(__doc__)
    parser.add_argument("pages", type=Path, nargs="?", metavar="PAGES_DIR", help="folder of HTML files (demo web)")
    parser.add_argument("--sample", type=int, default=200, metavar="N", help="pages, evenly spread (%(default)s)")
    parser.add_argument("--repeat", type=int, default=3, metavar="N", help="runs, the fastest counts (%(default)s)")
    parser.add_argument("--model", metavar="MODEL", help="model (default: the package's)")
    parser.add_argument("--no-peers", action="store_true", help="Tamis alone")
    options = parser.parse_args()
    with pages_or_demo_web(options.pages) as options.pages:
        _measure(options)


def _measure(options: argparse.Namespace) -> None:
    model = load_model(options.model)
    with threadpool_limits(1):  # one core is one thread of the matrix library, too
        times = _times(options, model)
    parse = times[PARSE]
    figures: dict[str, Any] = {"model": model.version, "pages": len(parse), "stages": {}}
    rows = []
    for name, seconds in times.items():
        ratio = statistics.median(stage / base for stage, base in zip(seconds, parse, strict=True))
        middle = statistics.median(seconds) * 1000
        mean = statistics.fmean(seconds) * 1000
        rows.append([name, f"{middle:.2f}", f"{mean:.2f}", f"{ratio:.2f}"])
        figures["stages"][name] = {"median_ms": middle, "mean_ms": mean, "median_ratio": ratio}
    print(table(["stage", "median ms", "mean ms", "parses"], rows))

    for peer in ("trafilatura", "resiliparse"):
        if peer in times:
            pairs = list(zip(times[peer], times[EVERYTHING], strict=True))
            faster = statistics.median(theirs / own for theirs, own in pairs)
            of_means = statistics.fmean(times[peer]) / statistics.fmean(times[EVERYTHING])
            print(
                f"HTML to text, {faster:.2f} times as fast as {peer} by the median over pages, {of_means:.2f} by means."
            )
            figures[f"times_as_fast_as_{peer}"] = {"median": faster, "of_means": of_means}
    figures["memory"] = memory = _memory(html_files(options.pages), options.model)
    print(
        f"\nMemory of a page of {memory['nodes']:,} elements: {memory['python_mb']:.1f} MB of Python"
        f" objects and arrays at most, the process grew by {memory['process_mb']:.1f} MB."
    )
    figures["worst_mb"] = worst = {name: _apart(_growth_of, WORST[name], options.model) for name in WORST}
    print("Growth for the largest pages: " + ", ".join(f"{name} {mb:.0f} MB" for name, mb in worst.items()) + ".")
    write_json(options, figures)


def _times(options: argparse.Namespace, model: Model) -> dict[str, list[float]]:
    """Seconds by stage, one number a page."""
    others = {} if options.no_peers else peers()
    times: dict[str, list[float]] = defaultdict(list)
    for file in with_progress(html_files(options.pages, options.sample), "pages"):
        html = file.read_bytes()
        url = f"https://example.org/{file.relative_to(options.pages).as_posix()}"
        try:
            runs = [_stages(html, url, model) for _ in range(options.repeat)]
        except PageTooLarge:
            say(f"{file.name} is above the caps and left out")
            continue
        for name in runs[0]:
            times[name].append(min(run[name] for run in runs))
        for name, extract in others.items():
            best = float("inf")
            for _ in range(options.repeat):
                start = thread_time()
                extract(html)
                best = min(best, thread_time() - start)
            times[name].append(best)
    return times


def _stages(html: bytes, url: str, model: Model) -> dict[str, float]:
    """Seconds of each stage on one page."""
    _forget()
    body = decode(html).encode("utf-8", "replace")
    marks = [thread_time()]
    etree.fromstring(body, etree.HTMLParser(recover=True, huge_tree=True, encoding="utf-8"))
    marks.append(thread_time())
    page = Page.parse(html, url)
    marks.append(thread_time())
    node_fingerprints(page)
    marks.append(thread_time())
    scores = model.score(page)
    marks.append(thread_time())
    smoothed = smooth(page.unit_parent, scores)
    marks.append(thread_time())
    choice = scores.decision.choose(smoothed.value[page.n :], scope="auto", favor="balanced")
    marks.append(thread_time())
    template = smoothed.value >= choice.threshold
    text_of_blocks(page, ~template[page.n :])
    marks.append(thread_time())
    names = (PARSE, READ, "fingerprint", "features and score", "smooth", "decide", "strip to text")
    stages = {name: end - begin for name, begin, end in zip(names, marks, marks[1:], strict=False)}

    _forget()
    start = thread_time()
    cleaned = clean(html, url, model=model)
    stages[EVERYTHING] = thread_time() - start
    stages[WHOLE] = stages[EVERYTHING] - stages[READ]
    start = thread_time()
    _ = cleaned.html
    written = thread_time()
    _ = cleaned.markdown
    stages["clean HTML, on request"] = written - start
    stages["Markdown, on request"] = thread_time() - written
    return stages


def _forget() -> None:
    """Empty every memo of the process, as at a cold start."""
    for memo in _memos():
        memo.clear()


@cache
def _memos() -> list[Memo[Any, Any]]:
    """Find the memos, once: a search through all objects would leave nothing of the page in the processor's caches."""
    return [each for each in gc.get_objects() if isinstance(each, Memo)]


def _memory(files: list[Path], model: str | None) -> dict[str, float]:
    """Measure the page that comes nearest to 5,000 elements by its start tags, in processes of its own."""

    def start_tags(file: Path) -> int:
        html = file.read_bytes()
        return html.count(b"<") - html.count(b"</") - html.count(b"<!")

    file = min(files, key=lambda file: abs(start_tags(file) - NODES))
    python_mb, nodes = _apart(_python_peak, file, model)
    return {"nodes": nodes, "python_mb": python_mb, "process_mb": _apart(_growth_of, file, model)}


def _apart(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function in a process that has done nothing else."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(function, arguments)


def _python_peak(file: Path, name: str | None) -> tuple[float, int]:
    model = load_model(name)
    clean("<p>something</p>" * 100, model=model)  # what is loaded once stays out of it
    html = file.read_bytes()
    tracemalloc.start()
    cleaned = clean(html, model=model)
    peak = tracemalloc.get_traced_memory()[1]
    assert cleaned.status == "cleaned"
    return peak / 1e6, Page.parse(html).n


def _growth_of(html: str | bytes | Path, name: str | None) -> float:
    """Megabytes that the process grows by while it cleans a page."""
    model = load_model(name)
    clean("<p>something</p>" * 100, model=model)
    source = html.read_bytes() if isinstance(html, Path) else html
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the high-water mark starts anew
    before = process_megabytes("VmRSS")
    clean(source, model=model)
    return process_megabytes("VmHWM") - before


if __name__ == "__main__":
    main()
