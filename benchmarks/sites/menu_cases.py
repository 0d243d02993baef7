"""What the menus method is measured on: key pages with a truth by hand, and the front pages of the demo web."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

import numpy as np

from benchmarks.shared.common import say, spread
from benchmarks.sites.truth.hand_truth import HandTruth, hand_truth, read_marks
from demo.hosts import BUILDERS
from demo.web import build_site
from winnow.page.page import Page, PageTooLarge
from winnow.page.tree import prefix_sums
from winnow.papers.menu_search import page_key, site_links
from winnow.papers.pages import SitePages
from winnow.training.sites import page_files

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Case:
    """A key page, how to load the pages that it links to, and the truth.

    Attributes:
        name, genre, language: of the site.
        key_page: the page.
        load: loads the page at an address.
        known: keys of the pages that can be loaded; ``None`` for whatever :attr:`load` finds.
        linked: how many of these the key page links to.
        truth: what is template.
    """

    name: str
    genre: str
    language: str
    key_page: Page
    load: Callable[[str], Page | None]
    known: Container[str] | None
    linked: int
    truth: HandTruth

    @property
    def tuned_on(self) -> bool:
        """Whether the variant's values were chosen on this site: half of the families of sites."""
        return int(sha256(family(self.name).encode()).hexdigest(), 16) % 2 == 0


def family(site: str) -> str:
    """Sites of one owner, which may share a template, by the name of the folder: all of them are in one half."""
    if site.startswith("uci"):
        return "uci.edu"
    return f"deb:{site.split('-', maxsplit=1)[0]}" if site.startswith("deb_") else site.split("__", maxsplit=1)[0]


def marked_cases(folders: Sequence[Path]) -> Iterator[Case]:
    """The key pages with a truth by hand, of those sites that one of the folders has."""
    for of in read_marks():
        folder = next((folder / of.site for folder in folders if (folder / of.site).is_dir()), None)
        if folder is None:
            say(f"{of.site} is in none of the folders")
            continue
        pages = SitePages.of_files(folder, files := page_files(folder))
        pages = SitePages.of_files(folder, files, base_url(pages))
        numbers = {page_key(url): number for number, url in reversed(list(enumerate(pages.urls)))}

        @cache
        def load(address: str, pages: SitePages = pages, numbers: dict[str, int] = numbers) -> Page | None:
            try:
                return pages.read(numbers[page_key(address)]).page
            except (OSError, PageTooLarge):
                return None

        read = pages.read(list(pages.names).index(of.page))
        linked = sum(key in numbers for key in site_links(read.page))
        truth = hand_truth(read.page, read.html, of)
        yield Case(of.site, of.genre, of.language, read.page, load, numbers, linked, truth)


def base_url(pages: SitePages) -> str | None:
    """The address that absolute links of a site's pages name, where most of those that lead to its pages are such."""
    paths = {urlsplit(f"http://{page_key(url)}").path for url in pages.urls}
    hosts: Counter[str] = Counter()
    sample = pages.subset(spread(range(len(pages)), 20))
    for read in sample.read_all():
        for href in read.page.attribute("href").values():
            try:
                address = urlsplit(urljoin(read.page.url or "", href))
            except ValueError:
                continue
            if urlsplit(f"http://{page_key(address.geturl())}").path in paths - {""}:
                hosts[f"{address.scheme}://{address.netloc}/"] += 1
    return hosts.most_common(1)[0][0] if hosts else None


def demo_cases() -> Iterator[Case]:
    """The hosts of the demo web: template is its text, and the elements that hold any."""
    for name in BUILDERS:
        site = build_site(name)
        base = f"https://{name}.example"

        @cache
        def load(address: str, site=site, base: str = base) -> Page | None:  # type: ignore[no-untyped-def]
            resource = site.resources.get(address.removeprefix(base))
            if resource is None or resource.status >= 300 or "html" not in dict(resource.headers)["Content-Type"]:
                return None
            return Page.parse(resource.body, address)

        page = load(base + "/")
        assert page is not None
        flags: dict[str, set[bool]] = {}
        for text, is_template in site.truth["/"].runs:
            flags.setdefault(text, set()).add(is_template)
        of_run = [flags.get(" ".join(run.split()), set()) for run in page.runs]
        known = np.array([len(each) == 1 for each in of_run], bool)
        template = np.array([each == {True} for each in of_run], bool)
        begin = np.concatenate([page.run_begin, page.block_run_begin])
        end = np.concatenate([page.run_end, page.block_run_end])
        truth = HandTruth(_any(known, begin, end), _any(template, begin, end), np.zeros(page.n + page.m, bool))
        yield Case(f"demo, {name}", name, "en", page, load, None, len(site_links(page)), truth)


def _any(runs: NDArray[np.bool_], begin: NDArray[np.int32], end: NDArray[np.int32]) -> NDArray[np.bool_]:
    totals = prefix_sums(runs)
    held: NDArray[np.bool_] = totals[end] > totals[begin]
    return held
