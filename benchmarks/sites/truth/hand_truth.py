"""Templates marked by hand: key pages of sites, one a site, with the elements that a reader took for what.

``pages.jsonl`` has an object a page: ``site`` (folder), ``genre``, ``language``, ``page`` (file below the folder),
``digest`` of its bytes, and ``marks``: the XPath of an element, its ``kind``, and a digest of its text, by which a
changed page or parser is noticed. Nothing of the pages themselves is kept. What holds for an element holds for all
that is below it and has no mark of its own; what has none above it either is ``template``.

``template``: what the site or a section of it puts on its pages whatever they are about: header, menus, search, side
bars, lists of the newest posts or comments of all the site, footer, notices, share buttons, forms, fixed captions.
``own navigation``: made for this page, and no content of it: breadcrumbs, previous and next, related pages, pagers,
"last modified". It is template by its role and not by repetition, and is left out of account.
``content``: title, text, date, author and tags of what the page is about, its own table of contents, readers'
comments, and the entries of a list where the page is one.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urljoin, urlsplit

import numpy as np

from tamis.folders import SitePages, page_files
from tamis.page.tag_sets import IGNORED
from tamis.page.tree import prefix_sums, tag_set, within
from tamis_papers.experiments.harness import say
from tamis_papers.menus import page_key
from tamis_papers.pages import spread

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from tamis.folders import SitePage
    from tamis.page.page import Page

    Bools = NDArray[np.bool_]

FIRST: Final = Path(__file__).with_name("pages.jsonl")
TEMPLATE, CONTENT, OWN = "template", "content", "own navigation"
KINDS: Final = (TEMPLATE, CONTENT, OWN)


class StaleTruthError(ValueError):
    """A page is not the one that was marked, or its tree is not."""


@dataclass(frozen=True, slots=True)
class Mark:
    """What a reader said of an element: its XPath, one of :data:`KINDS`, and a digest of its text."""

    path: str
    kind: str
    digest: str


@dataclass(frozen=True, slots=True)
class MarkedPage:
    """A key page and its marks; the module says what the fields mean."""

    site: str
    genre: str
    language: str
    page: str
    digest: str
    marks: tuple[Mark, ...]


@dataclass(frozen=True, eq=False, slots=True)
class HandTruth:
    """What the marks say of a page's units.

    Attributes:
        known: bool[n + m], the units that count: seen by a reader, and neither own navigation nor an element that only
            wraps content. Whether the slot that content goes to belongs to the template is a matter of definition.
        template: bool[n + m], units that are template; an element is when any text in it is.
        own: bool[n + m], units of own navigation alone, none of which is known.
    """

    known: Bools
    template: Bools
    own: Bools


def read_marks(file: Path = FIRST) -> list[MarkedPage]:
    """Read a file of marks."""
    rows = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    return [MarkedPage(**{**row, "marks": tuple(Mark(**mark) for mark in row["marks"])}) for row in rows]


def marked_sites(folders: Sequence[Path]) -> Iterator[tuple[MarkedPage, SitePages, SitePage, HandTruth]]:
    """Yield marked pages whose sites one of the folders has: the pages of the site, the marked one, and its truth."""
    for of in read_marks():
        folder = next((folder / of.site for folder in folders if (folder / of.site).is_dir()), None)
        if folder is None:
            say(f"{of.site} is in none of the folders")
            continue
        files = page_files(folder)
        pages = SitePages.of_files(folder, files, _base_url(SitePages.of_files(folder, files)))
        read = pages.read(list(pages.names).index(of.page))
        yield of, pages, read, hand_truth(read.page, files[read.number].read_bytes(), of)


def _base_url(pages: SitePages) -> str | None:
    """The address that absolute links of a site's pages name, where most of those that lead to its pages are such."""
    paths = {urlsplit(f"http://{page_key(url)}").path for url in pages.urls}
    hosts: Counter[str] = Counter()
    for read in pages.subset(spread(range(len(pages)), 20)).read_all():
        for href in read.page.attribute("href").values():
            try:
                address = urlsplit(urljoin(read.page.url or "", href))
            except ValueError:
                continue
            if urlsplit(f"http://{page_key(address.geturl())}").path in paths - {""}:
                hosts[f"{address.scheme}://{address.netloc}/"] += 1
    return hosts.most_common(1)[0][0] if hosts else None


