"""``tamis inspect``: a page beside its clean content, in the browser."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy_tamis.commands.common import (
    CommandError,
    CommandParser,
    add_model_options,
    add_server_options,
    connect_to,
    find_server,
    page_address,
    report_errors,
    warn,
    write_output,
)
from scrapy_tamis.fetching import InputError, reason
from scrapy_tamis.inspector.documents import CountedReplay, Documents, FolderReplay, GoldFile, Replay, RulesFile
from scrapy_tamis.storage.keys import host_keys, site_of
from tamis import load_model
from tamis.folders import page_files

if TYPE_CHECKING:
    import argparse

    from scrapy_tamis.inspector.comparison import Comparison
    from scrapy_tamis.inspector.inspector import Inspector

HELP = """\
show pages beside their clean content in the browser, with the reasons, and try other settings
Left the page, each section in the colour of its kind; right its text, Markdown, HTML and item. The card of a section
explains its score: before and after smoothing, how many pages of the site have its text, which features weighed most.
The key ? lists the keys.

No script of the page runs and nothing is loaded, except images and style sheets with --load-assets. The server listens
on 127.0.0.1 only, at an address that cannot be guessed.

examples:
  tamis inspect page.html
  tamis inspect https://host.example/story --load-assets
  tamis inspect page.html -o page-inspected.html           one file to send, nothing else is needed to open it
  tamis inspect mirror/host.example                        all pages of a site, with a slider for the pages seen
  tamis inspect page.html --site mirror/host.example
  tamis inspect crawl.warc.gz --url https://host.example/   the pages of one host of a WARC file
  tamis inspect https://host.example/story                 in a project: with what its crawls have counted
  tamis inspect https://host.example/story --pages 0       and without
  tamis inspect mirror/host.example --collect gold.jsonl   mark what is wrong: your own gold set
  tamis train sites/ --gold gold.jsonl -o mine.npz         and train with it
  tamis inspect page.html --model mine.npz
