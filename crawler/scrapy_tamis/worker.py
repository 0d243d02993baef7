"""The program of a cleaning process, which only a crawl starts.

Its standard input is a socket. It reads tasks from there and sends back the result of each. It ends when the other end
of the socket is closed, which the system does even if the crawl is killed.
"""

from __future__ import annotations

import gc
import json
import signal
import socket
import struct
import traceback
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from scrapy_tamis.fields import CleaningOptions, clean_item
from scrapy_tamis.storage.evidence import HashedPage, SiteEvidence
from tamis.models import load_model
from tamis.page.addresses import links_of
from tamis.page.page import Limits, Page, PageTooLarge
from tamis.rules import Rule

if TYPE_CHECKING:
    from collections.abc import Sequence
    from io import BufferedReader

    from numpy.typing import NDArray

MAX_KEPT_UNITS: Final = 1 << 14
"""Units of all pages that are kept: ten large ones, with which a process takes 60 MB more, or some dozens of others."""

LENGTH: Final = struct.Struct("<I")
"""What a message begins with: the bytes that follow."""

_to_json: Final = json.JSONEncoder(ensure_ascii=False).encode  # dumps() would make an encoder each time

_LONG: Final = 256  # characters; shorter texts stay in the head

DONE, GONE, TOO_LARGE, FAILED = "done", "gone", "too large", "failed"
"""What the answer to a task begins with."""


class PageGoneError(LookupError):
    """A page that was read is not kept any more."""


def pack(message: Sequence[object]) -> bytes:
    """Return a message as it is sent: its length, that of its head, the head in JSON, and its long texts and arrays.

    JSON would take longer for a page than parsing it does.
    """
    values, kinds, parts = list(message), [], []
    for place, value in enumerate(values):
        if isinstance(value, np.ndarray):
            kind, data = value.dtype.str, value.tobytes()
        elif isinstance(value, str) and len(value) > _LONG:
            kind, data = "str", value.encode("utf-8", "surrogatepass")
        elif isinstance(value, bytes):
            kind, data = "bytes", value
        else:
            continue
        values[place] = None
        kinds.append((place, len(data), kind))
        parts.append(data)
    head = _to_json((values, kinds)).encode("utf-8", "surrogatepass")
    size = LENGTH.size + len(head) + sum(map(len, parts))
    return b"".join((LENGTH.pack(size), LENGTH.pack(len(head)), head, *parts))


def unpack(body: bytes) -> Any:
    """Return the message that follows a length; its tuples have become lists. Nothing is ever executed."""
    end = LENGTH.size + LENGTH.unpack_from(body)[0]
    values, kinds = json.loads(body[LENGTH.size : end].decode("utf-8", "surrogatepass"))
    for place, size, kind in kinds:
        begin, end = end, end + size
        data = body[begin:end]
        if kind == "str":
            values[place] = data.decode("utf-8", "surrogatepass")
        else:
            values[place] = data if kind == "bytes" else np.frombuffer(data, kind)
    return values


@cache
def freeze_loaded() -> None:
    """Exclude all that is loaded from garbage collection, and collect less often; once in a process, before a page.

    With Scrapy, numpy and a model a process has 150,000 objects that are never garbage. A full collection that visits
    them holds a crawl's event loop for 60 ms and more, several times in its first thousand pages, and is not worth it
    here either: there are some ten objects to collect. An excluded object is still freed when nothing refers to it,
    unless it is part of a cycle then. By Python's own thresholds the pages in hand are visited for every third new one,
    which takes 7% of the time of a crawl's process. These go through all generations in as many pages, since a response
    whose selectors were used is part of a cycle. (Python 3.14.0 to 3.14.4 have two generations: the second number says
    how slowly they go through the older one, and they ignore the third.)
    """
    gc.freeze()
    if 0 < gc.get_threshold()[0] < 5_000:  # else the user has chosen others
        gc.set_threshold(5_000, 2, 1)


