"""What the experiments share: sites with known template, estimates with intervals over sites, tables.

The known template is that of the demo web, whose generator knows it exactly, or of pages of whole sites whose blocks a
reader has marked (:mod:`tamis_papers.marks`). Only the pages with marks count; all pages of a site can be learned from.
"""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from tamis.folders import SitePage, SitePages
from tamis.page.page import Page
from tamis_papers.marks import marked_sites, read_marks
from tamis_papers.pages import blocks_of_runs, find_sites, spread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from tamis.arrays import Floats


_Name = TypeVar("_Name")


class HtmlPages(SitePages):
    """Pages named by their addresses, with HTML in memory instead of files."""

    @classmethod
    def from_html(cls, pages: Sequence[tuple[str, bytes]], name: str = "") -> Self:
        """Create from pairs of an address and HTML, and the name of the site."""
        urls = [url for url, _ in pages]
        html: list[Any] = [html for _, html in pages]
        return cls(urls, urls, html, Path(name))

    def read(self, number: int) -> SitePage:
        """Parse one of the pages."""
        html: Any = self.files[number]
        return SitePage(number, self.names[number], Page.parse(html, self.urls[number]))


@dataclass(frozen=True, eq=False)
class MarkedSite:
    """A site with pages whose template is known.

    Attributes:
        pages: all its pages.
        numbers: numbers of those with known template.
        truth: of such a page float64[m]: 1 for blocks of template, 0 for content, NaN where either will do.
    """

    pages: SitePages
    numbers: Sequence[int]
    truth: Callable[[SitePage], Floats]

    @property
    def name(self) -> str:
        """Name of the site."""
        return self.pages.name

    def read_marked(self) -> Iterator[tuple[SitePage, Floats]]:
        """Read the pages with known template, each with its truth; pages with one kind of block alone are left out."""
        for number in self.numbers:
            read = self.pages.read(number)
            truth = self.truth(read)
            if (truth == 1).any() and (truth == 0).any():
                yield read, truth