def marked(page: Page, html: bytes, of: MarkedPage, kinds: dict[int, str]) -> MarkedPage:
    """The page with new marks: the kind of each element that is marked, by its index."""
    path = page.elements[0].getroottree().getpath
    marks = tuple(Mark(path(page.elements[i]), kinds[i], _digest(_text(page, i))) for i in sorted(kinds))
    return MarkedPage(of.site, of.genre, of.language, of.page, _digest(html), marks)


def hand_truth(page: Page, html: bytes, of: MarkedPage) -> HandTruth:
    """Work out what the marks of a page say of its units.

    Raises:
        StaleTruthError: the page has other bytes than when it was marked, or an element with a mark is not there.
    """
    if _digest(html) != of.digest:
        raise StaleTruthError(f"{of.site}/{of.page} is not the page that was marked")
    ink = np.array([bool(run.strip()) for run in page.runs], bool)
    kind = kinds_of_elements(page, of)[page.run_node]
    first, last = (
        np.concatenate([page.run_begin, page.block_run_begin]),
        np.concatenate([page.run_end, page.block_run_end]),
    )
    template, content, own = (_held(ink & (kind == each), first, last) for each in range(len(KINDS)))
    n = page.n
    holds = np.bincount(page.run_node[ink], minlength=n) > 0
    some = template + content + own > 0
    is_template = template > 0
    is_template[n:] &= 2 * template[n:] >= (template + content + own)[n:]  # of a block that is of two kinds, the most
    is_content = (content > 0) & (template == 0) & (own == 0)
    known = is_template | is_content
    known[:n] &= is_template[:n] | holds
    for index in np.flatnonzero(~some[:n]).tolist():  # pictures and rules are what all the text around them is
        above = int(page.parent[index])
        while above > 0 and not some[above]:
            above = int(page.parent[above])
        if above >= 0:
            is_template[index] = template[above] > 0
            known[index] = is_content[above] or (template[above] > 0 and content[above] + own[above] == 0)
    known[:n] &= ~within(page, tag_set(*IGNORED)[page.tag])
    return HandTruth(known, is_template, (own > 0) & (template == 0) & (content == 0))


def kinds_of_elements(page: Page, of: MarkedPage) -> NDArray[np.int64]:
    """int64[n], index in :data:`KINDS` of what each element is by the nearest mark above it, or its own.

    Raises:
        StaleTruthError: an element with a mark is not there, or has another text.
    """
    kinds = np.zeros(page.n, np.int64)
    path = page.elements[0].getroottree().getpath
    index_of = {path(element): index for index, element in enumerate(page.elements)}
    for mark in of.marks:  # in document order: an inner one comes after the one around it
        index = index_of.get(mark.path)
        if index is None or _digest(_text(page, index)) != mark.digest:
            raise StaleTruthError(f"{of.site}/{of.page}: what is at {mark.path} is not what was marked")
        kinds[index : page.end[index]] = KINDS.index(mark.kind)
    return kinds


def letters(page: Page) -> NDArray[np.int64]:
    """int64[n + m], characters of each block, 0 for elements: what a unit weighs where text is compared."""
    return np.concatenate([np.zeros(page.n, np.int64), np.fromiter(map(len, page.block_texts()), np.int64, page.m)])


def f1(found: Bools, there: Bools, weight: NDArray[np.int64]) -> float:
    """F1 of units with weights; 1 where there is nothing to find and nothing found."""
    total = int(weight[found].sum() + weight[there].sum())
    return 2 * int(weight[found & there].sum()) / total if total else 1.0


def _held(runs: Bools, first: NDArray[np.int32], last: NDArray[np.int32]) -> NDArray[np.int64]:
    totals = prefix_sums(runs)
    return totals[last] - totals[first]


def _text(page: Page, index: int) -> bytes:
    runs = page.runs[page.run_begin[index] : page.run_end[index]]
    return " ".join(" ".join(runs).split()).encode("utf-8", "surrogatepass")


def _digest(data: bytes) -> str:
    return blake2b(data, digest_size=8).hexdigest()
