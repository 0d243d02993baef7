"""``winnow clean``: pages in; text, Markdown, clean HTML or JSON out."""

from __future__ import annotations

import json
import sys
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from functools import lru_cache, partial
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import urlsplit

from threadpoolctl import threadpool_limits

from scrapy_winnow.commands.common import (
    FAILED,
    CommandError,
    CommandParser,
    Progress,
    add_model_options,
    load_model_option,
    model_switches,
    report_errors,
    warn,
    with_progress,
)
from scrapy_winnow.fetching import STANDARD_INPUT, InputError, fetch, is_address, read_page, reason
from winnow import Page, PageTooLarge, Rules, Site, clean
from winnow.cleaned import NOT_HTML
from winnow.training.sites import page_files

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator, Sequence

    from winnow import Cleaned

    WritePage = Callable[["Source", str], object]

_SUFFIXES: Final = {"text": ".txt", "markdown": ".md", "html": ".html", "json": ".json"}
_JSON_PARTS: Final = ("html", "markdown", "metadata", "chunks", "segments", "blocks")
_JSON_FIELDS: Final = ("title", "text", "comments", "template_share", "confidence", "kind", "fallback")
_ONE_FILE_SUFFIXES: Final = (".jsonl", ".json", ".ndjson")
_MAX_PAGES_PER_CALL: Final = 64  # to a process

HELP: Final = """\
take the template out of pages and write their content
examples:
  winnow clean page.html
  winnow clean https://host.example/story               one page, if its robots.txt allows it
  winnow clean --format markdown --url https://host.example/story page.html -o story.md
  winnow clean --format json *.html > pages.jsonl       one JSON object a line
  winnow clean *.html -o cleaned/                       a file each, in a folder
  winnow clean mirror/ -o cleaned/ -j 4                 a folder of pages, as the same folders of texts
  winnow clean mirror/ --format json --with metadata -o pages.jsonl
  winnow clean mirror/ --site -o cleaned/               pages of one site: what they repeat is counted first
  curl -s https://host.example/ | winnow clean -
"""


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
    add = parser.add
    add_page_options(parser, "HTML file or folder of them, - for standard input, or one address")
    formats: Any = {"choices": tuple(_SUFFIXES), "default": "text"}
    add("--format", "what to write (default: text); json has title, text and more", **formats)
    add("--with", "also write this into JSON", dest="json_parts", choices=_JSON_PARTS, many=True)
    add("-o --output OUT", "file; for several FILEs a folder, made if need be, or one file of JSON lines, OUT.jsonl")
    add("-j --processes N", "processes to clean in (default: 1)", default=1)
    add("--site", "the FILEs are pages of one site: count what they repeat, then clean them")
    add("--site-file FILE", "use the counts of a site in this file; --site writes it")
    add("--encoding NAME", "charset of the pages (default: detected for each)")
    add("--no-links", "leave out the targets of links")
    add("--no-images", "leave out images")
    add("--no-tables", "leave out data tables")
    add("--keep-copies", "keep text that a page repeats")
    comments: Any = {"choices": ("separate", "include", "drop"), "default": "separate"}
    add("--comments", "comments of readers: apart from the text (default), in it, or nowhere", **comments)


def add_page_options(parser: CommandParser, files: str = "HTML file, - for standard input, or one address") -> None:
    """Add the options that ``winnow segments`` has, too."""
    add = parser.add
    add("files FILE", files, nargs="+")
    add("--allow-private", "also fetch from addresses that are not on the public internet")
    add("--url URL", "address of the page: tells in-site links from others; for a single FILE only")
    add("--rules FILE", "rules of your own for sites, in TOML or JSON")
    add_model_options(parser)


class Source(NamedTuple):
    """A page to clean.

    Attributes:
        name: file, or ``-`` for standard input.
        stem: its path in the output without suffix: the file's name, or the path below the folder that was given.
    """

    name: str
    stem: str


