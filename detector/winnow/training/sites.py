"""Sites: folders of pages, and labels of their units from what the site repeats."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar
from urllib.parse import quote

import numpy as np

from winnow.papers.methods import METHODS, summary
from winnow.papers.page_level import SiteLevel, SiteLevelTemplate
from winnow.papers.pages import OTHER_SUFFIXES, SiteError, SitePages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from winnow.page.page import Page
    from winnow.papers.pages import Labels, SitePage
    from winnow.progress import Progress


_PAGE_SUFFIXES: Final = frozenset({".html", ".htm", ".xhtml", ".shtml"})
_SNIFFED: Final = 1_024  # bytes


@dataclass(frozen=True, slots=True)
class Site:
    """The pages of one site.

    Attributes:
        name: name of its folder.
        folder: where it is.
        files: its HTML files, sorted by path.
    """

    name: str
    folder: Path
    files: tuple[Path, ...]

    def url(self, file: Path) -> str:
        """Stable address of a page, made of the site's name and the file's path: ``https://name/path``."""
        return f"https://{self.name}/{quote(file.relative_to(self.folder).as_posix())}"

    def pages(self) -> SitePages:
        """The pages by their paths and addresses, read one at a time."""
        return SitePages.of_files(self.folder, self.files, f"https://{self.name}/")


def find_sites(folder: Path, min_pages: int = 10) -> list[Site]:
    """List the sites of a folder by name, leaving out those with too few pages.

    Raises:
        FileNotFoundError: the folder does not exist.
        ValueError: there is no site with enough pages in it.
    """
    if not folder.is_dir():
        raise FileNotFoundError(f"no such folder: {folder}")
    sites = [Site(each.name, each, page_files(each)) for each in sorted(folder.iterdir()) if each.is_dir()]
    enough = [site for site in sites if len(site.files) >= min_pages]
    if not enough:
        raise ValueError(f"{folder} holds no folder with {min_pages} or more HTML files: one folder a site is expected")
    return enough


def page_files(folder: Path) -> tuple[Path, ...]:
    """Return the HTML files anywhere below a folder, sorted by path."""
    return tuple(file for file in sorted(folder.rglob("*")) if is_page(file))


def is_page(file: Path) -> bool:
    """Whether a file is HTML, by its name or, where the name says nothing, by its first bytes."""
    suffix = file.suffix.lower()
    if not file.is_file() or suffix in OTHER_SUFFIXES:
        return False
    if suffix in _PAGE_SUFFIXES:
        return True
    with file.open("rb") as stream:
        start = stream.read(_SNIFFED).lower()
    return b"<html" in start or b"<!doctype html" in start


_Result = TypeVar("_Result")


def map_in_processes(
    work: Callable[[Any], _Result],
    tasks: Sequence[Any],
    processes: int,
    names: Sequence[str] = (),
    progress: Progress | None = None,
    chunk: int = 1,
) -> Iterator[_Result]:
    """Do the work for each task, in this process or in several, and yield the results in the order of the tasks.

    ``names`` are those of the tasks, for the progress; a process takes ``chunk`` tasks at a time.
    """
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:  # starts none before it is asked to
        for done, result in enumerate(map(work, tasks) if processes == 1 else pool.map(work, tasks, chunksize=chunk)):
            if progress:
                progress(done + 1, len(tasks), names[done])
            yield result


# Labels without a human: what repeats on the pages of a site is template, what occurs once is content.
#
# Template units are those of SiteLevel with the 85% rule (page-level isotonic smoothing, sections 3 and 5.1), or of
# another site-level method; content is what no other page of the site has, unless the method has a rule of its own, and
# what lies in between is ignored (site-independent template blocks, section 3).

TEMPLATE: Final = 1
CONTENT: Final = 0
IGNORED: Final = -1

SITE_LEVEL_METHOD: Final = SiteLevel.name
"""The method whose labels the package's own model learns from."""

SITE_LEVEL: Final = (
    "site-level, no human ones: template is what at least 10% of a site's pages share, content what one page has"
)
"""What model cards say of these labels."""

SITE_LEVEL_LIMITS: Final = """\
Site-level labels call every list that differs from page to page content, "related articles" included. They know
nothing of comments, advertisements or cookie notices that a crawler's copy of a page lacks."""


class LabelledPage(NamedTuple):
    """A page, its file, and int8[n + m]: :data:`TEMPLATE`, :data:`CONTENT` or :data:`IGNORED`."""

    page: Page
    label: NDArray[np.int8]
    file: Path


class SiteCounts:
    """Units of the pages of a site that are template by a site-level method, that are content, and others left out.

    Attributes:
        files: numbers of the pages that can be learned from: readable, not too large, no copies of others; none where
            the method cannot work on the site.

    Raises:
        ValueError: there is no such method.
    """

    def __init__(self, site: Site, method: str = SITE_LEVEL_METHOD) -> None:
        self._site, self._pages = site, site.pages()
        self._counts = SiteLevelTemplate(SiteLevel())
        self.files = [read.number for read in self._pages.read_all() if self._counts.add(read.page)]
        self._label: Callable[[SitePage], Labels] = self._counts.label
        if method != SITE_LEVEL_METHOD:
            try:
                self._label = METHODS[method]().learn(self._pages).label
            except SiteError:
                self.files = []

    def labelled(self, files: Sequence[int]) -> Iterator[LabelledPage]:
        """Label the units of some pages, given by their numbers in :attr:`files`."""
        for read in map(self._pages.read, files):
            labels = self._label(read)
            content = self._counts.unique(read.page) if labels.content is None else labels.content
            label = np.full(read.page.n + read.page.m, IGNORED, np.int8)
            label[content] = CONTENT
            label[labels.template] = TEMPLATE
            yield LabelledPage(read.page, label, self._site.files[read.number])


def describe_labels(method: str) -> str:
    """What model cards say of the labels of a method."""
    if method == SITE_LEVEL_METHOD:
        return SITE_LEVEL
    return f"`{method}`, no human ones: template is what it finds, content what one page has. {summary(method)}"
