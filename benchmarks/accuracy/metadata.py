"""Facts about pages against what their publishers say in JSON-LD, which is hidden from everybody.

    python -m benchmarks.accuracy.metadata GOLD PAGES_DIR [--no-peers]

Of the pages whose JSON-LD states it, the share whose date, author and headline each extractor finds in the rest of the
page. A date is right if the day is, an author if one of those found is one of those stated, a headline if nine words of
ten are the same. Milliseconds are processor time per page, the parse included. Newspaper is measured where newspaper4k
is installed.
"""

from __future__ import annotations

import re
from collections import Counter
from importlib.util import find_spec
from time import thread_time
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.shared.common import add_gold_arguments, gold_pages, parser_of, shown, table, write_json
from winnow.metadata import metadata_of
from winnow.metadata.json_ld import json_ld_facts
from winnow.metadata.values import iso_date
from winnow.page.page import Page
from winnow.page.parsing import decode

if TYPE_CHECKING:
    from collections.abc import Callable


class Found(NamedTuple):
    """Date, authors and headline; ``None`` or empty where there is none."""

    published: str | None
    authors: list[str]
    headline: str | None


_JSON_LD = re.compile(r"<script[^>]*ld\+json.*?</script>", re.DOTALL | re.IGNORECASE)


def _winnow(html: str, url: str | None) -> Found:
    facts = metadata_of(Page.parse(html, url))
    return Found(facts.published, facts.authors, facts.headline)


def _trafilatura(html: str, url: str | None) -> Found:
    from trafilatura import extract_metadata  # noqa: PLC0415

    found = extract_metadata(html, default_url=url)
    return Found(found.date, (found.author or "").split("; "), found.title)


def _newspaper(html: str, url: str | None) -> Found:
    from newspaper import Article  # noqa: PLC0415

    article = Article(url or "http://host.example/")
    article.download(input_html=html)
    article.parse()
    date = article.publish_date.isoformat() if article.publish_date else None
    return Found(date, list(article.authors), article.title)


def main() -> None:
    """Read every page with every extractor and print the table."""
    parser = parser_of(__doc__)
    add_gold_arguments(parser)
    parser.add_argument("--no-peers", action="store_true", help="Winnow alone")
    options = parser.parse_args()
    extractors: dict[str, Callable[[str, str | None], Found]] = {"Winnow": _winnow}
    if not options.no_peers:
        peers = {"trafilatura": _trafilatura, "newspaper": _newspaper}
        extractors |= {name: extract for name, extract in peers.items() if find_spec(name)}
    right = {name: Counter[str]() for name in extractors}
    seconds = Counter[str]()
    stated: Counter[str] = Counter()
    pages = 0
    for gold, body in shown(gold_pages(options), "pages"):
        html = decode(body)
        wanted = _stated(Page.parse(html, gold.url))
        if not any(wanted):
            continue
        pages += 1
        stated.update(name for name, value in wanted._asdict().items() if value)
        hidden = _JSON_LD.sub("", html)
        for name, extract in extractors.items():
            begin = thread_time()
            try:
                found = extract(hidden, gold.url)
            except Exception:
                found = Found(None, [], None)
            seconds[name] += thread_time() - begin
            right[name].update(_right(found, wanted))
    rows = [
        [
            name,
            *(f"{right[name][fact] / max(stated[fact], 1):.3f}" for fact in Found._fields),
            f"{1000 * seconds[name] / pages:.1f}",
        ]
        for name in extractors
    ]
    print(f"{pages:,} pages with JSON-LD; stated: " + ", ".join(f"{fact} {stated[fact]:,}" for fact in Found._fields))
    print(table(["", *Found._fields, "milliseconds"], rows))
    write_json(options, {name: dict(counts) for name, counts in right.items()} | {"stated": dict(stated)})


def _stated(page: Page) -> Found:
    facts = json_ld_facts(page)
    return Found(iso_date(facts.get("published")), facts.get("authors") or [], facts.get("headline"))


def _right(found: Found, wanted: Found) -> list[str]:
    right = []
    if found.published and wanted.published and found.published[:10] == wanted.published[:10]:
        right.append("published")
    if {_words(name) for name in found.authors} & {_words(name) for name in wanted.authors} - {""}:
        right.append("authors")
    if found.headline and wanted.headline:
        ours, theirs = Counter(_words(found.headline).split()), Counter(_words(wanted.headline).split())
        if sum((ours & theirs).values()) >= 0.9 * max(ours.total(), theirs.total()):
            right.append("headline")
    return right


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


if __name__ == "__main__":
    main()
