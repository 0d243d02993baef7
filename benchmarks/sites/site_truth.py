"""Sites whose template is known: from a generator, from gold text, or from exact labels of many more pages."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from demo.hosts import BUILDERS
from demo.web import build_site
from winnow.output.text import block_texts
from winnow.papers.methods import method
from winnow.papers.pages import SiteError, SitePages, blocks_of_runs, elements_of_blocks
from winnow.training.evaluation import read_gold
from winnow.training.gold import content_fractions
from winnow.training.sites import find_sites

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from demo.truth import PageTruth
    from winnow.page.page import Page
    from winnow.papers.pages import SitePage
    from winnow.training.evaluation import GoldPage
    from winnow.training.sites import Site

    Units = NDArray[np.bool_]

CONTENT_SHARE = 0.5
"""A block is content if at least this share of its words is in the gold text, in the same order."""


class Truth(Protocol):
    """Knows the template of some pages of a site."""

    def __call__(self, read: SitePage) -> Units | None:
        """bool[n + m], the units that are template; ``None`` where nothing is known of a page."""
        ...


@dataclass(frozen=True, eq=False)
class KnownSite:
    """A site with the truth about its pages.

    Attributes:
        name, genre: what it is called, and what kind of site it is.
        pages: its pages.
        tell: tells the truth about a page; :meth:`truth` does so, too, and remembers.
    """

    name: str
    genre: str
    pages: SitePages
    tell: Truth
    _known: dict[str, Units | None] = field(default_factory=dict, repr=False)

    def truth(self, read: SitePage) -> Units | None:
        """The truth about a page; worked out once."""
        if read.name not in self._known:
            self._known[read.name] = self.tell(read)
        return self._known[read.name]

    def bounded(self, most: int, seed: int) -> KnownSite:
        """The site with at most so many pages, picked at random."""
        numbers = np.random.default_rng(seed).permutation(len(self.pages))[:most]
        return replace(self, pages=self.pages.subset(sorted(numbers.tolist())))


def demo_sites(pages: int, seed: int) -> Iterator[KnownSite]:
    """Build the hosts of the demo web; the truth is that of its generator, where a page's runs can be told apart."""
    for name in BUILDERS:
        site = build_site(name, seed, pages)
        base = f"http://{name}.demo"
        served = [
            (base + path, site.resources[path].body)
            for path, truth in site.truth.items()
            if truth.kind in {"article", "listing"} and site.resources[path].status == 200
        ]
        yield KnownSite(name, name, SitePages.of_html(served), _DemoTruth(base, site.truth))


@dataclass(frozen=True, eq=False)
class _DemoTruth:
    base: str
    of_path: dict[str, PageTruth]

    def __call__(self, read: SitePage) -> Units | None:
        page = read.page
        truth = self.of_path[read.name.removeprefix(self.base)].runs
        texts = [" ".join(run.split()) for run in page.runs]
        inked = [number for number, text in enumerate(texts) if text]
        if [texts[number] for number in inked] != [text for text, _ in truth]:
            return None
        runs = np.zeros(len(texts), bool)
        runs[inked] = [template for _, template in truth]
        return _with_elements(page, blocks_of_runs(page, runs))


def gold_sites(gold: Path, folder: Path) -> Iterator[KnownSite]:
    """Take the sites of a folder that have gold text: pages ``site/file`` of the gold file."""
    wanted: dict[str, dict[str, GoldPage]] = {}
    for page in read_gold(gold):
        site, _, file = page.page_id.partition("/")
        wanted.setdefault(site, {})[file] = page
    for site in find_sites(folder):
        if site.name in wanted:
            yield KnownSite(site.name, "news", pages_of(site), _GoldTruth(wanted[site.name]))


@dataclass(frozen=True, eq=False)
class _GoldTruth:
    of_file: dict[str, GoldPage]

    def __call__(self, read: SitePage) -> Units | None:
        gold = self.of_file.get(read.name)
        if gold is None:
            return None
        shares = content_fractions(block_texts(read.page), gold.text)
        return _with_elements(read.page, shares < CONTENT_SHARE)


def reference_sites(folder: Path, genres: dict[str, str]) -> Iterator[KnownSite]:
    """Take every site of a folder; for the truth are taken exact site-level labels of all its pages."""
    for site in find_sites(folder):
        pages = pages_of(site)
        try:
            learned = method("site-level").learn(pages)
        except SiteError:
            continue
        yield KnownSite(
            site.name, genres.get(site.name, "unknown"), pages, lambda read, of=learned: of.label(read).template
        )


@dataclass(eq=False)
class KeptPages(SitePages):
    """Pages of a site that stay in memory with their trees, to learn from them again and again."""

    kept: Sequence[SitePage] = ()

    @classmethod
    def of(cls, pages: SitePages) -> KeptPages:
        """Read all pages."""
        return cls(pages.names, pages.urls, pages.sources, kept=[pages.read(number) for number in range(len(pages))])

    def read(self, number: int) -> SitePage:
        """One of the pages."""
        return replace(self.kept[number], number=number)

    def subset(self, numbers: Sequence[int]) -> KeptPages:
        """Some of the pages, with numbers of their own."""
        part = super().subset(numbers)
        return KeptPages(part.names, part.urls, part.sources, kept=[self.kept[number] for number in numbers])


def pages_of(site: Site) -> SitePages:
    """The pages of a site of a folder of sites."""
    names = [file.relative_to(site.folder).as_posix() for file in site.files]
    return SitePages(names, [site.url(file) for file in site.files], site.files)


def _with_elements(page: Page, blocks: NDArray[np.bool_]) -> Units:
    return np.concatenate([elements_of_blocks(page, blocks), blocks])


class Overlap(Counter[str]):
    """Template found and template there, by characters of text and by elements that hold text; they add up."""

    def add(self, page: Page, found: Units, there: Units | None) -> None:
        """Count the labels of one page; nothing where there is no truth about it."""
        if there is None:
            return
        n = page.n
        length = np.fromiter(map(len, page.block_texts()), np.int64, page.m)
        holding = (page.block_end > page.block_begin).astype(np.int64)
        for kind, yes, true, weight in (
            ("text", found[n:], there[n:], length),
            ("node", found[:n], there[:n], holding),
        ):
            self[f"{kind} both"] += int(weight[yes & true].sum())
            self[f"{kind} found"] += int(weight[yes].sum())
            self[f"{kind} there"] += int(weight[true].sum())

    def figures(self, kind: str) -> tuple[float, float, float]:
        """Precision, recall and F1 of ``text`` or of ``node``; 1 where there is nothing to find and nothing found."""
        both, found, there = (self[f"{kind} {part}"] for part in ("both", "found", "there"))
        precision = both / found if found else 1.0
        recall = both / there if there else 1.0
        return precision, recall, 2 * both / (found + there) if found + there else 1.0