class Worker:
    """Reads and cleans pages. A page that was read is kept, since it is probably cleaned soon.

    Not every page has an item, so the oldest are dropped when there are too many.
    """

    def __init__(self, model: str | None, limits: tuple[int, ...], *options: Any) -> None:
        self._model = load_model(model)
        self._options = CleaningOptions(Limits(*limits), *options)
        self._kept: dict[int, HashedPage] = {}
        self._pages_read = 0

    def read(self, html: str | bytes, url: str | None, with_links: bool) -> tuple[object, ...]:
        """Return a number, links and the values of :class:`HashedUnits`; raise :class:`PageTooLarge`."""
        page = Page.parse(html, url, limits=self._options.limits)
        hashed = HashedPage.of(page, self._model)
        self._pages_read += 1
        if page.n + page.m <= MAX_KEPT_UNITS:
            self._kept[self._pages_read] = hashed
            while sum(kept.page.n + kept.page.m for kept in self._kept.values()) > MAX_KEPT_UNITS:
                del self._kept[next(iter(self._kept))]
        links = links_of(page) if with_links else None
        ids = hashed.contents_id, hashed.main_text_id
        return self._pages_read, links, hashed.fingerprints, hashed.masses, *ids

    def clean(
        self,
        page: int | str | bytes,
        url: str | None,
        df: NDArray[np.int64] | None,
        pages: int,
        label_version: int,
        model: str | None,
        rules: tuple[tuple[str, bool], ...],
    ) -> tuple[object, ...]:
        """Return the attributes of what :func:`clean_item` returns.

        Raises:
            PageGoneError: the page of a number is not kept any more.

        Args:
            page: HTML, or the number of a page that was read.
            url: address of the page.
            df: attribute of the :class:`SiteEvidence`; ``None`` without counts.
            pages: the same; 0 without counts.
            label_version: the same; 0 without counts.
            model: another model than the crawl's.
            rules: the values of each :class:`Rule`.
        """
        html: str | bytes | HashedPage | None = self._kept.pop(page, None) if isinstance(page, int) else page
        if html is None:
            raise PageGoneError
        evidence = None if df is None else SiteEvidence(df, pages, label_version)
        if evidence is not None and not isinstance(html, HashedPage):
            html = HashedPage.of(Page.parse(html, url, limits=self._options.limits), self._model)
        page_model = self._model if model is None else load_model(model)
        page_rules = tuple(Rule(*rule) for rule in rules)
        cleaned = clean_item(html, url, evidence, page_model, self._options, page_rules)
        return cleaned.values, cleaned.losses


def main() -> None:
    """Read and clean pages until the crawl's process has gone; the first message has the arguments of the worker."""
    for request in (signal.SIGINT, signal.SIGTERM):
        signal.signal(request, signal.SIG_IGN)  # this process ends with the crawl, which may have pages to finish
    with socket.socket(fileno=0) as crawl, crawl.makefile("rb") as tasks, suppress(ConnectionError):
        if (setup := _receive(tasks)) is None:
            return
        worker = Worker(*setup)
        freeze_loaded()
        crawl.sendall(pack((DONE,)))
        while (task := _receive(tasks)) is not None:
            crawl.sendall(pack(_run(worker, *task)))


def _receive(tasks: BufferedReader) -> tuple[Any, ...] | None:
    """Return the next message; ``None`` when the crawl has gone, be it in the middle of one."""
    if len(length := tasks.read(LENGTH.size)) < LENGTH.size:
        return None
    (size,) = LENGTH.unpack(length)
    return unpack(body) if len(body := tasks.read(size)) == size else None


def _run(worker: Worker, method: str, *arguments: Any) -> tuple[object, ...]:
    """Return what to send back: how it went, and the result, or the arguments of an error."""
    try:
        return DONE, *getattr(worker, method)(*arguments)
    except PageGoneError:
        return (GONE,)
    except PageTooLarge as error:
        return TOO_LARGE, *error.args
    except Exception:
        return FAILED, traceback.format_exc()
