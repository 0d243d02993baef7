"""``tamis train``: sites in, the weights of a model out."""

from __future__ import annotations

import os
from codecs import BOM_UTF8
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, urlsplit

from scrapy_tamis.commands.common import (
    CommandError,
    CommandParser,
    Progress,
    json_rows,
    open_input,
    report_errors,
    warn,
)
from scrapy_tamis.storage.keys import site_of
from tamis.files import refuse_inputs
from tamis.hashing import hash_text
from tamis.models import DEFAULT_MODEL

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from tamis_papers.training.report import Trained

_FEW_SITES: Final = 20
_POOR_F_MEASURE: Final = 0.5
_MAX_NAME, _MAX_FOLDERS = 100, 8  # characters, and folders of a file that is written for a page
HELP = """\
train a page-level model from the pages of many sites
SITES is a folder with one folder a site, its HTML files anywhere below; or the items of a crawl with their HTML
(TAMIS_KEEP_HTML = True), as JSON lines or one JSON array; or a WARC file. What repeats on a site is taken for template,
what does not for content: no labels are needed. The kind "blocks" also learns from gold text: --gold names a file as
for "tamis evaluate", and the HTML of its page ID is html/ID.html beside it, or the file ID of the folder. It then
learns by folds what kind a page is and how good its text will be, which takes six trainings. The model card (MODEL.md)
has the data, the command and the metrics. The same pages and seed give the same weights.

kinds of models:
  blocks    scores text blocks in their context
  logistic  scores elements, with a logistic regression for each of four sizes

examples:
  tamis train items.jsonl -o my-model.npz
  tamis train sites/ -o my-model.npz
  tamis train sites/ --labels site-independent-blocks -o my-model.npz
  tamis train sites/ --gold gold/pages.jsonl --gold more/pages.jsonl -o my-model.npz
  tamis clean --model my-model.npz page.html
"""


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
    add = parser.add
    add("sites SITES", "folder with one folder a site, items of a crawl (.jsonl, .json), or a WARC file", type=Path)
    add("-o --output MODEL", "file to write, .npz", type=Path, required=True)
    add("--model KIND", "blocks or logistic (default: %(default)s)", default=DEFAULT_MODEL)
    add("--gold FILE", "gold pages, .jsonl or .jsonl.xz, for --model blocks", many=True)
    add("--marks", "also learn from articles that authors mark, for --model blocks without --gold")
    add(
        "--labels METHOD",
        "site-level method that labels pages, see python -m tamis_papers --list (default: %(default)s)",
        default="site-level",
    )
    add("--sources FILE", "Markdown with the sources of the pages, for the model card", many=True)
    add("--seed SEED", "random seed (default: 0)", default=0)
    add("--processes N", "processes that read pages (default: one a core)", type=int, default=os.cpu_count() or 1)


def run(options: argparse.Namespace) -> int:
    """Train, write model and card, and print the metrics."""
    if options.processes < 1:
        raise CommandError("--processes: at least 1")
    names = ("output", "model", "gold", "marks", "labels", "seed", "processes")
    settings = {name: getattr(options, name) for name in names}
    from tamis_papers.training.report import describe_metrics
    from tamis_papers.training.train import train

    with report_errors():
        for written in (options.output, options.output.with_suffix(".md")):
            refuse_inputs(written, [*options.sources, *options.gold])
        sources = "\n".join(file.read_text(encoding="utf-8").strip() for file in options.sources)
        with TemporaryDirectory() as folder:
            sites = options.sites
            if sites.is_file():
                sites = Path(folder, sites.name)
                _write_sites(options.sites, sites)
            trained = train(sites, sources=sources, progress=Progress(), **settings)
    gold = f"{trained.gold_pages:,} gold pages, " if trained.gold_pages else ""
    gold += f"{trained.marked_pages:,} marked pages, " if trained.marked_pages else ""
    print(f"{trained.sites:,} sites, {trained.pages:,} pages, {gold}{trained.examples:,} units")
    for labels, metrics in trained.metrics.items():
        print(f"on sources held out, by {labels}:")
        for name, value in describe_metrics(metrics):
            print(f"  {name}: {value}")
    warn(f"wrote {options.output} and {options.output.with_suffix('.md')}")
    _warn_if_poor(trained)
    return 0


def _warn_if_poor(trained: Trained) -> None:
    """Warn of a model that should not be used as it is."""
    if 0 < trained.sites < _FEW_SITES:
        warn(
            f"{trained.sites} sites are few: what repeats on them is theirs, and what is learned of it may not hold "
            f"elsewhere; {_FEW_SITES} and more are better"
        )
    poor = [labels for labels, metrics in trained.metrics.items() if metrics.content_f_measure < _POOR_F_MEASURE]
    if poor:
        warn(
            f"the model is poor: by {', '.join(poor)} what it keeps has a word F1 below {_POOR_F_MEASURE}, on sites "
            "held out; train on more sites, and measure it before you use it"
        )


def _write_sites(source: Path, folder: Path) -> None:
    """Write the pages of a crawl's items, or of an archive, into a folder for each host."""
    pages: Iterator[tuple[str, str | bytes]]
    if ".warc" in source.suffixes:
        from scrapy_tamis.archives.reading import ArchiveReader, Part

        pages = ((page.url, page.html) for page in ArchiveReader(Part(str(source))))
    else:
        pages = _pages_of_items(str(source))
    for url, html in pages:
        segments = [quote(part, safe="")[:_MAX_NAME] for part in urlsplit(url).path.split("/") if part.strip(".")]
        file = folder.joinpath(site_of(url) or "", *segments[:_MAX_FOLDERS], f"{hash_text(url):016x}.html")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(html if isinstance(html, bytes) else BOM_UTF8 + html.encode("utf-8", "replace"))
    if not folder.exists():
        raise ValueError(f"{source}: no item has an address in url and HTML in html: crawl with TAMIS_KEEP_HTML = True")


def _pages_of_items(name: str) -> Iterator[tuple[str, str]]:
    with open_input(name) as file:
        for row in json_rows(file):
            if isinstance(row, dict) and isinstance(row.get("html"), str) and site_of(str(row.get("url"))):
                yield str(row["url"]), row["html"]
