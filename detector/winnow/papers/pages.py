"""The pages of one site, read again on each pass, and what several of the methods compute of a page.

No more than one tree is in memory at a time.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol
from urllib.parse import quote, urljoin

import numpy as np

from winnow.page.page import DEFAULT_LIMITS, Limits, Page, PageTooLarge
from winnow.page.text import CODES, white_space
from winnow.page.tree import nearest, prefix_sums

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from winnow.progress import Progress

    Hashes = NDArray[np.uint64]
    Positions = NDArray[np.int64]


class SiteError(ValueError):
    """A site that a method cannot work on; the message says what is missing and what would help."""


class Source(Protocol):
    """Where the HTML of a page is."""

    def read_bytes(self) -> bytes:
        """The HTML, as it was served; raises `OSError` where it cannot be read. A `pathlib.Path` is one."""
        ...


@dataclass(frozen=True, eq=False, slots=True)
class InMemory:
    """HTML that is in memory anyway."""

    html: bytes

    def read_bytes(self) -> bytes:
        """The HTML."""
        return self.html


@dataclass(frozen=True, eq=False, slots=True)
class SitePage:
    """One page of a site that has been read.

    Attributes:
        number: its place among the pages of the site, by which methods may know it again.
        name: name of its file, relative to the folder of the site.
        html: the original bytes.
        page: the parsed page; `page.url` is its address.
    """

    number: int
    name: str
    html: bytes
    page: Page


@dataclass(eq=False)
class SitePages:
    """The pages of one site: names and addresses in memory; HTML and trees are read on each pass.

    Attributes:
        names: name of each page.
        urls: address of each page.
        sources: where the HTML of each page is.
        limits: caps on the size of a page.
        skipped: pages that could not be read or are too large, and why; :meth:`read_all` fills it.
    """

    names: Sequence[str]
    urls: Sequence[str]
    sources: Sequence[Source]
    limits: Limits = DEFAULT_LIMITS
    skipped: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of_files(cls, folder: Path, files: Sequence[Path], base_url: str | None = None) -> SitePages:
        """Take some files of a folder; their addresses are ``base_url``, or ``https://FOLDER/``, and their paths."""
        names = [file.relative_to(folder).as_posix() for file in files]
        base = base_url or f"https://{quote(folder.resolve().name)}/"
        return cls(names, [urljoin(base.rstrip("/") + "/", quote(name)) for name in names], files)

    @classmethod
    def of_html(cls, pages: Sequence[tuple[str, bytes]]) -> SitePages:
        """Take pairs of an address and HTML; the address is the page's name, too."""
        urls = [url for url, _ in pages]
        return cls(urls, urls, [InMemory(html) for _, html in pages])

    def __len__(self) -> int:
        return len(self.sources)

    def read(self, number: int) -> SitePage:
        """Read and parse one page.

        Raises:
            OSError: it cannot be read.
            PageTooLarge: it is above one of the caps.
        """
        html = self.sources[number].read_bytes()
        return SitePage(number, self.names[number], html, Page.parse(html, self.urls[number], limits=self.limits))

    def read_all(self, progress: Progress | None = None) -> Iterator[SitePage]:
        """Read one page after the other; those that cannot be read are left out and listed in :attr:`skipped`.

        Args:
            progress: called with how many pages are done, of how many, and the name of the last one.
        """
        for number, name in enumerate(self.names):
            try:
                read = self.read(number)
            except PageTooLarge as error:
                self.skipped[name] = str(error)
            except OSError as error:
                self.skipped[name] = (error.strerror or str(error)).lower()
            else:
                yield read
                del read  # its tree goes before the next one is made
            if progress:
                progress(number + 1, len(self), name)

    def distinct(self, progress: Progress | None = None) -> Iterator[SitePage]:
        """As :meth:`read_all`, without pages that have no text and those whose text an earlier page has, too.

        A page that is found at two addresses says nothing of what a site repeats.
        """
        seen: set[bytes] = set()
        for read in self.read_all(progress):
            text = " ".join(read.page.text.split())
            key = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
            if text and key not in seen:
                seen.add(key)
                yield read
            del read

    def subset(self, numbers: Sequence[int]) -> SitePages:
        """The pages with these numbers, in this order; they get numbers of their own."""
        chosen = ([column[number] for number in numbers] for column in (self.names, self.urls))
        names, urls = chosen
        return SitePages(names, urls, [self.sources[number] for number in numbers], self.limits)


