"""Speed and collisions of fingerprints.

    python -m benchmarks.speed.fingerprints [FOLDER] [--sample 60]

With a folder of HTML files: time per page, as a ratio to the lxml parse of the same page, with caches cold (each page
the first of its site) and warm, and the number of different units that share a fingerprint. Without one, collisions
among synthetic trees made to be alike: siblings swapped, tags alternating, one level or one sibling more.
"""

from __future__ import annotations

import argparse
import itertools
import time
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from winnow.fingerprints import UNSEEN, node_fingerprints, text_fingerprints
from winnow.memo import forget
from winnow.page.page import Limits, Page, PageTooLarge
from winnow.page.parsing import decode, parse_html
from winnow.page.tree import within

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


def main() -> None:
    """Run the benchmark and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, help="HTML files, searched recursively")
    parser.add_argument("--sample", type=int, default=60, help="files to take, evenly spread (default: %(default)s)")
    parser.add_argument("--repeat", type=int, default=3, help="the best of so many runs counts (default: %(default)s)")
    options = parser.parse_args()
    if options.folder is None:
        collisions(synthetic_pages())
        return
    files = sorted(file for file in options.folder.rglob("*") if file.suffix.lower() in {".html", ".htm"})
    if not files:
        parser.error(f"no HTML files in {options.folder}")
    files = files[:: max(1, len(files) // options.sample)][: options.sample]
    documents = [file.read_bytes() for file in files]
    urls = [f"https://example.org/{file.relative_to(options.folder).as_posix()}" for file in files]
    speed(documents, urls, options.repeat)
    collisions(pages(documents, urls))


def pages(documents: list[bytes], urls: list[str]) -> Iterator[Page]:
    """Parse documents one at a time, leaving out those above the caps."""
    for html, url in zip(documents, urls, strict=True):
        try:
            yield Page.parse(html, url)
        except PageTooLarge:
            continue


def speed(documents: list[bytes], urls: list[str], repeat: int) -> None:
    """Print milliseconds of processor time per page and the ratio to the parse; every page is parsed just before."""
    tasks: list[tuple[str, Callable[[Page], object], bool]] = [
        ("markup fingerprints, caches cold", node_fingerprints, True),
        ("markup fingerprints, caches warm", node_fingerprints, False),
        ("text fingerprints", text_fingerprints, False),
    ]
    best: dict[str, list[float]] = {}
    elements = 0
    for html, url in zip(documents, urls, strict=True):
        text = decode(html)
        for name, task, cold in tasks:
            runs = [_timed(text, url, task, cold) for _ in range(repeat)]
            best.setdefault("lxml parse", []).append(min(parse for parse, _, _ in runs) / len(tasks))
            best.setdefault(name, []).append(min(taken for _, taken, _ in runs))
        elements += runs[0][2]
    parse = sum(best["lxml parse"])
    print(f"{len(documents)} pages, {elements // len(documents)} elements on average")
    for name, taken in best.items():
        print(f"{name:34}{sum(taken) / len(documents) * 1000:8.2f} ms  {sum(taken) / parse:.2f}")


def _timed(text: str, url: str, task: Callable[[Page], object], cold: bool) -> tuple[float, float, int]:
    """Seconds of the parse and of the task, and the number of elements."""
    start = time.process_time()
    root = parse_html(text)
    parsed = time.process_time() - start
    page = Page.from_tree(root, url, limits=Limits(max_nodes=10**9))
    if cold:
        forget()
    else:
        task(Page.from_tree(root, url, limits=Limits(max_nodes=10**9)))
    start = time.process_time()
    task(page)
    return parsed, time.process_time() - start, page.n


def collisions(sources: Iterable[Page]) -> None:
    """Count units that share a fingerprint though their texts (for markup: or the trees below them) differ."""
    by_text: dict[int, str] = {}
    by_markup: dict[int, str] = {}
    units = wrong_text = wrong_markup = 0
    for page in sources:
        markup, text = node_fingerprints(page), text_fingerprints(page)
        begin = [*page.run_begin.tolist(), *page.block_run_begin.tolist()]
        end = [*page.run_end.tolist(), *page.block_run_end.tolist()]
        seen = ~within(page, UNSEEN[page.tag])
        shape = [(int(tag), int(depth)) for tag, depth in zip(page.tag, page.depth, strict=True)]
        for unit in range(page.n + page.m):
            letters = "".join("".join(page.runs[begin[unit] : end[unit]]).casefold().split())
            below = range(unit, page.end[unit] if unit < page.n else unit)
            tree = [(shape[i][0], shape[i][1] - shape[unit][1]) for i in below if seen[i]]
            content = blake2b(f"{tree} {letters}".encode("utf-8", "replace")).hexdigest()
            units += 1
            if text[unit]:
                wrong_text += by_text.setdefault(int(text[unit]), letters) != letters
            if markup[unit]:
                wrong_markup += by_markup.setdefault(int(markup[unit]), content) != content
    print(f"{units:,} units, {len(by_markup):,} markup and {len(by_text):,} text fingerprints")
    print(f"collisions: {wrong_markup} of markup, {wrong_text} of text; 64 bits allow {units**2 / 2**65:.0e} by chance")


def synthetic_pages() -> Iterator[Page]:
    """Trees that differ by as little as can be: one pair of siblings swapped, one text moved, one level more."""
    words = [f"word {k}" for k in range(64)]
    for a, b in itertools.combinations(range(64), 2):
        swapped = list(words)
        swapped[a], swapped[b] = swapped[b], swapped[a]
        yield Page.parse("<ul>" + "".join(f"<li>{word}</li>" for word in swapped) + "</ul>")
    for depth in range(1, 100):
        yield Page.parse("<div>" * depth + "x" + "</div>" * depth)
    for size in range(1, 200):
        yield Page.parse("<div>" + "<p>x</p>" * size + "</div>")
    for bits in range(1 << 10):
        yield Page.parse("<div>" + "".join("<b>x</b>" if bits >> k & 1 else "<i>x</i>" for k in range(10)) + "</div>")


if __name__ == "__main__":
    main()
