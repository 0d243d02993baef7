"""The table of all site-level methods, and the labels of a site's pages by one of them.

A method works in two passes: ``learn`` reads the pages of a site, ``label`` of what it returns labels one page after
another, those learned from and new ones. So a site of thousands of pages needs no more than one tree at a time.

    from tamis_papers.methods import labelled_pages, method
    from tamis.folders import SitePages

    for page in labelled_pages(SitePages.of_files(folder, files), method("node-hashes", gap=0)):
        print(page.read.name, page.text)
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from inspect import getdoc
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tamis.output.html import write_html
from tamis.output.markup import make_markup
from tamis.output.text import block_texts, text_of_blocks
from tamis.segments import unit_paths
from tamis_papers.clustering import Clusters
from tamis_papers.menus import Menus
from tamis_papers.page_level import SiteLevel
from tamis_papers.repeats import NodeHashes, TextWindows
from tamis_papers.site_independent import SiteIndependentBlocks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tamis.folders import SitePage, SitePages
    from tamis_papers.pages import Labels, Learned, SiteMethod


METHODS: Final[dict[str, type[SiteMethod]]] = {
    each.name: each for each in (SiteLevel, NodeHashes, TextWindows, SiteIndependentBlocks, Clusters, Menus)
}
"""Every site-level method by its name."""


def method(name: str, **parameters: Any) -> SiteMethod:
    """Return a method with some of its parameters set.

    Raises:
        TypeError: it has no such parameter.
        ValueError: there is no such method, or a value will not do.
    """
    if name not in METHODS:
        raise ValueError(f"no such method: {name!r}; there are {', '.join(METHODS)}")
    return METHODS[name](**parameters)


def summary(name: str) -> str:
    """First line of a method's docstring."""
    return (getdoc(METHODS[name]) or "").partition("\n")[0]


@dataclass(eq=False)
class LabelledSitePage:
    """A page of a site with its labels, and what is left of it without its template.

    Attributes:
        read, labels: the page, and what the method says of its units.
        learned: what the method has learned of the site.
    """

    read: SitePage
    labels: Labels
    learned: Learned

    @cached_property
    def _texts(self) -> list[str]:
        return block_texts(self.read.page)

    @property
    def text(self) -> str:
        """Text of the blocks that are not template."""
        page = self.read.page
        return text_of_blocks(page, ~self.labels.template[page.n :])

    @property
    def html(self) -> str:
        """Clean HTML without the template."""
        return write_html(make_markup(self.read.page, self.labels.template))

    @property
    def characters(self) -> tuple[int, int]:
        """Characters of text that are template, and of all text."""
        lengths = np.fromiter(map(len, self._texts), np.int64, len(self._texts))
        return int(lengths[self.labels.template[self.read.page.n :]].sum()), int(lengths.sum())

    @property
    def json(self) -> str:
        """The labels as a JSON object; ``docs/figures/methods.md`` has its fields."""
        page, (template, content) = self.read.page, self.labels
        above = np.append(template[: page.n], False)[page.parent]
        topmost = np.flatnonzero(template[: page.n] & ~above).tolist()
        cut, characters = self.characters
        blocks = [
            {"path": path, "text": text, "template": is_template, "content": is_content}
            for path, text, is_template, is_content in zip(
                unit_paths(page, page.block_node.tolist()),
                page.block_texts(),
                template[page.n :].tolist(),
                [None] * page.m if content is None else content[page.n :].tolist(),
                strict=True,
            )
        ]
        row = {
            "file": self.read.name,
            "url": page.url,
            "template_share": round(cut / max(characters, 1), 4),
            "elements": unit_paths(page, topmost),
            "blocks": blocks,
        }
        return json.dumps(row, ensure_ascii=False, indent=1) + "\n"


def labelled_pages(pages: SitePages, chosen: SiteMethod) -> Iterator[LabelledSitePage]:
    """Learn from the pages of a site, and label each; drop each before taking the next, to keep one tree in memory.

    Pages that cannot be read are left out, see ``pages.skipped``.

    Raises:
        SiteError: the method cannot work on the site.
    """
    learned = chosen.learn(pages)
    for read in pages.read_all():
        yield LabelledSitePage(read, learned.label(read), learned)
        del read
