"""``tamis clean``: pages in; text, Markdown, clean HTML or JSON out."""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import urlsplit

from w3lib.encoding import resolve_encoding

from scrapy_tamis.commands.common import (
    FAILED,
    CommandError,
    CommandParser,
    Progress,
    add_model_options,
    load_model_option,
    load_rules,
    model_switches,
    page_address,
    report_errors,
    warn,
    with_progress,
)
from scrapy_tamis.fetching import (
    CRAWL_SITE,
    STANDARD_INPUT,
    InputError,
    is_address,
    parse_readable,
    read_document,
    reason,
)
from tamis import Site, clean, files
from tamis.cleaning import NOT_HTML
from tamis.folders import page_files
from tamis.processes import map_in_processes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from scrapy_tamis.fetching import Document
    from tamis import Cleaned
    from tamis.models import Model

    WritePage = Callable[["Source", str], object]

_SUFFIXES: Final = {"text": ".txt", "markdown": ".md", "html": ".html", "json": ".json", "segments": ".txt"}
_JSON_PARTS: Final = ("html", "markdown", "metadata", "chunks", "segments", "blocks")
_JSON_FIELDS: Final = (
    *("title", "text", "comments", "template_share", "confidence", "kind", "status", "mended", "model_version"),
)
_ONE_FILE_SUFFIXES: Final = (".jsonl", ".jl", ".json", ".ndjson")
_MAX_PAGES_PER_CALL: Final = 64  # to a process
_TEXT_WIDTH: Final = 50  # characters
_PATH_WIDTH: Final = 60

HELP: Final = """\
take the template out of pages and write their content
examples:
  tamis clean page.html
  tamis clean https://host.example/story               one page, if its robots.txt allows it
  tamis clean --format markdown --url https://host.example/story page.html -o story.md
  tamis clean --format json *.html > pages.jsonl       one JSON object a line
  tamis clean *.html -o cleaned/                       a file each, in a folder
  tamis clean mirror/ -o cleaned/ -j 4                 a folder of pages, as the same folders of texts
  tamis clean mirror/ --format json --with metadata -o pages.jsonl
  tamis clean mirror/ --site -o cleaned/               pages of one site: count first what they repeat
  curl -s https://host.example/ | tamis clean -
  tamis clean --format segments page.html              its sections with their scores, and why each is cut

The score of a section is its smoothed templateness, from 0 (content) to 1 (template). Template is cut, for one of these
reasons:
  site       most of its text is on other pages of the site; with --site or --site-file
  author     the page marks another part as its article
  landmark   it is in a nav, header, footer or aside element
  links      most of its text is links
  copy       the page has the same text earlier
  hidden     nobody sees it
  leftover   it is left over from a conditional comment
  rule       a rule of --rules
  model      its score alone
Content that its score alone would have cut has a reason, too: main content (it belongs to it) or rule.
"""


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
    add = parser.add
    add("files FILE", "HTML file, folder of them, - for standard input, or one address", nargs="+")
    formats: Any = {"choices": tuple(_SUFFIXES), "default": "text"}
    add("--format", "what to write (default: text)", **formats)
    add("--with", "also write this with --format json", dest="json_parts", choices=_JSON_PARTS, many=True)
    add("--front-matter", "write title, address, authors, date and language before Markdown, as YAML")
    add("--no-links", "leave out link targets")
    add("--no-images", "leave out images")
    add("--no-tables", "leave out data tables")
    add("--keep-copies", "keep text that a page repeats")
    comments: Any = {"choices": ("separate", "include", "drop"), "default": "separate"}
    add("--comments", "readers' comments: separate from the text (default), in it, or nowhere", **comments)
    add("--url URL", "address of the page, for a single FILE", type=page_address)
    add("--encoding NAME", "charset of the pages (default: detected for each)", type=_charset)
    add("--rules FILE", "rules for sites, in TOML or JSON")
    add_model_options(parser)
    add("-o --output OUT", "file; for several FILEs a folder, or with --format json a .jsonl file")
    add("-j --processes N", "number of processes (default: 1)", default=1)
    add("--site", "the FILEs are pages of one site: count what they repeat, then clean them")
    add("--site-file FILE", "file with the counts of a site; --site writes it")


def _charset(value: str) -> str:
    """Return the value of ``--encoding``, or refuse it."""
    if resolve_encoding(value) is None:
        raise argparse.ArgumentTypeError(f"no such charset: {value}")
    return value


