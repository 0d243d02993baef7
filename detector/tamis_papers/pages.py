"""Sites and samples of their pages; what a site-level method is and says of them; what several methods compute."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, fields
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, Self, TypeVar

import numpy as np

from tamis.fingerprints import TAG_TOKENS
from tamis.folders import SitePages, page_files
from tamis.hashing import hash_slices, hash_text, mix
from tamis.page.tag_sets import IGNORED
from tamis.page.text import CHARACTER_TOKENS, CODE_UNITS
from tamis.page.tree import TAG_NAMES, cached_on_page, elements_of_blocks, nearest, sums_in_blocks, tag_set, within

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from tamis.arrays import Flags, Hashes, Integers
    from tamis.folders import SitePage
    from tamis.page.page import Page


_Item = TypeVar("_Item")


def spread(items: Sequence[_Item], sample: int | None) -> list[_Item]:
    """Return a sample of the items, evenly spread; all of them without a number."""
    if sample is None or sample >= len(items):
        return list(items)
    return [items[number * len(items) // sample] for number in range(sample)]


def find_sites(folder: Path, min_pages: int = 10) -> list[SitePages]:
    """List the sites of a folder by name, ``https://name/``, leaving out those with too few pages.

    Raises:
        FileNotFoundError: the folder does not exist.
        ValueError: there is no site with enough pages in it.
    """
    if not folder.is_dir():
        raise FileNotFoundError(f"no such folder: {folder}")
    folders = [each for each in sorted(folder.iterdir()) if each.is_dir()]
    sites = [SitePages.of_files(each, page_files(each)) for each in folders]
    enough = [site for site in sites if len(site) >= min_pages]
    if not enough:
        raise ValueError(f"{folder} holds no folder with {min_pages} or more HTML files: one folder a site is expected")
    return enough


class SiteError(ValueError):
    """A site that a method cannot work on; the message says what is missing and what would help."""


def distinct_pages(pages: SitePages) -> Iterator[SitePage]:
    """Like :meth:`SitePages.read_all`, without pages that have no text or the text of an earlier page.

    A page that is found at two addresses says nothing of what a site repeats.
    """
    seen = {0}  # the hash of no text
    for read in pages.read_all():
        key = int(text_fingerprints(read.page)[0])
        if key not in seen:
            seen.add(key)
            yield read
        del read


def check_enough(pages: SitePages, distinct: int, least: int = 2) -> None:
    """Raise if fewer than ``least`` pages of a site are readable, have text and differ from each other.

    Raises:
        SiteError: there are fewer; the message says how many pages there are, and how many cannot be used.
    """
    if distinct < least:
        unread = f", {len(pages.skipped):,} of which cannot be used" if pages.skipped else ""
        raise SiteError(
            f"{least:,} pages with different text are needed to see what repeats, there are {distinct:,} "
            f"(among {len(pages):,} pages{unread})"
        )


def parameter(
    default: Any,
    description: str,
    unit: str = "",
    *,
    choices: tuple[str, ...] = (),
    least: float = -inf,
    most: float = inf,
) -> Any:
    """A dataclass field that is a parameter of a method, its option on the command line, and what it may be."""
    return field(
        default=default,
        metadata={"description": description, "unit": unit, "choices": choices, "least": least, "most": most},
    )


@dataclass(frozen=True)
class SiteMethod(ABC):
    """A site-level method: a frozen dataclass of its parameters, each made by :func:`parameter`.

    Its docstring says what it does in a line, names the paper and section, the cost, and when to use it.

    Raises:
        ValueError: a parameter is not one of its choices, or out of its bounds.
    """

    name: ClassVar[str]

    def __post_init__(self) -> None:
        for each in fields(self):
            value, choices = getattr(self, each.name), each.metadata["choices"]
            least, most = each.metadata["least"], each.metadata["most"]
            if choices and value not in choices:
                raise ValueError(f"{each.name} must be one of {', '.join(choices)}: {value!r}")
            if not isinstance(value, str) and not least <= value <= most:
                allowed = f"at least {least}" if most == inf else f"from {least} to {most}"
                raise ValueError(f"{each.name} must be {allowed}: {value}")

    @abstractmethod
    def learn(self, pages: SitePages) -> Learned:
        """Find out what the site repeats.

        Raises:
            SiteError: the site will not do: one page only, only copies, no links.
        """


class Labels(NamedTuple):
    """What a method says of the units of a page.

    Attributes:
        template: bool[n + m], the units that are template, elements first.
        content: bool[n + m], the units that are surely not, unless they are template, as examples to learn from;
            ``None`` where the method has no rule for them, so that training takes what no other page of the site has.
    """

    template: Flags
    content: Flags | None = None


class Learned(NamedTuple):
    """What a method has learned of a site.

    Attributes:
        pages: number of different pages that it was learned from.
        label: labels a page of the site, one of those learned from (by its ``number``) or a new one.
        groups: numbers of pages that belong together, where a method finds such: those of each cluster, of a menu, or
            of all different pages.
    """

    pages: int
    label: Callable[[SitePage], Labels]
    groups: Sequence[Sequence[int]] = ()


class Detagged:
    """The text of a page without its markup, white space collapsed, borders of blocks counting as white space.

    Attributes:
        codes: uint32, code points of the text.
        offset: int64[k], offsets in the text of the characters that are not white space.
        run: int64[k], the run of the page that each of these is in.
    """

    def __init__(self, page: Page) -> None:
        codes = np.frombuffer(page.text.encode("utf-32-le", "surrogatepass"), "<u4")
        self._runs = page.r
        nonblank = np.flatnonzero(~np.fromiter(map(str.isspace, page.text), bool, len(page.text)))
        self.run = np.searchsorted(page.run_offset, nonblank, side="right") - 1
        after_space = np.diff(nonblank, prepend=-1) > 1
        after_space[np.searchsorted(nonblank, page.run_offset[page.block_run_begin])] = True
        after_space[:1] = False
        self.offset = np.arange(len(nonblank)) + np.cumsum(after_space)
        self.codes = np.full(int(self.offset[-1]) + 1 if len(self.offset) else 0, ord(" "), np.dtype("<u4"))
        self.codes[self.offset] = codes[nonblank]

    def slices(self, begin: NDArray[np.int32], end: NDArray[np.int32]) -> tuple[Integers, Integers]:
        """int64[k] twice, where the text of k slices of runs begins and ends; white space around it does not count."""
        before = np.searchsorted(self.run, np.arange(self._runs + 1))
        first, last = before[begin], before[end]
        offsets = np.append(self.offset, len(self.codes))
        return offsets[first], np.where(first < last, offsets[last - 1] + 1, offsets[first])

    @cached_property
    def text(self) -> str:
        """The text."""
        return self.codes.tobytes().decode("utf-32-le", "surrogatepass")


def tag_hashes(page: Page) -> Hashes:
    """uint64[n], hash of each element's tag."""
    hashes: Hashes = TAG_TOKENS[page.tag]
    for index, name in page.unknown_names.items():
        hashes[index] ^= np.uint64(hash_text(name))
    return hashes


