"""The pages of one site, read again on every pass, so that no more than one tree is in memory at a time."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Final, Protocol
from urllib.parse import quote, urljoin

from winnow.page.page import DEFAULT_LIMITS, Limits, Page, PageTooLarge

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from winnow.progress import Progress


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
    """The pages of one site: names and addresses in memory, HTML and trees read when a pass comes to them.

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
        """Read one page after the other; those that cannot be are left out and told of in :attr:`skipped`.

        Args:
            progress: told how many pages are done, of how many, and the name of the last one.
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


LEAST_PAGES: Final = 2
"""Different pages below which nothing can be seen to repeat."""


def check_enough(pages: SitePages, distinct: int, least: int = LEAST_PAGES) -> None:
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
