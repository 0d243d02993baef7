"""Labels of all pages of a site by one method, for the whole site at once or for each cluster of its pages."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from winnow.output.html import write_html
from winnow.output.stripping import remains
from winnow.output.text import block_texts, join_blocks
from winnow.papers.methods import LocatingTemplate, method
from winnow.papers.pages import SiteError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from winnow.papers.methods import Labels, SiteMethod, SiteTemplate
    from winnow.papers.pages import SitePage, SitePages
    from winnow.progress import Progress

CLUSTERING = "clusters"
"""The method whose clusters :func:`labelled_pages` takes."""


@dataclass(eq=False)
class LabelledSitePage:
    """A page of a site with its labels, and what is left of it without its template.

    Attributes:
        read: the page.
        labels: what the method says of its units.
        group: number of the cluster that it was labelled in; 0 without clusters.
        learned: what the method has learned, of the site or of the cluster.
    """

    read: SitePage
    labels: Labels
    group: int
    learned: SiteTemplate

    @property
    def template(self) -> NDArray[np.bool_]:
        """bool[n + m], the units that are template."""
        return self.labels.template

    @cached_property
    def _texts(self) -> list[str]:
        return block_texts(self.read.page)

    @property
    def text(self) -> str:
        """Text of the blocks that are no template."""
        page = self.read.page
        return join_blocks(page, self._texts, ~self.template[page.n :])

    @property
    def html(self) -> str:
        """Clean HTML of what is no template."""
        return write_html(self.read.page, remains(self.read.page, self.template))

    @property
    def json(self) -> str:
        """The labels as a JSON object.

        Its fields: ``file``, ``url``, ``cluster`` (from 1), ``template_share`` (of the characters), ``elements`` (the
        XPaths of the topmost elements that are template), ``blocks`` (XPath of the element, text, ``template``, and
        ``content``: whether the method takes it for content for sure, ``null`` where it has no rule for that), and
        ``places`` (begin and end of each template in the bytes of the file; ``null`` for methods that know of none).
        """
        page, template = self.read.page, self.template
        path = page.elements[0].getroottree().getpath
        above = np.append(template[: page.n], False)[page.parent]
        topmost = np.flatnonzero(template[: page.n] & ~above).tolist()
        content = self.labels.content
        cut, characters = self.characters
        blocks = [
            {
                "path": path(page.elements[node]),
                "text": text,
                "template": bool(template[page.n + number]),
                "content": None if content is None else bool(content[page.n + number]),
            }
            for number, (node, text) in enumerate(zip(page.block_node.tolist(), page.block_texts(), strict=True))
        ]
        row = {
            "file": self.read.name,
            "url": page.url,
            "cluster": self.group + 1,
            "template_share": round(cut / max(characters, 1), 4),
            "elements": [path(page.elements[number]) for number in topmost],
            "blocks": blocks,
            "places": self.places,
        }
        return json.dumps(row, ensure_ascii=False, indent=1) + "\n"

    @property
    def places(self) -> list[tuple[int, int]] | None:
        """Begin and end of each template in the bytes of the page, ``None`` for methods that do not know."""
        if not isinstance(self.learned, LocatingTemplate):
            return None
        return [(place.begin, place.end) for place in self.learned.templates(self.read)]

    @property
    def characters(self) -> tuple[int, int]:
        """Characters of text that are template, and of all text."""
        lengths = np.fromiter(map(len, self._texts), np.int64, len(self._texts))
        return int(lengths[self.template[self.read.page.n :]].sum()), int(lengths.sum())


def labelled_pages(
    pages: SitePages, chosen: SiteMethod, *, per_cluster: bool = False, progress: Progress | None = None
) -> Iterator[LabelledSitePage]:
    """Learn from the pages of a site, and label each of them.

    Args:
        pages: the pages; those that cannot be read are left out, see ``pages.skipped``.
        chosen: the method.
        per_cluster: cluster the pages by template first, and learn from each cluster for itself. A cluster that is too
            small to learn from is labelled by what the whole site teaches.
        progress: called for each page that is done, in each pass over them.

    Returns:
        The pages one after the other, cluster by cluster; drop each before taking the next to keep one tree in memory.

    Raises:
        SiteError: the method cannot work on the site.
    """
    whole: SiteTemplate | None = None
    groups: list[list[int]] | list[None] = _groups(pages, progress) if per_cluster else [None]
    for group, numbers in enumerate(groups):
        part = pages if numbers is None else pages.subset(numbers)
        try:
            learned = chosen.learn(part, progress)
        except SiteError:
            if numbers is None:
                raise
            learned = whole = whole or chosen.learn(pages, progress)
            reads: Iterator[SitePage] = map(pages.read, numbers)
        else:
            reads = part.read_all(progress)
        for read in reads:
            yield LabelledSitePage(read, learned.label(read), group, learned)
            del read


def _groups(pages: SitePages, progress: Progress | None) -> list[list[int]]:
    """Numbers of the pages of each cluster, the largest first."""
    clusters: list[list[int]] = method(CLUSTERING).learn(pages, progress).clusters  # type: ignore[attr-defined]
    return sorted(clusters, key=len, reverse=True)
