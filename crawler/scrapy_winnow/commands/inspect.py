"""``winnow inspect``: a page beside what comes out of it, in the browser."""

from __future__ import annotations

import argparse
import sys
import webbrowser
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy_winnow.commands.common import CommandError, InputError, read_page, reason
from scrapy_winnow.commands.server import connected_to

if TYPE_CHECKING:
    from scrapy_winnow.inspector.documents import Documents
    from scrapy_winnow.inspector.gold import GoldFile
    from scrapy_winnow.inspector.inspector import Inspector
    from scrapy_winnow.inspector.replay import Replay

_EPILOG = """\
Left the page as it looks, each section in the colour of what it was taken for; right the text, Markdown, HTML and item
that come out. A section's card says how it was judged: its score before and after smoothing, on how many pages of the
site it is, what weighed most. Keys: ? lists them.

The page is only drawn: no script of it runs and nothing is loaded, unless --load-assets lets it load its pictures and
style sheets from the web. The server listens on 127.0.0.1 alone, behind an address that cannot be guessed.

examples:
  winnow inspect page.html
  winnow inspect https://host.example/story --load-assets
  winnow inspect page.html -o page-inspected.html           one file to send, nothing else is needed to open it
  winnow inspect mirror/host.example                        all pages of a site, with a slider for the pages seen
  winnow inspect page.html --site mirror/host.example
  winnow inspect crawl.warc.gz --url https://host.example/   the pages of one host of a WARC file
  winnow inspect https://host.example/story --state-dir .scrapy/winnow      with what a crawl has counted
  winnow inspect mirror/host.example --collect gold.jsonl   mark what is wrong: a gold set of your own
  winnow train sites/ --gold gold.jsonl -o mine.npz         and what it is for
  winnow inspect page.html --model mine.npz
"""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command and its options."""
    parser = commands.add_parser(
        "inspect",
        help="look at a page and what comes out of it in the browser",
        description="Show pages beside what comes out of them, with the reasons, and try other settings.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "source", metavar="PAGE", help="HTML file, folder of them, WARC file, address, or - for standard input"
    )
    parser.add_argument("--url", help="address of the page, or of the folder: tells in-site links from others")
    parser.add_argument(
        "--model",
        metavar="MODEL",
        action="append",
        default=[],
        help="model file, or name of a model of the package; more than once to choose between them",
    )
    parser.add_argument(
        "--site", type=Path, metavar="DIR", help="pages of the same site (default: PAGE, if it holds several)"
    )
    parser.add_argument(
        "--pages", type=int, default=0, metavar="N", help="pages of the site taken as seen to begin with (default: 0)"
    )
    parser.add_argument("--page", default="1", metavar="N", help="number or name of the page of a folder to begin with")
    counted = parser.add_mutually_exclusive_group()
    counted.add_argument("--redis-url", metavar="URL", help="use what crawls have counted in this Redis")
    counted.add_argument("--state-dir", type=Path, metavar="DIR", help="use what the private server of a project knows")
    parser.add_argument("--prefix", default="winnow", help="first part of every key there (default: %(default)s)")
    parser.add_argument(
        "--collect", type=Path, metavar="FILE", help="save corrections as gold pages in this .jsonl file"
    )
    parser.add_argument(
        "--load-assets", action="store_true", help="let the page load its pictures, fonts and style sheets"
    )
    parser.add_argument("-o", "--output", type=Path, metavar="OUT", help="write one self-contained HTML file, and end")
    parser.add_argument("--port", type=int, default=0, help="port to listen on (default: any that is free)")
    parser.add_argument("--no-browser", action="store_true", help="only print the address")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the file, or serve until interrupted."""
    with ExitStack() as opened:
        return _run(options, opened)


