"""Pages whose blocks a reader has marked, in `benchmarks/gold`: of whole sites in `sites.jsonl`, single ones in others.

A line of such a file is a page: its site and file, and of each block a letter and a short hash of its text, so that
marks hold on when blocks are cut in another way later. The text of nobody's page is in them. Nothing is trained or
chosen on the sites of `pages-apart.jsonl`.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING, Final

import numpy as np

from tamis.page.page import Page
from tamis_papers.evaluation import GoldPage
from tamis_papers.pages import find_sites
from tamis_papers.training.gold import GoldExample, registrable_domain

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from tamis.folders import SitePages


CONTENT, COMMENTS, MAYBE, TEMPLATE = "comt"
"""What a block is marked as; what is :data:`MAYBE` can be content or template."""

_HASH_DIGITS: Final = 8


@dataclass(frozen=True, slots=True)
class PageMarks:
    """What a reader marked on a page: where it is, kind, and of each block a letter and a hash of its text.

    Attributes:
        collection: the folder of the data that it is in.
        site: folder of its site in it, or the host of a single page.
        page: its file there.
        url: address of a single page.
    """

    collection: str
    site: str
    page: str
    url: str | None
    kind: str
    marks: str
    hashes: tuple[str, ...]

    def of_blocks(self, texts: Sequence[str]) -> str:
        """Return a letter for each of a page's blocks; :data:`MAYBE` for those that the reader did not see."""
        left: dict[str, list[str]] = {}
        for mark, digest in zip(reversed(self.marks), reversed(self.hashes), strict=True):
            left.setdefault(digest, []).append(mark)
        return "".join(known.pop() if (known := left.get(hash_block(text))) else MAYBE for text in texts)

    def content(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """float64[m], 1 for blocks of content, 0 for template, NaN for comments and what may be either."""
        return np.array([{CONTENT: 1.0, TEMPLATE: 0.0}.get(letter, np.nan) for letter in self.of_blocks(texts)])


def hash_block(text: str) -> str:
    """Hash the text of a block: eight hexadecimal digits."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_HASH_DIGITS // 2).hexdigest()


def read_marks(path: Path) -> list[PageMarks]:
    """Read marked pages.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: a line is no marked page.
    """
    found = []
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            try:
                row = json.loads(line)
                digits = row["blocks"]
                hashes = tuple(digits[at : at + _HASH_DIGITS] for at in range(0, len(digits), _HASH_DIGITS))
                marks = PageMarks(
                    *(row["set"], row["site"], row["page"], row.get("url")), row["kind"], row["marks"], hashes
                )
            except (KeyError, TypeError, ValueError) as error:
                raise ValueError(f"{path}, line {number}: not a marked page ({error!r})") from error
            if len(marks.marks) != len(hashes):
                raise ValueError(f"{path}, line {number}: {len(marks.marks)} marks of {len(hashes)} blocks")
            found.append(marks)
    return found


def marked_sites(
    folders: Sequence[Path], marks: Sequence[PageMarks]
) -> Iterator[tuple[SitePages, Mapping[str, PageMarks]]]:
    """Yield the sites of some folders that have marked pages, with the marks by file.

    Raises:
        FileNotFoundError: a folder does not exist.
        ValueError: none of the sites is there.
    """
    by_site: dict[str, dict[str, PageMarks]] = {}
    for each in marks:
        by_site.setdefault(each.site, {})[each.page] = each
    sites = [site for folder in folders for site in find_sites(folder) if site.name in by_site]
    if not sites:
        raise ValueError(f"none of the {len(by_site)} marked sites is in {', '.join(map(str, folders))}")
    for site in sites:
        yield site, by_site[site.name]


@dataclass(frozen=True, slots=True)
class MarkedExample(GoldExample):
    """A marked page as a gold page."""

    marks: PageMarks

    def content(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """float64[m], what the blocks are marked as, see :meth:`PageMarks.content`."""
        return self.marks.content(texts)


def marked_examples(folders: Sequence[Path], path: Path) -> list[GoldExample]:
    """Take the marked pages of some folders of sites as gold pages, whose text is that of their blocks of content."""
    return [
        _as_example(marks_of[name], site.folder / name, site.name, url, site.read(number).page)
        for site, marks_of in marked_sites(folders, read_marks(path))
        for number, (name, url) in enumerate(zip(site.names, site.urls, strict=True))
        if name in marks_of
    ]


def marked_page_examples(data: Path, path: Path) -> list[MarkedExample]:
    """Take marked pages of a folder of collections as gold pages; those of a site have its name as their source."""
    found = []
    for marks in read_marks(path):
        folder = data / marks.collection
        is_of_site = (folder / marks.site).is_dir()
        file = folder / marks.site / marks.page if is_of_site else folder / marks.page
        source = marks.site if is_of_site else registrable_domain(marks.url)
        found.append(_as_example(marks, file, source, marks.url, Page.parse(file.read_bytes(), marks.url)))
    return found


def _as_example(marks: PageMarks, file: Path, source: str, url: str | None, page: Page) -> MarkedExample:
    texts = page.block_texts()
    text = "\n".join(compress(texts, marks.content(texts) == 1))
    kind = {"wiki": "documentation", "other": ""}.get(marks.kind, marks.kind)
    gold = GoldPage(f"{source}/{marks.page}", text, kind, None, url, (), ())
    return MarkedExample(gold, file, source, "whole sites", marks)