MIN_DISTINCT_PAGES: Final = 2
"""Different pages below which nothing can be seen to repeat."""


def check_enough(pages: SitePages, distinct: int, least: int = MIN_DISTINCT_PAGES) -> None:
    """Refuse a site with too few different pages.

    Args:
        pages: the pages of the site.
        distinct: how many of them are readable, have text, and are no copies of each other.
        least: how many are needed.

    Raises:
        SiteError: there are fewer; the message says of what there was how much.
    """
    if distinct >= least:
        return
    unread = f", {len(pages.skipped):,} of which cannot be used" if pages.skipped else ""
    raise SiteError(
        f"{least:,} pages with different text are needed to see what repeats, there are {distinct:,} "
        f"(among {len(pages):,} pages{unread})"
    )


class Detagged:
    """The text of a page without its markup, white space collapsed, borders of blocks counting as white space.

    Attributes:
        codes: uint32, code points of the text.
        place: int64[k], places in the text of the characters that are not white space.
        character: int64[k], where these are in `Page.text`.
        run: int64[k], the run each is in.
    """

    def __init__(self, page: Page) -> None:
        codes = np.frombuffer(page.text.encode("utf-32-le", "surrogatepass"), np.dtype("<u4"))
        ink = ~white_space()[np.minimum(codes, CODES - 1)]
        self.character = np.flatnonzero(ink)
        self.run = np.searchsorted(page.run_offset, self.character, side="right") - 1
        spaced = np.diff(self.character, prepend=-1) > 1
        spaced[np.searchsorted(self.character, page.run_offset[page.block_run_begin])] = True
        spaced[:1] = False
        self.place = np.arange(len(self.character)) + np.cumsum(spaced)
        self.codes = np.full(int(self.place[-1]) + 1 if len(self.place) else 0, ord(" "), np.dtype("<u4"))
        self.codes[self.place] = codes[self.character]

    @cached_property
    def text(self) -> str:
        """The text."""
        return self.codes.tobytes().decode("utf-32-le", "surrogatepass")


_MIN_PENDING: Final = 1 << 18


class HashCounter:
    """Counts millions of 64-bit hashes in two sorted arrays.

    New hashes are merged in when they are as many as the old ones, so that merging costs little.
    """

    def __init__(self) -> None:
        self._hashes = np.zeros(0, np.uint64)
        self._counts = np.zeros(0, np.int64)
        self._pending: list[Hashes] = []
        self._length = 0

    def add(self, hashes: Hashes) -> None:
        """Count hashes, each as often as it is among them."""
        self._pending.append(hashes)
        self._length += len(hashes)
        if self._length > max(_MIN_PENDING, len(self._hashes)):
            self._merge()

    def between(self, min_count: float, max_count: float = np.inf) -> Hashes:
        """Return the hashes that were counted so often, sorted."""
        self._merge()
        return self._hashes[(self._counts >= min_count) & (self._counts <= max_count)]

    def _merge(self) -> None:
        new, count = np.unique(np.concatenate([*self._pending, np.zeros(0, np.uint64)]), return_counts=True)
        hashes = np.concatenate([self._hashes, new])
        counts = np.concatenate([self._counts, count])
        order = np.argsort(hashes, kind="stable")
        hashes, counts = hashes[order], counts[order]
        first = np.ones(len(hashes), bool)
        first[1:] = hashes[1:] != hashes[:-1]
        starts = np.flatnonzero(first)
        self._hashes = hashes[starts]
        self._counts = np.add.reduceat(counts, starts) if len(starts) else counts
        self._pending, self._length = [], 0