class Source(NamedTuple):
    """A page to clean, and its path in the output without suffix: its file's name, or the path in the folder given."""

    name: str
    stem: str


def run(options: argparse.Namespace) -> int:
    """Clean every page; those that fail are named on standard error."""
    if options.json_parts and options.format != "json":
        raise CommandError("--with goes with --format json")
    if options.front_matter and options.format != "markdown":
        raise CommandError("--front-matter goes with --format markdown")
    if options.processes < 1:
        raise CommandError("--processes: at least 1")
    switches: dict[str, Any] = {part: not getattr(options, f"no_{part}") for part in ("links", "images", "tables")}
    switches |= {"comments": options.comments, "deduplicate": not options.keep_copies}
    switches["rules"] = load_rules(options.rules)
    sources, code = _find_sources(options)
    is_folder = _is_folder(options, sources)
    switches["site"] = _count_site(sources, load_model_option(options), options)
    clean_source = partial(_clean_source, options=options, switches=switches)
    has_progress = options.output not in {None, "-"} and len(sources) > 1
    names = [source.name for source in sources] if has_progress else ()
    processes = max(min(options.processes, len(sources)), 1)
    chunk = min(len(sources) // (4 * processes) + 1, _MAX_PAGES_PER_CALL)
    cleaned = map_in_processes(clean_source, sources, processes, names, Progress("pages"), chunk)
    with _open_output(options, sources, is_folder=is_folder) as write:
        for source, (content, warnings) in zip(sources, cleaned, strict=True):
            try:
                if content is None:
                    code = FAILED
                else:
                    write(source, content)
            except BrokenPipeError:
                raise
            except ValueError as error:
                warnings.append(str(error))
                code = FAILED
            except OSError as error:
                where = getattr(error, "filename", None) or options.output or "standard output"
                warnings.append(f"cannot be written to {where}: {reason(error)}")
                code = FAILED
            for warning in warnings:
                warn(f"{source.name}: {warning}")
    return code


def _find_sources(options: argparse.Namespace) -> tuple[list[Source], int]:
    """Return the pages that the names stand for, and the exit code: 1 if one of the names stands for none."""
    has_many = len(options.files) > 1
    if any(map(is_address, options.files)) and (has_many or options.site):
        raise CommandError(f"one address at a time; {CRAWL_SITE} -a url=ADDRESS cleans a site, -a urls_file=FILE many")
    sources: list[Source] = []
    code = 0
    for name in options.files:
        try:
            sources += _find_pages(name)
        except (InputError, OSError, ValueError) as error:  # some addresses are none
            warn(f"{name}: {reason(error)}")
            code = FAILED
    if options.url and (has_many or len(sources) > 1):
        raise CommandError("--url goes with a single FILE")
    return sources, code


def _find_pages(name: str) -> list[Source]:
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


def _count_site(sources: Sequence[Source], model: Model, options: argparse.Namespace) -> Site | None:
    """Return the counts that the options ask for; pages that fail are named when they are cleaned."""
    if not options.site and options.site_file is None:
        return None
    if options.site and any(source.name == STANDARD_INPUT for source in sources):
        raise CommandError("--site reads each page twice: give files, not standard input")
    with report_errors("--site-file "):
        is_new = options.site_file is None or (options.site and not options.site_file.exists())
        site = Site(model=model) if is_new else Site.load(options.site_file, model=model)
        if options.site:
            read = partial(_read_source, options=options)
            for page in parse_readable(with_progress(sources, "pages counted"), read):
                site.count(page)
            if options.site_file is not None:
                site.save(options.site_file)
    return site


def _read_source(source: Source, options: argparse.Namespace) -> Document:
    """Read a page; what the options say of it comes before what its server said."""
    page = read_document(source.name)
    return page._replace(url=options.url or page.url, encoding=options.encoding or page.encoding)


def _clean_source(
    source: Source, options: argparse.Namespace, switches: dict[str, Any]
) -> tuple[str | None, list[str]]:
    """Clean one page; return its content as it is written, ``None`` where it failed, and warnings for the user."""
    try:
        page = _read_source(source, options)
        cleaned = clean(page.html, page.url, encoding=page.encoding, **model_switches(options), **switches)
    except (InputError, LookupError, OSError, ValueError) as error:  # of codecs, too: a page may declare any
        return None, [reason(error)]
    if cleaned.status in NOT_HTML:
        return None, [f"is {cleaned.hint}"]
    warnings = []
    if cleaned.hint:
        warnings.append(cleaned.hint)
    if cleaned.mended:
        warnings.append("a title, script or comment never ends; what follows it is read all the same")
    if cleaned.status == "fallback":
        warnings.append("everything looks like template; its least template-like section is kept")
    return _content_of(source.name, cleaned, options), warnings


def _content_of(name: str, cleaned: Cleaned, options: argparse.Namespace) -> str:
    if options.format == "segments":
        return _table_of(cleaned)
    if options.format != "json":
        content: str = getattr(cleaned, options.format)
        if options.front_matter:
            content = cleaned.markdown_with(front_matter=True)
        return content if content.endswith("\n") else f"{content}\n"
    row: dict[str, Any] = {"file": name, "url": cleaned.url or options.url}
    row |= {part: getattr(cleaned, part) for part in _JSON_FIELDS}
    row |= {part: round(row[part], 4) for part in ("template_share", "confidence") if row[part] is not None}
    parts = cleaned.to_dict(*options.json_parts)
    return json.dumps(row | {part: parts[part] for part in options.json_parts}, ensure_ascii=False) + "\n"


def _table_of(cleaned: Cleaned) -> str:
    lines = [f"{'score':>5}  {'what':<8} {'why':<12} {'chars':>7}  {'section':<{_PATH_WIDTH}}  text"]
    for segment in cleaned.segments:
        path = segment.path if len(segment.path) <= _PATH_WIDTH else f"…{segment.path[1 - _PATH_WIDTH :]}"
        text = " ".join(segment.text[: 2 * _TEXT_WIDTH].split())
        text = text if len(text) <= _TEXT_WIDTH else f"{text[: _TEXT_WIDTH - 1]}…"
        what = "comments" if segment.comment else "template" if segment.template else "content"
        why = segment.reason.partition(":")[0]
        line = f"{segment.score:5.2f}  {what:<8} {why:<12} {segment.characters:7,}  {path:<{_PATH_WIDTH}}  {text}"
        lines.append(line.rstrip())
    return "".join(f"{line}\n" for line in lines)


@contextmanager
def _open_output(options: argparse.Namespace, sources: Sequence[Source], *, is_folder: bool) -> Iterator[WritePage]:
    """Yield the function that writes the content of a page; a file is in its place when all are written."""
    read = [source.name for source in sources]
    written = set[Path]()

    def print_page(source: Source, content: str) -> None:
        has_many = len(options.files) > 1 or len(sources) > 1
        is_named = has_many and options.format != "json"
        sys.stdout.write(f"==> {source.name} <==\n{content}\n" if is_named else content)

    def write_into_folder(source: Source, content: str) -> None:
        file = Path(options.output, f"{source.stem}{_SUFFIXES[options.format]}")  # in the folders the page was in
        if file in written:
            raise ValueError(f"would overwrite {file}, written for another FILE")
        file.parent.mkdir(parents=True, exist_ok=True)
        files.write_output(file, content, read)
        written.add(file)

    if options.output in {None, "-"}:
        yield print_page
    elif is_folder:
        yield write_into_folder
    else:
        with report_errors(f"-o {options.output}: "), files.open_output(options.output, read) as stream:
            yield lambda _, content: stream.write(content)


def _is_folder(options: argparse.Namespace, sources: Sequence[Source]) -> bool:
    """Whether ``-o`` is a folder, which the name of a file does not become by mistake."""
    if options.output in {None, "-"}:
        return False
    path = Path(options.output)
    if options.output.endswith("/") or path.is_dir():
        return True
    has_many = len(options.files) > 1 or len(sources) > 1 or Path(options.files[0]).is_dir()
    if not has_many or path.exists() or options.output.endswith(_ONE_FILE_SUFFIXES):
        if has_many and options.format != "json":
            raise CommandError(f"-o {path}: add --format json, or name a folder")
        if not path.parent.is_dir():
            raise CommandError(f"-o: no such folder: {path.parent}")
        return False
    if path.suffix in _SUFFIXES.values():
        lines = f"--format json -o {path.stem}.jsonl"
        raise CommandError(f"-o {path}: several FILEs go into a folder, -o {path.stem}/, or a file of lines, {lines}")
    return True
