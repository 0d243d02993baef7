"""Where the pages to inspect come from: a file, standard input, an address, or a folder of pages."""

from __future__ import annotations

import http.client
import urllib.error
import urllib.request
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, unquote, urlsplit

from scrapy_winnow.storage.keys import site_of
from winnow.training.sites import page_files

if TYPE_CHECKING:
    from collections.abc import Callable
    from email.message import Message

_AGENT: Final = "winnow-inspect (+https://pypi.org/project/scrapy-winnow/)"
_WAIT: Final = 30.0  # seconds
_MOST_BYTES: Final = 64_000_000
_MOST_ARCHIVED: Final = 500  # pages of a WARC file; they are kept in memory
_ARCHIVES: Final = (".warc", ".warc.gz", ".warc.zst")


class DocumentError(Exception):
    """A page that cannot be inspected; the message says why."""


@dataclass(frozen=True, slots=True)
class Document:
    """One page as it was served.

    Attributes:
        name: what it is called: the path of its file within the folder, or its address.
        url: its address, where known.
        html: its bytes.
        encoding: charset of the HTTP header, where there was one.
    """

    name: str
    url: str | None
    html: bytes
    encoding: str | None = None


class Documents:
    """The pages that one inspector shows, read when they are asked for.

    Args:
        source: file, folder, WARC file, address, or ``-`` for standard input.
        url: address of the page, of the folder where ``source`` is one; of a WARC file the pages of its host are taken,
            else those of the host of the first page.
        read_page: reads the bytes of a file, or of standard input; it raises :class:`DocumentError` or `OSError`.

    Raises:
        DocumentError: there is nothing to inspect.
    """

    def __init__(
        self,
        source: str,
        url: str | None = None,
        read_page: Callable[[str], bytes] = lambda name: Path(name).read_bytes(),
    ) -> None:
        self.folder: Path | None = None
        self._source = source
        self._url = url
        self._read_page = read_page
        self._files: tuple[Path, ...] = ()
        self._archived: tuple[Document, ...] = ()
        if not _is_address(source) and source.endswith(_ARCHIVES):
            self._archived = archived(source, url)
        elif not _is_address(source) and Path(source).is_dir():
            self.folder = Path(source)
            self._files = page_files(self.folder)
            if not self._files:
                raise DocumentError("holds no HTML files")
        self.read = lru_cache(maxsize=4)(self._read)

    @property
    def names(self) -> list[str]:
        """Names of the pages, in the order of their numbers."""
        if self._archived:
            return [document.name for document in self._archived]
        if self.folder is None:
            return [self._source]
        return [file.relative_to(self.folder).as_posix() for file in self._files]

    @property
    def of_one_site(self) -> bool:
        """Whether they are pages of a site rather than a single one."""
        return self.folder is not None or bool(self._archived)

    def __len__(self) -> int:
        return len(self._archived or self._files) or 1

    def _read(self, number: int) -> Document:
        """Read one page; :attr:`read` keeps the last few.

        Raises:
            DocumentError: it cannot be read, or is no HTML.
        """
        if self._archived:
            return self._archived[number]
        if self.folder is None:
            if _is_address(self._source):
                return fetched(self._source)
            return Document(_title(self._source), self._url, self._read_page(self._source))
        file = self._files[number]
        name = file.relative_to(self.folder).as_posix()
        base = self._url or f"https://{quote(self.folder.resolve().name)}/"
        return Document(name, f"{base.rstrip('/')}/{quote(name)}", self._read_page(str(file)))


def fetched(url: str) -> Document:
    """Fetch a page from the web.

    Raises:
        DocumentError: it cannot be fetched, or is too large.
    """
    request = urllib.request.Request(url, headers={"User-Agent": _AGENT, "Accept": "text/html,*/*;q=0.5"})  # noqa: S310
    try:
        with urllib.request.urlopen(request, timeout=_WAIT) as response:  # noqa: S310  (_is_address knows http alone)
            html = response.read(_MOST_BYTES + 1)
            headers: Message = response.headers
            final = response.geturl()
    except urllib.error.HTTPError as error:
        error.close()
        raise DocumentError(f"could not be fetched: {error}") from error
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise DocumentError(f"could not be fetched: {error}") from error
    if len(html) > _MOST_BYTES:
        raise DocumentError(f"is larger than {_MOST_BYTES:,} bytes")
    return Document(final, final, html, headers.get_content_charset())


def archived(source: str, url: str | None) -> tuple[Document, ...]:
    """Read the pages of one host out of a WARC file, the first of them.

    Raises:
        DocumentError: there are none, the file cannot be read, or what reads such files is not installed.
    """
    try:
        from scrapy_winnow.archives.reading import ArchiveReader, Part  # noqa: PLC0415  (of the extra [archives])
    except ImportError as error:
        raise DocumentError("WARC files take pip install 'scrapy-winnow[archives]'") from error
    host = site_of(url) if url else None
    reader = ArchiveReader(Part(source), max_bytes=_MOST_BYTES)
    found: dict[str, Document] = {}
    for page in reader:
        host = host or page.host
        if page.host == host:
            found.setdefault(page.url, Document(page.url, page.url, page.html, page.charset))
        if len(found) == _MOST_ARCHIVED:
            break
    if not found:
        raise DocumentError(reader.broken or f"holds no page{f' of {host}' if host else ''}")
    return tuple(found.values())


def gold_name(document: Document) -> str:
    """Return the name of a page in a gold file: that of its file without the ending, or one made of its address."""
    name = document.name
    if _is_address(name):
        parts = urlsplit(name)
        name = unquote(f"{parts.netloc}{parts.path}".rstrip("/")) + (f"_{parts.query}" if parts.query else "")
    stem = name.removesuffix(".html").removesuffix(".htm")
    # A name that is safe as a path below a folder: no part of it leads out.
    parts_of = [part.strip() for part in stem.replace("\\", "/").split("/")]
    return "/".join(part for part in parts_of if part not in {"", ".", ".."}) or "page"


def _title(source: str) -> str:
    return "page" if source == "-" else Path(source).name


def _is_address(source: str) -> bool:
    return source.lower().startswith(("http://", "https://"))