def is_in_sorted(hashes: Hashes, known: Hashes) -> NDArray[np.bool_]:
    """bool, shaped like ``hashes``: which of them are among the known ones, which are sorted."""
    if not len(known):
        return np.zeros(hashes.shape, bool)
    place = np.minimum(np.searchsorted(known, hashes), len(known) - 1)
    found: NDArray[np.bool_] = known[place] == hashes
    return found


def whole_elements(page: Page, shared: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Find the elements that are template with all that they hold, given the units that pages share.

    A shared element is template when all blocks in it are shared: the element around a page's content is shared, too.
    An element without text goes with the nearest one around it that has some, since a picture in a text is no template
    because other texts have pictures at that place.

    Args:
        page: the page.
        shared: bool[n + m], elements first.

    Returns:
        bool[n + m], elements first; the blocks as they were.
    """
    blocks = shared[page.n :]
    other = prefix_sums(~blocks)
    with_text = page.block_end > page.block_begin
    whole = with_text & shared[: page.n] & (other[page.block_end] == other[page.block_begin])
    around = nearest(page.parent, with_text)
    return np.concatenate([np.append(whole, False)[around], blocks])


class Events(NamedTuple):
    """A page as a sequence of ``2 * n + r`` events: an element opens, a run of text, an element closes.

    Attributes:
        opens, closes: int64[n], where each element opens and closes.
        runs: int64[r], where each run of text stands.
    """

    opens: Positions
    closes: Positions
    runs: Positions

    @classmethod
    def of(cls, page: Page) -> Events:
        """Lay a page out."""
        n, r = page.n, len(page.runs)
        opened_before = np.searchsorted(page.run_begin, np.arange(r), side="right")
        return cls(
            opens=2 * np.arange(n) + page.run_begin - page.depth,
            closes=2 * page.end.astype(np.int64) + page.run_end - page.depth - 1,
            runs=np.arange(r) + 2 * opened_before - page.depth[page.run_node] - 1,
        )

    def __len__(self) -> int:
        return 2 * len(self.opens) + len(self.runs)


def covered(begin: Positions, end: Positions, length: int) -> NDArray[np.bool_]:
    """bool[length], which places some of the slices ``[begin, end)`` cover."""
    change = np.bincount(begin, minlength=length + 1) - np.bincount(end, minlength=length + 1)
    inside: NDArray[np.bool_] = np.cumsum(change[:length]) > 0
    return inside


def mostly(page: Page, runs: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """bool[m], blocks more than half of whose characters, white space aside, lie in the chosen runs (bool[r])."""
    return mostly_characters(page, np.fromiter((len("".join(run.split())) for run in page.runs), np.int64), runs)


def of_blocks(page: Page, blocks: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """bool[n], elements that hold text, and none but that of the chosen blocks (bool[m])."""
    chosen = prefix_sums(blocks)
    held = page.block_end - page.block_begin
    elements: NDArray[np.bool_] = (held > 0) & (chosen[page.block_end] - chosen[page.block_begin] == held)
    return elements


def mostly_characters(page: Page, length: Positions, share: NDArray[np.float64 | np.bool_]) -> NDArray[np.bool_]:
    """bool[m], blocks more than half of whose characters are chosen.

    Args:
        page: the page.
        length: int64[r], characters of each run.
        share: float64[r] or bool[r], the share of them that is chosen.
    """
    whole = prefix_sums(length)
    chosen = np.concatenate([[0.0], np.cumsum(length * share)])
    begin, end = page.block_run_begin, page.block_run_end
    most: NDArray[np.bool_] = 2 * (chosen[end] - chosen[begin]) > whole[end] - whole[begin]
    return most
