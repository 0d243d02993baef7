"""A page to clean, and what came out, as messages between processes."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from scrapy_winnow.cleaning.item_values import CleanedItem, CleaningOptions
from scrapy_winnow.cleaning.messages import Message
from scrapy_winnow.storage.evidence import UnitCounts


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """What :func:`scrapy_winnow.cleaning.item_values.clean_item` is to clean, and how.

    Attributes:
        html: the page.
        url: its address, where known.
        counts: what its site's counts say of it, where there are some.
        options: what is the same for all pages of a crawl.
        model: name or path of the model; ``None`` for the package's own.
        kept: number by which the process has read the page and may have kept it; the page is not sent along then.
    """

    html: str | bytes
    url: str | None
    counts: UnitCounts | None
    options: CleaningOptions
    model: str | None
    kept: int | None = None


def pack_task(task: Task) -> bytes:
    """Return a task as it is sent."""
    html, counts = task.html if task.kept is None else b"", task.counts
    head: dict[str, Any] = {
        "url": task.url,
        "model": task.model,
        "kept": task.kept,
        "is_text": isinstance(html, str),
        "options": _plain(task.options),
        "counts": None,
    }
    parts = [packed_html(html)]
    if counts is not None:
        head["counts"] = [counts.size, counts.pages, counts.label_version]
        parts += [counts.units.astype("<i4").tobytes(), counts.df.astype("<i4").tobytes()]
    return Message(head, tuple(parts)).packed()


@lru_cache(maxsize=8)
def _plain(options: CleaningOptions) -> dict[str, Any]:
    """Options as they are sent, the same with every page."""
    return asdict(options)


def read_task(message: Message) -> Task:
    """Return the argument of :func:`pack_task`."""
    head, (html, *arrays) = message.head, message.parts
    counts = None
    if head["counts"] is not None:
        units, df = (np.frombuffer(array, "<i4").astype(np.int64) for array in arrays)
        size, pages, label_version = head["counts"]
        counts = UnitCounts(size, units, df, pages, label_version)
    return Task(
        unpacked_html(html, is_text=head["is_text"]),
        head["url"],
        counts,
        CleaningOptions.of(head["options"]),
        head["model"],
        head["kept"],
    )


def packed_html(html: str | bytes) -> bytes:
    """Return HTML as it is sent; whether it was text has to be said."""
    return html.encode("utf-8", "surrogatepass") if isinstance(html, str) else html


def unpacked_html(html: bytes, *, is_text: bool) -> str | bytes:
    """Return the argument of :func:`packed_html`."""
    return html.decode("utf-8", "surrogatepass") if is_text else html


def pack_cleaned(cleaned: CleanedItem) -> bytes:
    """Return what came out as it is sent."""
    head = {"values": cleaned.values, "with_evidence": cleaned.with_evidence}
    return Message(head, (cleaned.shingles.astype("<u8").tobytes(),)).packed()


def pack_failure() -> bytes:
    """Return that a page could not be cleaned, as it is sent."""
    return Message({"values": None}).packed()


def pack_forgotten() -> bytes:
    """Return that a page is not kept any more, as it is sent."""
    return Message({"values": None, "forgotten": True}).packed()


def is_forgotten(message: Message) -> bool:
    """Whether a process asks for the page itself."""
    return "forgotten" in message.head


def read_cleaned(message: Message) -> CleanedItem | None:
    """Return the argument of :func:`pack_cleaned`; ``None`` for a page that could not be cleaned."""
    if message.head["values"] is None:
        return None
    (shingles,) = message.parts
    own = np.frombuffer(shingles, "<u8").astype(np.uint64)
    return CleanedItem(message.head["values"], own, message.head["with_evidence"])
