"""Examples from pages whose authors marked the article, with the marks hidden.

No one had to label them. The marks that a label was taken from are removed from the page, so that a model learns how an
article looks and not how it is marked.
"""

from __future__ import annotations

import re
from copy import deepcopy
from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.evidence.marked_articles import article_mark
from winnow.metadata import metadata_of
from winnow.page.page import Page, PageTooLarge
from winnow.training.examples import block_page, collect_pages
from winnow.training.gold import registrable_domain

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from lxml import etree

    from winnow.progress import Progress
    from winnow.training.examples import BlockPage
    from winnow.training.sites import Site


_STRUCTURED: Final = ("itemprop", "itemtype", "itemscope", "property", "typeof", "vocab")
_MICROFORMAT: Final = re.compile(
    r"(?:h|p|u|dt|e)-[a-z]+(?:-[a-z]+)*|hentry|hfeed|hatom|vcard|entry(?:-(?:content|title|summary|header|footer|meta))?"
)


def without_marks(root: etree._Element) -> etree._Element:
    """Copy a tree without microdata, RDFa and the class names of microformats; the tree itself is not changed."""
    copy = deepcopy(root)
    for element in copy.iter("*"):
        attributes = element.attrib
        for name in _STRUCTURED:
            if name in attributes:
                del attributes[name]
        names = attributes.get("class")
        if names is not None:
            attributes["class"] = " ".join(part for part in names.split() if not _MICROFORMAT.fullmatch(part))
    return copy


MAX_MARKED_PAGES: Final = 20
"""Most marked pages of a site that are learned from."""

_MAYBE: Final = re.compile(rb"articleBody|e-content|entry-content|content:encoded")


def label_marked_pages(
    sites: Sequence[Site],
    *,
    seed: int,
    leave_out: Collection[str] = (),
    processes: int = 1,
    progress: Progress | None = None,
) -> list[BlockPage]:
    """Label the blocks of pages that bear the mark of an article, some of every site, with the mark hidden.

    Registrable domains to leave out are those on which the model is measured, by the addresses that pages give
    themselves.
    """
    names = [f"marks of {site.name}" for site in sites]
    tasks = [(site, seed, frozenset(leave_out)) for site in sites]
    return collect_pages(_label_site, tasks, names, processes, progress)


def _label_site(task: tuple[Site, int, frozenset[str]]) -> list[BlockPage]:
    site, seed, leave_out = task
    found: list[BlockPage] = []
    known: set[str] = set()
    for number in np.random.default_rng(seed).permutation(len(site.files)).tolist():
        html = site.files[number].read_bytes()
        if not _MAYBE.search(html):
            continue
        try:
            page = Page.parse(html)
        except PageTooLarge:
            continue
        example = marked_page(page, site.name)
        if example is None or registrable_domain(metadata_of(page, "").canonical) in leave_out:
            continue
        text = "\n".join(page.block_texts())
        if text in known:  # a copy under another name
            continue
        known.add(text)
        found.append(example)
        if len(found) == MAX_MARKED_PAGES:
            break
    return found


def marked_page(page: Page, source: str) -> BlockPage | None:
    """Take a page whose article is marked as examples, without the marks.

    ``None`` where none is marked, or where the page has other blocks without the marks.
    """
    mark = article_mark(page)
    if mark is None:
        return None
    hidden = Page.from_tree(without_marks(page.elements[0]), page.url)
    return block_page(hidden, mark.content, source) if hidden.m == len(mark.content) else None