"""


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
    add = parser.add
    add("source PAGE", "HTML file, folder of them, WARC file, address, or - for standard input")
    add("--url URL", "address of the page or the folder", type=page_address)
    add_model_options(parser, many=True)
    add("--site DIR", "pages of the same site (default: PAGE, if it holds several)")
    add("--pages N", "pages of the site to count at first (default: all that a crawl has counted, else 0)", type=int)
    add("--page N", "number or name of the page to show first", default="1")
    add_server_options(parser)
    add("--rules FILE", "file of rules to apply; clicks add rules to it")
    add("--collect FILE", ".jsonl file for corrections, as gold pages")
    add("--load-assets", "let the page load its images, fonts and style sheets")
    add("-o --output OUT", "write one self-contained HTML file and exit", type=Path)
    add_browser_options(parser)


def run(options: argparse.Namespace) -> int:
    """Write the file, or serve until interrupted."""
    source = options.source
    try:
        with report_errors():
            inspector = _open_inspector(options)
            number = _page_number(inspector, options.page)
            if options.output is not None or len(inspector.documents) == 1:
                source = inspector.documents.names[number]
                inspector.page(number)
            for model in options.model:
                load_model(model)
    except InputError as error:
        raise CommandError(f"{source}: {error}") from error
    if options.output is not None:
        folders = [Path(given) for given in (options.source, options.site) if given is not None]
        inputs = [file for each in folders for file in (page_files(each) if each.is_dir() else [each])]
        inputs += filter(None, (options.rules, options.collect, *options.model))
        write_output(options.output, inspector.render(number, server=False), inputs)
        return 0
    return serve(inspector, options, f"?page={number}" if number else "")


def add_browser_options(parser: CommandParser) -> None:
    """Add the options of views in the browser."""
    parser.add("--port PORT", "port to listen on (default: any free one)", default=0)
    parser.add("--no-browser", "only print the address")


def serve(view: Inspector | Comparison, options: argparse.Namespace, query: str = "") -> int:
    """Serve a view until interrupted."""
    from scrapy_tamis.inspector.server import InspectorServer

    try:
        server = InspectorServer(view, options.port)
    except (OSError, OverflowError) as error:
        raise CommandError(f"--port {options.port}: {reason(error)}") from error
    with server:
        print(server.url + query, flush=True)
        if not options.no_browser:
            warn("opening it in the browser; Ctrl+C ends")
            webbrowser.open(server.url + query)
        server.thread.join()
    return 0


def _open_inspector(options: argparse.Namespace) -> Inspector:
    from scrapy_tamis.inspector.inspection import Trial
    from scrapy_tamis.inspector.inspector import Inspector

    documents = Documents(options.source, options.url)
    replay = _open_replay(options, documents)
    with report_errors("--rules "):
        rules = None if options.rules is None else RulesFile(options.rules)
    pages = replay.pages if options.pages is None and isinstance(replay, CountedReplay) else options.pages or 0
    first = Trial(next(iter(options.model), None), pages=max(pages, 0), favor=options.favor, scope=options.scope)
    return Inspector(documents, first, options.model, replay, _open_gold(options), options.load_assets, rules)


def _open_replay(options: argparse.Namespace, documents: Documents) -> Replay | None:
    """Return the counts in Redis if one is given, else of the other pages of the site, else of the project here."""
    if options.redis_url is not None or options.state_dir is not None:
        return _read_counts(options, documents)
    if options.site is not None:
        try:
            documents = Documents(str(options.site), options.url)
        except InputError as error:
            raise CommandError(f"--site {options.site}: {error}") from error
        if not documents.is_one_site:
            raise CommandError(f"--site: neither a folder nor a WARC file: {options.site}")
    elif not documents.is_one_site:
        return _read_own_counts(options, documents)
    return FolderReplay(documents)


def _read_own_counts(options: argparse.Namespace, documents: Documents) -> Replay | None:
    """Return what the crawls of the project here have counted of the host of a page, if they have."""
    if site_of(documents.read(0).url or "") is None:
        return None
    try:
        return _read_counts(options, documents)
    except CommandError as error:
        warn(f"without the counts of a crawl: {error}")
        return None


def _read_counts(options: argparse.Namespace, documents: Documents) -> Replay | None:
    """Return what a crawl has counted of the host of the first page."""
    from scrapy_tamis.storage.clients import without_secrets
    from scrapy_tamis.storage.hosts import HostRecords

    if not find_server(options):
        return None
    with connect_to(options.redis_url, options.state_dir) as client:
        host = site_of(documents.read(0).url or "")
        if host is None:
            raise CommandError("the counts are those of a host: give the page's address with --url")
        labels = HostRecords(client, options.prefix).labels_of(host, every=True)
        ids: Any = client.get(host_keys(options.prefix, host).guard) or b""
    where = without_secrets(options.redis_url) if options.redis_url else options.state_dir
    if labels is None:
        warn(f"no page of {host} has been counted in {where}")
        return None
    warn(f"with what {where} has counted of {host}; --pages 0 shows the page alone")
    return CountedReplay(labels, frozenset(ids[at : at + 8] for at in range(0, len(ids), 8)))


def _open_gold(options: argparse.Namespace) -> GoldFile | None:
    if options.collect is None:
        return None
    if options.collect.suffix != ".jsonl":
        raise CommandError(f"--collect: the name must end in .jsonl: {options.collect}")
    with report_errors(f"--collect {options.collect}: "):
        return GoldFile(options.collect)


def _page_number(inspector: Inspector, page: str) -> int:
    names = inspector.documents.names
    if page in names:
        return names.index(page)
    if page.isascii() and page.isdigit() and 1 <= int(page) <= len(names):
        return int(page) - 1
    raise CommandError(f"--page: no such page: {page}")