def run(options: argparse.Namespace) -> int:
    """Clean every page; those that fail are named on standard error."""
    check_url(options)
    if options.processes < 1:
        raise CommandError("--processes: at least 1")
    if options.json_parts and options.format != "json":
        raise CommandError("--with goes with --format json")
    load_rules(options.rules)
    sources, code = _find_all_sources(options)
    write = _open_output(options, sources)
    load_model_option(options)
    site = _count_site(sources, options)
    progress = Progress("pages") if options.output not in {None, "-"} and len(sources) > 1 else None
    for done, (source, (content, warnings)) in enumerate(_clean_all(sources, options, site), 1):
        try:
            if content is None:
                code = FAILED
            else:
                write(source, content)
        except BrokenPipeError:
            raise
        except (InputError, OSError) as error:
            warnings.append(reason(error))
            code = FAILED
        for warning in warnings:
            warn(f"{source.name}: {warning}")
        if progress is not None:
            progress(done, len(sources), source.name)
    return code


def check_url(options: argparse.Namespace) -> None:
    """Refuse one address for many pages, and many addresses."""
    if options.url and len(options.files) > 1:
        raise CommandError("--url goes with a single FILE")
    if any(map(is_address, options.files)) and (len(options.files) > 1 or getattr(options, "site", False)):
        raise CommandError("one address at a time; scrapy crawl site -a url=ADDRESS cleans a site, urls_file=FILE many")


@lru_cache(maxsize=1)
def load_rules(path: Path | None) -> Rules:
    """Load the file of ``--rules``."""
    with report_errors("--rules: "):
        return Rules() if path is None else Rules.read(path)


def _find_all_sources(options: argparse.Namespace) -> tuple[list[Source], int]:
    """Return the pages that the names stand for, and the exit code: 1 if one of the names stands for none."""
    sources: list[Source] = []
    code = 0
    for name in options.files:
        try:
            sources += _find_sources(name)
        except (InputError, OSError) as error:
            warn(f"{name}: {reason(error)}")
            code = FAILED
    if options.url and len(sources) > 1:
        raise CommandError("--url goes with a single FILE")
    return sources, code


def _find_sources(name: str) -> list[Source]:
    """Return the pages that a name stands for: a file, or the HTML files anywhere below a folder."""
    if name == STANDARD_INPUT:
        return [Source(name, "stdin")]
    if is_address(name):
        return [Source(name, Path(urlsplit(name).path).stem or "page")]
    folder = Path(name)
    if not name or not folder.is_dir():
        return [Source(name, folder.stem)]
    files = page_files(folder)
    if not files:
        raise InputError("no HTML files in this folder")
    return [Source(str(file), str(file.relative_to(folder).with_suffix(""))) for file in files]


def _count_site(sources: Sequence[Source], options: argparse.Namespace) -> Site | None:
    """Return the counts that the options ask for; pages that fail are named when they are cleaned."""
    if not options.site and options.site_file is None:
        return None
    if options.site and any(source.name == STANDARD_INPUT for source in sources):
        raise CommandError("--site reads each page twice: give files, not standard input")
    with report_errors(f"--site-file {options.site_file}: "):
        is_new = options.site_file is None or (options.site and not options.site_file.exists())
        site = Site() if is_new else Site.load(options.site_file)
        if options.site:
            for source in with_progress(sources, "pages counted"):
                with suppress(InputError, LookupError, PageTooLarge):
                    site.count(Page.parse(read_page(source.name), options.url, encoding=options.encoding))
            if options.site_file is not None:
                site.save(options.site_file)
    return site


