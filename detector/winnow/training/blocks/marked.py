"""Pages of sites whose authors say what the story is, as examples, with what says it hidden."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.metadata import metadata_of
from winnow.page.page import Page, PageTooLarge
from winnow.training.blocks.examples import block_page, collected
from winnow.training.blocks.gold_sets import registrable_domain
from winnow.training.marked_pages import MarkedPage

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from winnow.progress import Progress
    from winnow.training.blocks.examples import BlockPage
    from winnow.training.sites import Site

MARKED_PAGES: Final = 20
"""Most marked pages of a site that are learned from."""

_MAYBE: Final = re.compile(rb"articleBody|e-content|entry-content|content:encoded")


def of_marks(
    sites: Sequence[Site],
    *,
    seed: int,
    leave_out: Collection[str] = (),
    processes: int = 1,
    progress: Progress | None = None,
) -> list[BlockPage]:
    """Label the blocks of pages that bear the mark of an article, some of every site, with the mark hidden.

    Args:
        sites: the sites.
        seed: picks pages.
        leave_out: registrable domains that are not learned from, by the addresses that pages give themselves: those on
            which the model is measured.
        processes: worker processes that read pages.
        progress: called for each site that was read.

    Raises:
        ImportError: tldextract is not installed.
    """
    names = [f"marks of {site.name}" for site in sites]
    tasks = [_Task(site, seed, frozenset(leave_out)) for site in sites]
    return collected(_of_site, tasks, names, processes, progress)


@dataclass(frozen=True, slots=True)
class _Task:
    site: Site
    seed: int
    leave_out: frozenset[str]


def _of_site(task: _Task) -> list[BlockPage]:
    site = task.site
    found: list[BlockPage] = []
    known: set[str] = set()
    for number in np.random.default_rng(task.seed).permutation(len(site.files)).tolist():
        html = site.files[number].read_bytes()
        if not _MAYBE.search(html):
            continue
        try:
            page = Page.parse(html)
        except PageTooLarge:
            continue
        example = marked_page(page, site.name)
        if example is None or _domain(page) in task.leave_out:
            continue
        text = "\n".join(page.block_texts())
        if text in known:  # a copy under another name
            continue
        known.add(text)
        found.append(example)
        if len(found) == MARKED_PAGES:
            break
    return found


def marked_page(page: Page, source: str) -> BlockPage | None:
    """Take a page whose article is marked as examples; ``None`` where none is."""
    marked = MarkedPage.of(page)
    hidden = marked.hidden() if marked else None
    return block_page(hidden, marked.content, source) if marked and hidden else None


def _domain(page: Page) -> str:
    return registrable_domain(metadata_of(page, "").canonical)