def _run(options: argparse.Namespace, opened: ExitStack) -> int:
    try:
        import jinja2  # noqa: F401, PLC0415
        import markdown_it  # noqa: F401, PLC0415
    except ImportError as error:
        raise CommandError("inspect needs more than the core: pip install 'scrapy-winnow[inspect]'") from error
    from scrapy_winnow.inspector.application import application  # noqa: PLC0415
    from scrapy_winnow.inspector.documents import DocumentError  # noqa: PLC0415
    from scrapy_winnow.inspector.server import InspectorServer  # noqa: PLC0415

    try:
        inspector = _inspector(options, opened)
        number = _number(inspector, options.page)
        inspector.page(number)
        for model in options.model:
            inspector.page(number).model(model)
    except DocumentError as error:
        raise CommandError(f"{options.source}: {error}") from error
    except (OSError, ValueError) as error:
        raise CommandError(reason(error)) from error
    if options.output is not None:
        document = application(
            inspector.data(number, server=False), title=inspector.title(number), load_assets=options.load_assets
        )
        try:
            options.output.write_text(document, "utf-8", errors="replace")
        except OSError as error:
            raise CommandError(f"-o {options.output}: {reason(error)}") from error
        return 0
    try:
        server = InspectorServer(inspector, options.port)
    except (OSError, OverflowError) as error:
        raise CommandError(f"--port {options.port}: {error}") from error
    with server:
        address = server.url + (f"?page={number}" if number else "")
        print(address, flush=True)
        if not options.no_browser:
            print("winnow: opening it in the browser; Ctrl+C ends", file=sys.stderr)
            webbrowser.open(address)
        server.wait()
    return 0


def _inspector(options: argparse.Namespace, opened: ExitStack) -> Inspector:
    from scrapy_winnow.inspector.documents import Documents  # noqa: PLC0415
    from scrapy_winnow.inspector.inspector import Inspector  # noqa: PLC0415

    documents = Documents(options.source, options.url, _read)
    return Inspector(
        documents,
        models=options.model,
        replay=_counted(options, opened) or _replay(options, documents),
        gold=_gold(options),
        load_assets=options.load_assets,
        pages=max(options.pages, 0),
    )


def _counted(options: argparse.Namespace, opened: ExitStack) -> Replay | None:
    """What Redis knows of the hosts of the pages, where it is to be asked."""
    if options.redis_url is None and options.state_dir is None:
        return None
    from scrapy_winnow.inspector.replay import CountedReplay  # noqa: PLC0415
    from scrapy_winnow.storage.hosts import HostLabels  # noqa: PLC0415
    from winnow.fingerprints import FINGERPRINT_VERSION  # noqa: PLC0415

    client = opened.enter_context(connected_to(options.redis_url, options.state_dir))
    return CountedReplay(lambda host: HostLabels.read(client, options.prefix, FINGERPRINT_VERSION, host))


def _replay(options: argparse.Namespace, documents: Documents) -> Replay | None:
    """The other pages of the site, where there are any."""
    from scrapy_winnow.inspector.documents import Documents  # noqa: PLC0415
    from scrapy_winnow.inspector.replay import FolderReplay  # noqa: PLC0415

    if options.site is not None:
        documents = Documents(str(options.site), options.url, _read)
        if not documents.of_one_site:
            raise CommandError(f"--site: neither a folder nor a WARC file: {options.site}")
    elif not documents.of_one_site:
        return None
    replay = FolderReplay(documents)
    if options.output is not None or options.pages:
        replay.read()
    else:
        replay.start()
    return replay


def _read(name: str) -> bytes:
    from scrapy_winnow.inspector.documents import DocumentError  # noqa: PLC0415

    try:
        return read_page(name)
    except InputError as error:
        raise DocumentError(str(error)) from error


def _gold(options: argparse.Namespace) -> GoldFile | None:
    from scrapy_winnow.inspector.gold import GoldFile  # noqa: PLC0415

    if options.collect is None:
        return None
    if options.collect.suffix != ".jsonl":
        raise CommandError(f"--collect: the name must end in .jsonl: {options.collect}")
    if not options.collect.parent.is_dir():
        raise CommandError(f"--collect: no such folder: {options.collect.parent}")
    try:
        return GoldFile(options.collect)
    except (OSError, ValueError) as error:
        raise CommandError(f"--collect {options.collect}: {reason(error)}") from error


def _number(inspector: Inspector, page: str) -> int:
    names = inspector.documents.names
    if page in names:
        return names.index(page)
    if page.isascii() and page.isdigit() and 1 <= int(page) <= len(names):
        return int(page) - 1
    raise CommandError(f"--page: no such page: {page}")
