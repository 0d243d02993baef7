"""Facts about pages: headline, authors, dates, language and image, next to trafilatura and htmldate.

    python -m benchmarks.accuracy.metadata GOLD PAGES_DIR [--marked benchmarks/gold/facts.jsonl]
    python -m benchmarks.accuracy.metadata DATA --marked benchmarks/gold/site_facts.jsonl [--counted 5]

With ``--marked``, authors and dates are those that were marked by hand, and headlines the titles of the gold file.
Without, what at least two of JSON-LD, OpenGraph, microdata and other ``meta`` elements say, and none contradicts, is
right (a last change on the day of publication is left out). Each extractor reads the page without these marks: what
readers see, addresses and pictures are left.
GOLD may be a folder of pages, too; then PAGES_DIR is left out, and marks name pages by their paths in it. With
``--counted``, Tamis also reads each page of a site with so many others counted, at random.

Precision is over what an extractor answers, recall over what is right. A date is right if the day or the moment is, a
name if its words are all in the other or the reverse, a headline if nine words of ten are the same, a language by its
first part.
Milliseconds are processor time per page, the parse included.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter, defaultdict
from datetime import datetime
from pathlib import Path
from time import thread_time
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, unquote

import tamis
from benchmarks.shared.common import html_files, installed
from scrapy_tamis.commands.common import with_progress
from tamis.metadata import read_metadata
from tamis.metadata.dates import iso_date
from tamis.metadata.facts import SOURCES
from tamis.page.page import Page
from tamis.page.parsing import decode
from tamis_papers.experiments.harness import parser_of, table, write_json

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

    Facts = dict[str, Any]
    Extractor = Callable[[str, str | None], Facts]

_HOST: Final = "https://site.invalid/"
FACTS: Final = ("headline", "authors", "published", "modified", "language", "image")
_MARKS: Final = re.compile(
    r"<script[^>]*ld\+json.*?</script>|<meta\b(?![^>]*(?:charset|http-equiv|og:image|twitter:image|og:url))[^>]*>"
    r"""|\bitemprop\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>]+)""",
    re.DOTALL | re.IGNORECASE,
)


def _tamis(html: str, url: str | None) -> Facts:
    return read_metadata(Page.parse(html, url)).to_dict()


def _trafilatura(html: str, url: str | None) -> Facts:
    from trafilatura import extract_metadata  # noqa: PLC0415

    found = extract_metadata(html, default_url=url)
    authors = (found.author or "").split("; ")
    return {"headline": found.title, "authors": authors, "published": found.date, "image": found.image}


def _htmldate(html: str, url: str | None) -> Facts:
    from htmldate import find_date  # noqa: PLC0415

    return {"published": find_date(html, url=url, original_date=True), "modified": find_date(html, url=url)}


def main() -> None:
    """Read every page with every extractor and print the table."""
    parser = parser_of(__doc__)
    parser.add_argument("gold", type=Path, metavar="GOLD", help="gold pages, .jsonl, or a folder of pages")
    parser.add_argument("pages", type=Path, nargs="?", metavar="PAGES_DIR", help="folder with their HTML, <id>.html")
    parser.add_argument("--marked", type=Path, metavar="FILE", help="facts marked by hand")
    parser.add_argument("--counted", type=int, default=0, metavar="N", help="pages counted of each site")
    options = parser.parse_args()
    peers = {"trafilatura": _trafilatura, "htmldate": _htmldate}
    extractors: dict[str, Extractor] = {"Tamis": _tamis} | {name: peers[name] for name in installed(*peers)}
    if options.counted:
        extractors[f"{options.counted} pages counted"] = _with_counts(options.gold, options.counted)
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    seconds: dict[str, float] = defaultdict(float)
    pages = 0
    for url, file, marked in with_progress(list(_pages(options)), "pages"):
        html = decode(file.read_bytes())
        right = marked or _agreed(Page.parse(html, url))
        if not right:
            continue
        pages += 1
        given = html if marked else _MARKS.sub("", html)
        for extractor, extract in extractors.items():
            begin = thread_time()
            try:
                found = extract(given, url)
            except Exception:
                if extractor == "Tamis":
                    raise
                found = {}
            seconds[extractor] += thread_time() - begin
            for fact in right.keys() & set(FACTS):
                hits, answered, stated = compare(fact, found.get(fact), right[fact])
                counts[extractor].update({f"{fact} hits": hits, f"{fact} answered": answered, f"{fact}": stated})
    rows = []
    for name, counted in counts.items():
        cells = [_ratios(counted[f"{fact} hits"], counted[f"{fact} answered"], counted[fact]) for fact in FACTS]
        rows.append([name, *cells, f"{1000 * seconds[name] / pages:.1f}"])
    totals = ", ".join(f"{fact} {counts['Tamis'][fact]:,}" for fact in FACTS)
    print(f"{pages:,} pages; stated: {totals}; precision / recall:")
    print(table(["", *FACTS, "milliseconds"], rows))
    write_json(options, {name: dict(counted) for name, counted in counts.items()})


def _with_counts(folder: Path, number: int) -> Extractor:
    """An extractor that cleans a page with other pages of its site counted; addresses are paths in a folder."""
    sites: dict[str, tamis.Site] = {}

    def extract(html: str, url: str | None) -> Facts:
        collection, site, *_ = (url or "").removeprefix(_HOST).split("/")
        if site not in sites:
            counted = sites[site] = tamis.Site()
            files = html_files(folder / unquote(collection) / unquote(site)) if len(_) else []
            for file in random.Random(0).sample(files, min(number, len(files))):
                counted.count(decode(file.read_bytes()), _address(folder, file))
        return tamis.clean(html, url=url, site=sites[site]).metadata.to_dict()

    return extract


def _address(folder: Path, file: Path) -> str:
    """Address of a file of a folder, on a host that is none."""
    return _HOST + quote(file.relative_to(folder).as_posix())


def _ratios(hits: int, answered: int, stated: int) -> str:
    return f"{hits / answered:.3f} / {hits / stated:.3f}" if hits else "-"


def _pages(options: argparse.Namespace) -> Iterator[tuple[str | None, Path, Facts | None]]:
    """Yield the address and file of each page, and what was marked of it."""
    marked: dict[str, Facts] = {}
    if options.marked:
        with options.marked.open(encoding="utf-8") as lines:
            marked = {facts["page"]: facts for facts in map(json.loads, lines)}
    if options.pages is None:
        files = [options.gold / page for page in marked] if marked else html_files(options.gold)
        for file in files:
            facts = marked.get(file.relative_to(options.gold).as_posix())
            yield _address(options.gold, file) if facts else None, file, facts
        return
    with options.gold.open(encoding="utf-8") as lines:
        gold = [page for page in map(json.loads, lines) if not marked or page["id"] in marked]
    for page in gold:
        facts = marked.get(page["id"])
        if facts and page.get("title"):
            facts["headline"] = page["title"]
        yield page.get("url"), options.pages / f"{page['id']}.html", facts


def _agreed(page: Page) -> Facts:
    """What at least two kinds of marks say, and none contradicts."""
    found: dict[str, list[Any]] = defaultdict(list)
    for source in ("json-ld", "opengraph", "microdata", "meta"):
        for fact, value in SOURCES[source](page).items():
            if fact in FACTS and value and (fact not in {"published", "modified"} or iso_date(value)):
                found[fact].append(iso_date(value) if fact in {"published", "modified"} else value)
    agreed = {
        fact: values[0]
        for fact, values in found.items()
        if len(values) > 1 and all(len(set(compare(fact, values[0], value))) == 1 for value in values)
    }
    if compare("published", agreed.get("modified"), agreed.get("published"))[0]:
        del agreed["modified"]
    return agreed


def compare(fact: str, found: Any, right: Any) -> tuple[int, int, int]:
    """Count hits, what was answered, and what was to be answered."""
    found, right = ([x for x in (v if isinstance(v, list) else [v]) if x] for v in (found, right))
    hits = sum(any(_is_same(fact, one, other) for other in found) for one in right)
    return min(hits, len(found)), len(found), len(right)


def _is_same(fact: str, one: str, other: str) -> bool:
    if fact in {"published", "modified"}:
        moments = [datetime.fromisoformat(text) for text in (one, other)]
        return one[:10] == other[:10] or (all(moment.tzinfo for moment in moments) and moments[0] == moments[1])
    if fact == "language":
        return re.split("[-_]", one.lower())[0] == re.split("[-_]", other.lower())[0]
    if fact == "image":
        return re.sub(r"^https?:|[?#].*", "", one) == re.sub(r"^https?:|[?#].*", "", other)
    ours, theirs = (Counter(re.findall(r"\w+", text.lower())) for text in (one, other))
    shared = (ours & theirs).total()
    if fact == "authors":
        return 0 < shared >= min(ours.total(), theirs.total())
    return shared >= 0.9 * max(ours.total(), theirs.total())


if __name__ == "__main__":
    main()