_TAG_LENGTH: Final = np.array([len("<></>") + 2 * len(name) for name in TAG_NAMES], np.int64)


def markup_length(page: Page) -> Integers:
    """int64[n], characters of each element's tags and attributes as HTML source."""
    table, tags = page.attributes, _TAG_LENGTH[page.tag]
    for element, unknown in page.unknown_names.items():
        tags[element] += 2 * len(unknown)
    attributes = np.zeros(len(table.first), np.int64)
    for name in table.names:
        for value, index in table.first_index_by_value(name).items():
            attributes[index] = len(f' {name}="{value}"')
    return tags + table.sum_per_element(attributes)


def html_lengths(page: Page) -> tuple[Integers, Integers]:
    """Characters of HTML: int64[n], of each element's tags and attributes; int64[r], of each run of text.

    Blank runs and the elements that no reader sees have none.
    """
    unseen = within(page, tag_set(*IGNORED)[page.tag])
    return np.where(unseen, 0, markup_length(page)), np.diff(page.run_offset) * page.is_nonblank


@cached_on_page
def text_fingerprints(page: Page) -> Hashes:
    """uint64[n + m], hash of the text of every unit, without markup, elements first; 0 for units without text.

    Case is folded, digits are kept, and white space collapses, also across runs. The border of a text block counts as
    white space, white space at either end of a unit does not count.
    """
    detagged = Detagged(page)
    borders = (page.run_begin, page.block_run_begin), (page.run_end, page.block_run_end)
    begin, end = detagged.slices(*map(np.concatenate, borders))
    folded = CHARACTER_TOKENS.take(detagged.codes, mode="clip")
    tokens = np.where(detagged.codes < CODE_UNITS, folded, mix(detagged.codes.astype(np.uint64)))
    hashes = hash_slices(tokens, begin, end)
    hashes[hashes == 0] = 1  # 0 means no text
    hashes[begin == end] = 0
    return hashes


