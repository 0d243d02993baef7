"""Read one page for a person: from a file, from standard input, or from the web.

From the web a page is fetched politely: robots.txt, limits of size and time.
"""

from __future__ import annotations

import gzip
import http.client
import io
import json
import re
import sys
import threading
import urllib.error
import urllib.request
import zlib
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar
from urllib.parse import urljoin

from protego import Protego
from w3lib.encoding import http_content_type_encoding
from w3lib.url import safe_url_string

from tamis.cleaning import NOT_HTML
from tamis.page.page import DEFAULT_LIMITS, Limits, Page
from tamis.page.parsing import is_binary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

STANDARD_INPUT: Final = "-"

CRAWL_SITE: Final = "SCRAPY_SETTINGS_MODULE=scrapy_tamis.project.settings scrapy crawl site"
"""The command that crawls sites; without the variable Scrapy finds the spider only in a copy of this repository."""

_ADDRESSES: Final = re.compile(rb"\s*https?://[^\s<>]+(?:\s+https?://[^\s<>]+)*\s*(?:\S{0,8})?")
_ADDRESSES_BYTES: Final = 4_096  # that are searched
_GZIP: Final = b"\x1f\x8b"
_WARC: Final = b"WARC/"

AGENT: Final = "tamis"
_USER_AGENT: Final = f"{AGENT} (+https://pypi.org/project/tamis/)"
_TIMEOUT_S: Final = 30.0  # of it all
_CONNECT_TIMEOUT_S: Final = 10.0  # of each address of a name, and between bytes
_MAX_BYTES: Final = 64_000_000
_MAX_ROBOTS_BYTES: Final = 512_000

_HANDLERS: Final[tuple[Any, ...]] = (
    urllib.request.UnknownHandler,
    urllib.request.HTTPDefaultErrorHandler,
    urllib.request.HTTPErrorProcessor,
    urllib.request.HTTPRedirectHandler,
    urllib.request.ProxyHandler,
    urllib.request.HTTPHandler,
    urllib.request.HTTPSHandler,
)
"""What opens ``http`` and ``https``, and no files."""

_Thing = TypeVar("_Thing")


class InputError(Exception):
    """A page or file that cannot be read or used; the message says why."""


class Document(NamedTuple):
    """One page as it was served: its address, or the path of its file in a folder, and the charset of its header."""

    name: str
    url: str | None
    html: bytes
    encoding: str | None = None

    def parse(self, limits: Limits = DEFAULT_LIMITS) -> Page:
        """Parse it, see :meth:`tamis.Page.parse`."""
        return Page.parse(self.html, self.url, encoding=self.encoding, limits=limits)


def is_address(name: str) -> bool:
    """Whether a name is a web address rather than a file."""
    return name.lower().startswith(("http://", "https://"))


