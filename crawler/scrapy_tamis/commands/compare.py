"""``tamis compare``: Tamis beside other extractors on your own pages, in the browser or as tables."""

from __future__ import annotations

import webbrowser
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy_tamis.commands.common import (
    FAILED,
    CommandError,
    CommandParser,
    load_model_option,
    page_address,
    report_errors,
    warn,
    with_progress,
)
from scrapy_tamis.commands.inspect import add_browser_options, serve
from scrapy_tamis.fetching import InputError, parse_readable
from scrapy_tamis.inspector.documents import Documents, LinesFile
from tamis import Site

if TYPE_CHECKING:
    import argparse

    from scrapy_tamis.inspector.comparison import Comparison

HELP = """\
show your pages as Tamis and other extractors read them, side by side
Compares with those of trafilatura, readability-lxml and resiliparse that are installed, each with its default options.
The browser shows the texts side by side and marks words that differ. Click the best text, or press the number of its
column. --votes keeps the votes; the tally is printed at the end.

examples:
  tamis compare pages/
  tamis compare pages/ --blind                  names are shown after the vote
  tamis compare mirror/host.example --site      Tamis counts what the pages of the folder repeat
  tamis compare https://host.example/story
  tamis compare pages/ --terminal               words and times as tables
"""


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
    add = parser.add
    add("source PAGE_OR_FOLDER", "HTML file, folder of them, WARC file or address")
    add("--url URL", "address of the page, or of the folder", type=page_address)
    add("--site", "the pages are of one site: count first what they repeat")
    add("--model MODEL", "model file, or name of a model of the package")
    add("--votes FILE", "file for the votes (default: %(default)s)", default=Path("votes.jsonl"))
    add("--blind", "hide the names until you vote")
    add("--terminal", "print tables (default without a browser)")
    add_browser_options(parser)


def run(options: argparse.Namespace) -> int:
    """Serve the pages side by side, or print the tables."""
    from scrapy_tamis.inspector.comparison import Comparison, find_extractors, missing_peers

    if missing := missing_peers():
        warn(f"not compared with {', '.join(missing)}: pip install {' '.join(missing)}")
    try:
        with report_errors(f"--url {options.url}: " if options.url else ""):
            documents = Documents(options.source, options.url, obey_robots=True)
        model = load_model_option(options)
        site = Site(model=model) if options.site else None
        if site is not None:
            for page in parse_readable(with_progress(range(len(documents)), "pages counted"), documents.read):
                site.count(page)
        extractors, failed = find_extractors(model, site)
        for name, error in failed.items():
            warn(f"not compared with {name}, which fails: {error}")
        with report_errors(f"--votes {options.votes}: "):
            votes = LinesFile(options.votes, "page", "vote")
        if len(documents) == 1:
            documents.read(0)
        comparison = Comparison(documents, extractors, votes, options.blind)
        has_browser = options.no_browser  # it is the user's business then
        with suppress(webbrowser.Error):
            has_browser = has_browser or bool(webbrowser.get())
        if options.terminal or not has_browser:
            return _print_tables(comparison)
    except InputError as error:
        raise CommandError(f"{options.source}: {error}") from error
    try:
        return serve(comparison, options)
    finally:
        print(comparison.tally())


def _print_tables(comparison: Comparison) -> int:
    """Print the words and the time of each page, and their sums."""
    heading = f"{'':18}{'words':>9}{'only here':>11}{'ms':>9}"
    sums = {name: [0.0] * 3 for name in comparison.extractors}
    failed = 0
    for number, name in enumerate(comparison.documents.names):
        try:
            results, _ = comparison.results(number)
        except (InputError, OSError) as error:
            warn(f"{name}: {error}")
            failed += 1
            continue
        print(f"{name}\n{heading}")
        for extractor, result in results.items():
            values = (result.words, result.only, result.milliseconds)
            sums[extractor] = [total + value for total, value in zip(sums[extractor], values, strict=True)]
            print(
                f"{extractor:18}{result.words:9,}{result.only:11,}{result.milliseconds:9.1f}  {result.error}".rstrip()
            )
    if failed == len(comparison.documents):
        return FAILED  # each page has its message; a table of zeros would say that nobody finds text
    print(f"all pages\n{heading}")
    for extractor, (words, only, milliseconds) in sums.items():
        print(f"{extractor:18}{words:9,.0f}{only:11,.0f}{milliseconds:9.1f}")
    return FAILED if failed else 0