def _clean_all(
    sources: Sequence[Source], options: argparse.Namespace, site: Site | None
) -> Iterator[tuple[Source, tuple[str | None, list[str]]]]:
    """Clean pages in their order; yield what :func:`_clean_source` returns for each."""
    clean_source = partial(_clean_source, options=options, site=site)
    processes = min(options.processes, len(sources))
    if processes <= 1:
        yield from zip(sources, map(clean_source, sources), strict=True)
        return
    pages_per_call = min(len(sources) // (4 * processes) + 1, _MAX_PAGES_PER_CALL)
    with ProcessPoolExecutor(processes, get_context("forkserver"), threadpool_limits, (1, "blas")) as pool:
        yield from zip(sources, pool.map(clean_source, sources, chunksize=pages_per_call), strict=True)


def _clean_source(source: Source, options: argparse.Namespace, site: Site | None) -> tuple[str | None, list[str]]:
    """Clean one page; return its content as it is written, ``None`` where it failed, and warnings for the user."""
    switches: dict[str, Any] = {part: not getattr(options, f"no_{part}") for part in ("links", "images", "tables")}
    switches |= {"encoding": options.encoding, "comments": options.comments, "site": site}
    switches["deduplicate"] = not options.keep_copies
    try:
        cleaned, warnings = clean_file(source.name, options, **switches)
    except (InputError, LookupError, OSError) as error:
        return None, [reason(error)]
    if options.format == "json":
        return _json_of(source.name, cleaned, options), warnings
    content: str = getattr(cleaned, options.format)
    return (content if content.endswith("\n") else f"{content}\n"), warnings


def clean_file(name: str, options: argparse.Namespace, **switches: Any) -> tuple[Cleaned, list[str]]:
    """Read and clean one page; return the result, and warnings for the user."""
    switches |= {"rules": load_rules(options.rules), **model_switches(options)}
    url = options.url
    if is_address(name):
        fetched = fetch(name, allow_private=options.allow_private)
        html, url = fetched.html, url or fetched.url
        switches["encoding"] = switches.get("encoding") or fetched.encoding
    else:
        html = read_page(name)
    cleaned = clean(html, url, **switches)
    warnings = []
    if cleaned.passed_through in NOT_HTML:
        warnings.append(f"is no HTML ({cleaned.passed_through})")
    elif cleaned.passed_through:
        warnings.append(f"too large ({cleaned.passed_through}); all its text is kept")
    if cleaned.hint:
        warnings.append(cleaned.hint)
    if cleaned.fallback:
        warnings.append("everything looks like template; its least template-like section is kept")
    return cleaned, warnings


def _json_of(name: str, cleaned: Cleaned, options: argparse.Namespace) -> str:
    row: dict[str, Any] = {"file": name, "url": cleaned.url or options.url}
    row |= {part: getattr(cleaned, part) for part in _JSON_FIELDS}
    row |= {"passed_through": cleaned.passed_through, "model": cleaned.model_version}
    row |= {part: round(row[part], 4) for part in ("template_share", "confidence") if row[part] is not None}
    parts = cleaned.to_dict(*options.json_parts)
    return json.dumps(row | {part: parts[part] for part in options.json_parts}, ensure_ascii=False) + "\n"


def _open_output(options: argparse.Namespace, sources: Sequence[Source]) -> WritePage:
    """Return the function that writes the content of a page; ``-o`` is made if it is to be a folder."""
    has_many = len(options.files) > 1 or len(sources) > 1
    if options.output in {None, "-"}:
        if has_many and options.format != "json":
            return lambda source, content: sys.stdout.write(f"==> {source.name} <==\n{content}\n")
        return lambda _, content: sys.stdout.write(content)
    path, written = Path(options.output), set[Path]()
    is_folder = has_many or options.output.endswith("/") or path.is_dir() or Path(options.files[0]).is_dir()
    is_folder = is_folder and not (options.format == "json" and options.output.endswith(_ONE_FILE_SUFFIXES))
    if not is_folder and not path.parent.is_dir():
        raise CommandError(f"-o: no such folder: {path.parent}")
    if is_folder:
        with report_errors(f"-o {options.output}: "):
            path.mkdir(parents=True, exist_ok=True)

    def write(source: Source, content: str) -> None:
        file = path
        if is_folder:
            file = path / f"{source.stem}{_SUFFIXES[options.format]}"  # in the same folders as the page was in
            if file in written:
                raise InputError(f"would overwrite {file}, written for another FILE")
            file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a" if file in written else "w", encoding="utf-8") as stream:
            stream.write(content)
        written.add(file)

    return write
