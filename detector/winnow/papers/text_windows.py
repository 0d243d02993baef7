"""Text windows in two passes: stretches of detagged text that a site repeats, whatever their markup."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from winnow.hashing import inverse_powers, mix, powers
from winnow.page.parsing import decoded
from winnow.papers.base import Labels, parameter
from winnow.papers.detagged import Detagged
from winnow.papers.events import covered, mostly_characters, of_blocks
from winnow.papers.hash_counter import HashCounter, among
from winnow.papers.pages import check_enough
from winnow.papers.source.characters import character_offsets
from winnow.papers.source.source_map import NOWHERE, source_map

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.papers.pages import SitePage, SitePages
    from winnow.progress import Progress

    Hashes = NDArray[np.uint64]


@dataclass(frozen=True)
class TextWindows:
    """Fragments of text, all of one length, that occur often enough in a sample of the pages.

    Paper: "Automatic Template Detection Using Novel Approach" (IJERT 1(7), 2012), section 3, "Text based algorithm",
    after Gibson, Punera and Tomkins, "The Volume and Evolution of Web Page Templates" (WWW 2005). The first pass slides
    a window over the detagged text of sampled pages and counts what it shows; a fragment is counted if its hash is zero
    modulo a density, so that one counted on a page is counted on all. The second finds the frequent fragments on a page
    and joins those that overlap or touch.

    Parameters: ``window``, W, length of a fragment (48 characters, white space collapsed); ``share`` and ``least``, F,
    the occurrences that make a fragment frequent (0.10 for each sampled page, and 4 in any case); ``density``, D, one
    fragment in so many is looked at (4; 0 and 1 for all); ``sample``, P, pages of the first pass, uniformly at random
    (100, 0 for all); ``seed`` of that choice (0); ``once_per_page``, count pages that have a fragment (on) or, as the
    paper does, all its places (off).

    Cost: one parse of each sampled page and one of each labelled page; 16 bytes of memory for each different fragment
    of the sample, of which there are nearly as many as characters, divided by the density.

    When to use: where markup changes from page to page and words do not, and to find a quotation or a licence in the
    middle of other text. It has no notion of elements: short entries of a menu count only with their neighbours.
    """

    name: ClassVar[str] = "text-windows"

    window: int = parameter(48, "length of a fragment", "characters")
    share: float = parameter(0.10, "least occurrences of a template fragment, for each sampled page", "share, 0 to 1")
    least: int = parameter(4, "least occurrences of a template fragment, however few pages there are", "occurrences")
    density: int = parameter(4, "look at one fragment in so many, chosen by hash", "fragments")
    sample: int = parameter(100, "pages to learn from, chosen at random; 0 for all", "pages")
    seed: int = parameter(0, "seed of that choice")
    once_per_page: bool = parameter(True, "count a fragment once on a page, not at each of its places")

    def __post_init__(self) -> None:
        if self.window < 1 or self.least < 1:
            raise ValueError("window and least must be at least 1")
        if self.share < 0 or self.density < 0 or self.sample < 0:
            raise ValueError("share, density and sample must not be negative")

    def learn(self, pages: SitePages, progress: Progress | None = None) -> TextWindowTemplate:
        """Count the fragments of a sample of pages with different text (first pass).

        Raises:
            SiteError: there are fewer than two.
        """
        chosen = pages
        if self.sample and self.sample < len(pages):
            numbers = np.random.default_rng(self.seed).choice(len(pages), self.sample, replace=False)
            chosen = pages.subset(np.sort(numbers).tolist())
        counter = HashCounter()
        distinct = 0
        for read in chosen.distinct(progress):
            fragments = _fragments(Detagged(read.page).codes, self.window)
            fragments = fragments[_sampled(fragments, self.density)]
            counter.add(np.unique(fragments) if self.once_per_page else fragments)
            distinct += 1
        pages.skipped.update(chosen.skipped)
        check_enough(chosen, distinct)
        return TextWindowTemplate(self, counter.between(max(self.least, self.share * distinct)), distinct)


class TextTemplate(NamedTuple):
    """A stretch of repeated text on a page.

    Attributes:
        text: the text, white space collapsed.
        begin, end: where it is in the source, in bytes, with the markup between its parts; -1 where the source could
            not be followed.
    """

    text: str
    begin: int
    end: int


class TextWindowTemplate:
    """The frequent fragments of a site.

    Attributes:
        pages: number of different pages that were counted.
    """

    def __init__(self, method: TextWindows, fragments: Hashes, pages: int) -> None:
        self.pages = pages
        self._window = method.window
        self._fragments = fragments

    def label(self, read: SitePage) -> Labels:
        """Label blocks most of whose characters lie in frequent fragments, and elements of nothing but such blocks."""
        page = read.page
        detagged = Detagged(page)
        inked = self._covered(detagged)[detagged.place]
        length = np.bincount(detagged.run, minlength=len(page.runs))
        inside = np.bincount(detagged.run, inked, minlength=len(page.runs))
        blocks = mostly_characters(page, length, inside / np.maximum(length, 1))
        return Labels(np.concatenate([of_blocks(page, blocks), blocks]))

    def templates(self, read: SitePage) -> list[TextTemplate]:
        """Return the coalesced fragments of a page and their places in its source, in order."""
        page = read.page
        detagged = Detagged(page)
        change = np.flatnonzero(np.diff(self._covered(detagged).astype(np.int8), prepend=0, append=0))
        first = np.searchsorted(detagged.place, change[::2])
        last = np.searchsorted(detagged.place, change[1::2]) - 1
        where = _Located(read)
        found = []
        for begin, end, inked, until in zip(change[::2], change[1::2], first, last, strict=True):
            if inked <= until:
                text = detagged.text[begin:end].strip()
                at = where.byte(detagged.run[inked], detagged.character[inked], after=False)
                to = where.byte(detagged.run[until], detagged.character[until], after=True)
                found.append(TextTemplate(text, at, to))
        return found

    def _covered(self, detagged: Detagged) -> NDArray[np.bool_]:
        """bool[length of the text], characters in any of the frequent fragments."""
        frequent = np.flatnonzero(among(_fragments(detagged.codes, self._window), self._fragments))
        return covered(frequent, frequent + self._window, len(detagged.codes))


class _Located:
    """Places of characters in the source of a page, worked out run by run when asked for."""

    def __init__(self, read: SitePage) -> None:
        self._read = read
        self._encoding = decoded(read.html)[0]
        self._runs = source_map(read.html, read.page).run
        self._offsets: dict[int, list[int] | None] = {}

    def byte(self, run: int, character: int, *, after: bool) -> int:
        """Byte at which a character begins, or the one after it; the border of the run where that cannot be told."""
        begin, end = self._runs[run].tolist()
        if begin == NOWHERE:
            return NOWHERE
        if run not in self._offsets:
            text = self._read.page.runs[run]
            self._offsets[run] = character_offsets(self._read.html[begin:end], text, self._encoding)
        offsets = self._offsets[run]
        if offsets is None:
            return int(end if after else begin)
        return int(begin + offsets[character - int(self._read.page.run_offset[run]) + after])


def _fragments(codes: NDArray[np.uint32], window: int) -> Hashes:
    """uint64, hash of the fragment that begins at each place; none for a text that is shorter than the window."""
    length = len(codes)
    if length < window:
        return np.zeros(0, np.uint64)
    sums = np.zeros(length + 1, np.uint64)
    np.cumsum(mix(codes.astype(np.uint64) + np.uint64(1)) * powers(0, length), out=sums[1:])
    begin = np.arange(length - window + 1)
    return mix((sums[begin + window] - sums[begin]) * inverse_powers(begin))


def _sampled(hashes: Hashes, density: int) -> NDArray[np.bool_]:
    """bool, fragments whose hash is zero modulo the density, so that it is the same ones on every page."""
    sampled: NDArray[np.bool_] = hashes % np.uint64(max(density, 1)) == 0
    return sampled
