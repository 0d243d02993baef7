"""Kolcz and Yih, "Site-Independent Template-Block Detection" (PKDD 2007): blocks, and which of them a site repeats."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from hashlib import md5
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from tamis.page.tree import subtree_sums, tag_set, within
from tamis_papers.pages import (
    Detagged,
    HashCounts,
    Labels,
    Learned,
    SiteMethod,
    blocks_of_runs,
    count_hashes,
    parameter,
)

if TYPE_CHECKING:
    from tamis.arrays import Hashes, Integers
    from tamis.folders import SitePage, SitePages
    from tamis.page.page import Page


BLOCK_TAGS: Final = tag_set(
    *("blockquote", "dd", "div", "dl", "dt", "h1", "h2", "h3", "h4", "h5", "h6", "li", "ol", "pre", "small", "table"),
    *("td", "th", "tr", "ul"),
)
"""The tags that section 4.1 prints, as a look-up table over tag ids."""

LATER_TAGS: Final = tag_set(
    *("p", "section", "article", "main", "nav", "header", "footer", "aside", "figure", "figcaption", "details"),
    *("summary", "address"),
)
"""Paragraphs, and the tags of HTML 5 that have taken over from ``div``."""

_MIN_REPEATS: Final = 2  # pages


@dataclass(frozen=True)
class SiteIndependentBlocks(SiteMethod):
    """Elements of block tags with enough text, equal when their text is: on a tenth of the pages, or on one only.

    Paper: Kolcz and Yih, "Site-Independent Template-Block Detection" (PKDD 2007), sections 3 and 4.1. A block with
    enough pages is template; the topmost block that no other page has, and that holds none that others have, is
    content; what lies between is neither, so as not to teach what is doubtful. Blocks are equal when the MD5 digests
    of their text are.

    Cost: two parses and the digests of each page's text, about once for each level of its tree; 8 bytes of memory for
    each block of each page.

    When to use: as the teacher of a model, which is what it was made for: few labels, and hardly any wrong. To clean
    pages, too, it is careful; short entries of menus count only as a part of the whole menu.
    """

    name: ClassVar[str] = "site-independent-blocks"

    share: float = parameter(
        0.10, "least share of the pages that have a template block", "share, 0 to 1", least=0, most=1
    )
    least: int = parameter(
        4, "pages that need to have a template block, however few there are", "pages", least=_MIN_REPEATS
    )
    characters: int = parameter(40, "least length of a block's text", "characters", least=0)
    words: int = parameter(3, "different words that a block needs", "words", least=0)
    later_tags: bool = parameter(False, "paragraphs and the sections of HTML 5 are blocks, too")

    def learn(self, pages: SitePages) -> Learned:
        """Count on how many pages with different text each block occurs.

        Raises:
            SiteError: there are fewer than two.
        """
        counts, numbers = count_hashes(pages, lambda page: self.blocks(page)[1])
        return Learned(len(numbers), partial(self._label, counts))

    def _label(self, counts: HashCounts, read: SitePage) -> Labels:
        """Label template blocks, and topmost blocks of which no other page has anything, with all they hold."""
        page = read.page
        elements, digests = self.blocks(page)
        df = counts.df(digests)
        is_template, is_repeated, is_unique = np.zeros((3, page.n), bool)
        is_template[elements] = df >= max(self.least, self.share * counts.pages)
        is_repeated[elements] = df >= _MIN_REPEATS
        is_unique[elements] = subtree_sums(page, is_repeated)[elements] == 0
        inside = [within(page, chosen) for chosen in (is_template, is_unique)]
        return Labels(*(np.concatenate([each, blocks_of_runs(page, each[page.run_node])]) for each in inside))

    def blocks(self, page: Page) -> tuple[Integers, Hashes]:
        """Segment a page.

        Returns:
            int64[b], the elements that are blocks, and uint64[b], the first 8 bytes of the MD5 digest of their text.
        """
        tags = BLOCK_TAGS | LATER_TAGS if self.later_tags else BLOCK_TAGS
        detagged = Detagged(page)
        begin, end = detagged.slices(page.run_begin, page.run_end)
        candidates = np.flatnonzero(tags[page.tag] & (end - begin >= max(self.characters, 1))).tolist()
        chosen: list[int] = []
        digests: list[bytes] = []
        for element in candidates:
            text = detagged.text[begin[element] : end[element]]
            if self._has_words(text):
                chosen.append(element)
                digests.append(md5(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).digest()[:8])
        return np.array(chosen, np.int64), np.frombuffer(b"".join(digests), np.dtype("<u8")).astype(np.uint64)

    def _has_words(self, text: str) -> bool:
        return len(set(text.split(maxsplit=20))) > self.words or len(set(text.split())) >= self.words