def parser_of(doc: str) -> argparse.ArgumentParser:
    """Return a parser with the module's text as its help, and ``--json``."""
    parser = argparse.ArgumentParser(
        description=doc,
        epilog="Where folders of sites and gold pages are to be had: benchmarks/README.md",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there as JSON, too")
    return parser


def sites_parser(doc: str) -> argparse.ArgumentParser:
    """Like :func:`parser_of`, with folders of sites."""
    parser = parser_of(doc)
    parser.add_argument(
        "sites", nargs="*", type=Path, metavar="SITES", help="folders with one folder a site (default: the demo web)"
    )
    return parser


def experiment_parser(doc: str, model: str | None = None) -> argparse.ArgumentParser:
    """Like :func:`sites_parser`, with the options that :func:`sites_of` reads, and a page-level model by default."""
    parser = sites_parser(doc)
    if model is not None:
        parser.add_argument("--model", default=model, metavar="MODEL", help="page-level model (%(default)s)")
    marks = Path("benchmarks/gold/sites.jsonl")
    parser.add_argument("--marks", type=Path, default=marks, metavar="FILE", help="marked pages (%(default)s)")
    parser.add_argument("--most", type=int, metavar="N", help="number of sites, evenly spread")
    return parser


def sites_of(options: argparse.Namespace) -> list[MarkedSite]:
    """The sites that the options name, or those of the demo web; ends the program where there are none."""
    try:
        sites = _sites_of_folders(options.sites, options.marks) if options.sites else demo_sites(30)
        return spread(list(sites), options.most)
    except (OSError, ValueError, ImportError) as error:
        sys.exit(f"{error} (marks and the demo web are in the repository: start the command there)")


def _sites_of_folders(folders: Sequence[Path], marks: Path) -> Iterator[MarkedSite]:
    for site, marks_of in marked_sites(folders, read_marks(marks)):
        numbers = [number for number, name in enumerate(site.names) if name in marks_of]

        def truth(read: SitePage, marks_of: Mapping[str, Any] = marks_of) -> Floats:
            return 1 - np.asarray(marks_of[read.name].content(read.page.block_texts()))

        yield MarkedSite(site, numbers, truth)


def sites_in(folders: Iterable[Path]) -> list[SitePages]:
    """List the sites of some folders, marked or not.

    Raises:
        FileNotFoundError: a folder does not exist.
        ValueError: there is no site in it.
    """
    return [site for folder in folders for site in find_sites(folder)]


@contextmanager
def exit_on_bad_input() -> Iterator[None]:
    """End the program with a message where a file or folder is missing or malformed."""
    try:
        yield
    except (OSError, ValueError) as error:
        sys.exit(str(error))


def demo_sites(pages: int, seed: int = 1) -> Iterator[MarkedSite]:
    """Build the hosts of the demo web in memory, with a number of articles each."""
    from demo.hosts import BUILDERS  # noqa: PLC0415  (of the repository, and no part of the package)
    from demo.web import build_site  # noqa: PLC0415

    for name in BUILDERS:
        site, base = build_site(name, seed, pages), f"http://{name}.demo"
        runs = {
            base + path: truth.runs
            for path, truth in site.truth.items()
            if truth.kind in {"article", "listing"} and site.resources[path].status == 200
        }
        served = HtmlPages.from_html([(url, site.resources[url.removeprefix(base)].body) for url in runs], name)

        def truth(read: SitePage, runs: Mapping[str, Sequence[tuple[str, bool]]] = runs) -> Floats:
            return truth_of_runs(read, runs[read.name])

        yield MarkedSite(served, range(len(served)), truth)


def truth_of_runs(read: SitePage, runs: Sequence[tuple[str, bool]]) -> Floats:
    """float64[m], 1 for blocks of template and 0 for content, of a page of the demo web with these runs of text.

    NaN everywhere where its runs cannot be told apart, as on pages of broken markup.
    """
    texts = [" ".join(run.split()) for run in read.page.runs]
    known = [number for number, text in enumerate(texts) if text]
    if [texts[number] for number in known] != [text for text, _ in runs]:
        return np.full(read.page.m, np.nan)
    template = np.zeros(len(texts), bool)
    template[known] = [is_template for _, is_template in runs]
    return blocks_of_runs(read.page, template).astype(np.float64)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its 95% interval, by drawing the sites again 2,000 times; in tables ``0.786 (0.75-0.81)``."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} ({self.low:.2f}-{self.high:.2f})"


def estimate(parts: Iterable[tuple[float, float]]) -> Estimate:
    """Estimate a ratio from the numerator and denominator of each site; a mean from each site's sum and number."""
    rows = np.array(list(parts), np.float64).reshape(-1, 2)
    drawn = np.random.default_rng(0).integers(0, len(rows), (2_000, len(rows)))
    sums = rows[drawn].sum(axis=1)
    ratios = sums[:, 0] / np.maximum(sums[:, 1], 1e-9)
    above, below = rows.sum(axis=0)
    return Estimate(float(above / max(below, 1e-9)), *map(float, np.quantile(ratios, (0.025, 0.975))))


def estimates_by_name(
    sites: Iterable[MarkedSite], measure: Callable[[MarkedSite], Iterable[tuple[_Name, ArrayLike]]]
) -> dict[_Name, list[Estimate]]:
    """Estimate figures of several methods over sites.

    ``measure`` yields for a page of a site, or all of its pages, the name of a method and its k figures: float[k, 2],
    numerators and denominators to be added up, or float[k], of which the mean is taken.
    """
    found: dict[_Name, list[NDArray[np.float64]]] = {}
    for site in sites:
        say(site.name)
        of_site: dict[_Name, NDArray[np.float64]] = {}
        for name, figures in measure(site):
            parts = np.asarray(figures, np.float64)
            parts = parts if parts.ndim == 2 else np.stack([parts, np.ones(len(parts))], axis=1)
            of_site[name] = of_site.get(name, 0) + parts
        for name, sums in of_site.items():
            found.setdefault(name, []).append(sums)
    return {name: [estimate(map(tuple, of_all)) for of_all in zip(*sums, strict=True)] for name, sums in found.items()}


def estimate_rows(
    sites: Iterable[MarkedSite], measure: Callable[[MarkedSite], Iterable[tuple[str, ArrayLike]]]
) -> list[list[object]]:
    """Rows of a table: each name and its estimates, see :func:`estimates_by_name`."""
    return [[name, *estimates] for name, estimates in estimates_by_name(sites, measure).items()]


def say(text: str) -> None:
    """Write a line of progress."""
    print(text, file=sys.stderr, flush=True)


def table(headings: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return rows as a Markdown table; the first column to the left, the others to the right."""
    cells = [list(headings), *([_written(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = []
    for row in cells:
        padded = [row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))]
        lines.append("| " + " | ".join(padded) + " |")
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    return "\n".join([lines[0], "| " + " | ".join(rule) + " |", *lines[1:]])


def _written(cell: object) -> str:
    if cell is None:
        return "-"
    return f"{cell:.3f}" if isinstance(cell, float) else str(cell)


def write_json(options: argparse.Namespace, figures: object) -> None:
    """Write the figures where ``--json`` says, if it does."""
    if options.json is not None:
        options.json.write_text(json.dumps(figures, indent=1, default=str) + "\n", encoding="utf-8")


def report(options: argparse.Namespace, headings: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table of an experiment, and write it where ``--json`` says."""
    print(table(headings, rows))
    write_json(options, [dict(zip(headings, row, strict=True)) for row in rows])