class HashCounts(NamedTuple):
    """On how many pages of a site each hash occurs, exactly: for sites whose pages are all at hand.

    Attributes:
        hashes: uint64[h], the hashes that occur, ascending, without 0.
        counts: int64[h], pages with each.
        pages: number of pages counted.
    """

    hashes: Hashes
    counts: Integers
    pages: int

    @classmethod
    def of_pages(cls, pages: Iterable[Hashes]) -> Self:
        """Count the hashes of some pages, uint64[...] each."""
        once = [np.unique(hashes) for hashes in pages]
        hashes, counts = np.unique(np.concatenate([np.zeros(0, np.uint64), *once]), return_counts=True)
        return cls(hashes[hashes != 0], counts[hashes != 0], len(once))

    def df(self, hashes: Hashes) -> Integers:
        """int64[...], pages with each of some hashes."""
        index = np.searchsorted(self.hashes, hashes)
        known = np.append(self.hashes, np.uint64(0))[index] == hashes
        return np.where(known, np.append(self.counts, 0)[index], 0)


def count_hashes(
    pages: SitePages, hashes_of: Callable[[Page], Hashes], min_pages: int = 2
) -> tuple[HashCounts, list[int]]:
    """Count hashes on all pages with different text, and return the numbers of these.

    Raises:
        SiteError: there are fewer than ``min_pages``.
    """
    found = [(read.number, np.unique(hashes_of(read.page))) for read in distinct_pages(pages)]
    check_enough(pages, len(found), min_pages)
    return HashCounts.of_pages(hashes for _, hashes in found), [number for number, _ in found]


def whole_elements(page: Page, shared: Flags) -> Flags:
    """bool[n + m], elements that are template with all they hold, given the units that pages share; blocks stay.

    A shared element is template when all blocks in it are shared: the element around a page's content is shared, too.
    An element without text goes with the nearest one around it that has some, since a picture in a text is no template
    because other texts have pictures at that place.
    """
    blocks = shared[page.n :]
    template = shared[: page.n] & elements_of_blocks(page, blocks)
    around = nearest(page.parent, page.block_end > page.block_begin)
    return np.concatenate([np.append(template, False)[around], blocks])


def blocks_of_runs(page: Page, fraction: NDArray[np.float64 | np.bool_]) -> Flags:
    """bool[m], blocks more than half of whose characters are chosen: of each run a fraction (float64[r] or bool[r]).

    White space does not count.
    """
    length = np.bincount(Detagged(page).run, minlength=page.r)
    chosen = np.append(0.0, np.cumsum(length * fraction))
    mostly: Flags = 2 * (chosen[page.block_run_end] - chosen[page.block_run_begin]) > sums_in_blocks(page, length)
    return mostly