def reason(error: Exception) -> str:
    """Return what an exception says to a user: "no such file or directory" rather than "[Errno 2] ...: 'x'"."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    return str(error)


def read_page(name: str) -> bytes:
    """Read the bytes of a page from a file, or from standard input."""
    if not name:
        raise InputError("no such file or directory (its name is empty)")
    try:
        html = sys.stdin.buffer.read() if name == STANDARD_INPUT else Path(name).read_bytes()
    except OSError as error:
        hint = "; an address begins with https://" if name.startswith("www.") else ""
        raise InputError(reason(error) + hint) from error
    if not html.strip():
        raise InputError("is empty")
    if _ADDRESSES.fullmatch(html[:_ADDRESSES_BYTES]):
        raise InputError(f"is a list of addresses; {CRAWL_SITE} -a urls_file=FILE crawls and cleans them")
    if is_binary(html) or html.startswith(_WARC):
        hint = f"is {NOT_HTML['binary']}"
        if html.startswith(_WARC) or ".warc" in Path(name).suffixes:
            hint = "is an archive (WARC), not HTML: tamis warc cleans archives"
        elif html.startswith(_GZIP):
            hint = "is compressed: unpack it with gunzip first"
        raise InputError(hint)
    if _is_json_lines(html):
        raise InputError('is JSON lines, not HTML: in Python, tamis.clean(row["html"], row["url"]) cleans a row')
    return html


def _is_json_lines(html: bytes) -> bool:
    """Whether a document is JSON objects, one a line, as a crawl writes them."""
    first, _, rest = html.lstrip().partition(b"\n")
    if not (first.startswith(b"{") and rest.lstrip().startswith(b"{")):
        return False
    try:
        json.loads(first)
    except (ValueError, RecursionError):
        return False
    return True


def read_document(name: str, url: str | None = None, *, obey_robots: bool = True) -> Document:
    """Read a page from a file or standard input, with ``url`` as its address, or from the web."""
    if is_address(name):
        return fetch(name, obey_robots=obey_robots)
    return Document("page" if name == STANDARD_INPUT else Path(name).name, url, read_page(name))


def parse_readable(pages: Iterable[_Thing], read: Callable[[_Thing], Document]) -> Iterator[Page]:
    """Read and parse pages; leave out those that cannot be read or parsed."""
    for each in pages:
        with suppress(InputError, OSError, LookupError, ValueError):  # such as a page that is too large
            yield read(each).parse()


def fetch(url: str, *, obey_robots: bool = True) -> Document:
    """Fetch one page, by the proxies of the environment; redirects are followed, each under the same rules.

    With ``obey_robots`` the ``robots.txt`` of each host on the way is asked whether ``tamis`` may fetch the page.
    """
    opener = urllib.request.OpenerDirector()
    for kind in _HANDLERS:
        opener.add_handler(kind())
    if obey_robots:
        opener.add_handler(_Robots())
    answer: Future[Document] = Future()

    def work() -> None:
        try:
            answer.set_result(_read(opener, safe_url_string(url), _MAX_BYTES))
        except Exception as error:
            answer.set_exception(error)

    # The call itself may never end, as with a server that sends a byte now and then: only the wait for it does.
    threading.Thread(target=work, daemon=True).start()
    try:
        fetched = answer.result(_TIMEOUT_S)
    except TimeoutError as error:
        raise InputError("could not be fetched: the server did not answer in time") from error
    except urllib.error.HTTPError as error:
        error.close()
        raise InputError(f"could not be fetched: {error}") from error
    except (OSError, EOFError, ValueError, http.client.HTTPException, zlib.error) as error:
        cause = getattr(error, "reason", error)
        raise InputError(f"could not be fetched: {reason(cause) if isinstance(cause, OSError) else cause}") from error
    if len(fetched.html) > _MAX_BYTES:
        raise InputError(f"is larger than {_MAX_BYTES:,} bytes")
    return fetched


def _read(opener: urllib.request.OpenerDirector, url: str, max_bytes: int) -> Document:
    """Read an address, at most ``max_bytes`` and one more byte of it; a page that breaks off is an error."""
    request = urllib.request.Request(url, headers={"User-Agent": _USER_AGENT, "Accept": "text/html,*/*;q=0.5"})  # noqa: S310
    with opener.open(request, timeout=_CONNECT_TIMEOUT_S) as response:
        body = response.read(max_bytes + 1)
        if response.length and len(body) <= max_bytes:
            raise http.client.IncompleteRead(body, response.length)
        if response.headers.get("Content-Encoding") == "gzip":  # some servers send it unasked
            body = gzip.GzipFile(fileobj=io.BytesIO(body)).read(max_bytes + 1)
        encoding = http_content_type_encoding(response.headers.get("Content-Type"))
        return Document(response.geturl(), response.geturl(), body, encoding)


class _Robots(urllib.request.BaseHandler):
    """Asks robots.txt before each request but those for robots.txt itself, redirects included."""

    def __init__(self) -> None:
        self._known: dict[str, Protego | None] = {}

    def http_request(self, request: urllib.request.Request) -> urllib.request.Request:
        """Refuse an address that robots.txt forbids, or whose robots.txt the server fails to give (RFC 9309)."""
        url, where = request.full_url, urljoin(request.full_url, "/robots.txt")
        if url == where:
            return request
        if where not in self._known:
            self._known[where] = None  # a redirect of robots.txt to a page is not asked about
            self._known[where] = self._ask(where)
        rules = self._known[where]
        if rules is not None and not rules.can_fetch(url, AGENT):
            raise InputError(f"robots.txt does not allow it: {where}")
        return request

    https_request = http_request

    def _ask(self, where: str) -> Protego:
        try:
            text = _read(self.parent, where, _MAX_ROBOTS_BYTES).html
        except urllib.error.HTTPError as error:
            error.close()
            if error.code >= http.HTTPStatus.INTERNAL_SERVER_ERROR:
                raise InputError(f"robots.txt could not be read: {error}: {where}") from error
            text = b""
        return Protego.parse(text.decode("utf-8", "replace"))
