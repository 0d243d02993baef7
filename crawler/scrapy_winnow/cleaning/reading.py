"""A page to read and fingerprint, and what was found, as messages between processes."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from scrapy_winnow.cleaning.messages import Message
from scrapy_winnow.cleaning.tasks import packed_html, unpacked_html
from scrapy_winnow.storage.evidence import HashedUnits
from winnow.page.page import Limits, PageTooLarge

if TYPE_CHECKING:
    from scrapy_winnow.cleaning.process import CleaningProcess


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """What a process is to read.

    Attributes:
        number: what the page is called by when it is to be cleaned.
        html: the page.
        url: its address.
        limits: caps above which it is not worked on.
    """

    number: int
    html: str | bytes
    url: str
    limits: Limits


@dataclass(frozen=True, slots=True, eq=False)
class ReadPage(HashedUnits):
    """The fingerprints of a page that a process has read, and may have kept until it is to be cleaned.

    Attributes:
        process: the process.
        number: what it knows the page by.
    """

    process: CleaningProcess
    number: int


def pack_reading(reading: Reading) -> bytes:
    """Return what is to be read as it is sent."""
    is_text, limits = isinstance(reading.html, str), asdict(reading.limits)
    head = {"read": reading.number, "is_text": is_text, "url": reading.url, "limits": limits}
    return Message(head, (packed_html(reading.html),)).packed()


def is_reading(message: Message) -> bool:
    """Whether a page is to be read, and not to be cleaned."""
    return "read" in message.head


def unpack_reading(message: Message) -> Reading:
    """Return the argument of :func:`pack_reading`."""
    head, (html,) = message.head, message.parts
    return Reading(head["read"], unpacked_html(html, is_text=head["is_text"]), head["url"], Limits(**head["limits"]))


def pack_hashed(hashed: HashedUnits) -> bytes:
    """Return what was found as it is sent."""
    arrays = (hashed.units.astype("<i4"), hashed.fingerprints.astype("<u8"), hashed.masses)
    return Message({"size": hashed.size}, (*(array.tobytes() for array in arrays), hashed.contents_id)).packed()


def pack_too_large(error: PageTooLarge) -> bytes:
    """Return that a page is too large as it is sent."""
    return Message({"too_large": [error.reason, error.size, error.limit]}).packed()


def unpack_hashed(message: Message, process: CleaningProcess, number: int) -> ReadPage | None:
    """Return what a process has found; ``None`` for a page that could not be read.

    Raises:
        PageTooLarge: the page is.
    """
    if "too_large" in message.head:
        raise PageTooLarge(*message.head["too_large"])
    if "size" not in message.head:
        return None
    units, fingerprints, masses, contents_id = message.parts
    return ReadPage(
        message.head["size"],
        np.frombuffer(units, "<i4").astype(np.int64),
        np.frombuffer(fingerprints, "<u8").astype(np.uint64),
        np.frombuffer(masses, np.uint8),
        contents_id,
        process,
        number,
    )
