"""A site profile: what was learned of one host, as JSON for people and for another crawl."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from scrapy_winnow.profiles.repeated import Repeated, repeated_parts
from scrapy_winnow.storage.evidence import HashedPage
from scrapy_winnow.storage.hosts import HostLabels
from winnow import Page, PageTooLarge
from winnow.counting import THETA
from winnow.fingerprints import FINGERPRINT_VERSION

if TYPE_CHECKING:
    from collections.abc import Iterable

FORMAT: Final = "winnow site profile 1"
_ALL: Final = 255
_ABOUT: Final = (
    "What the pages of this host repeat. 'template' has CSS selectors, good for pages that are built as those sampled; "
    "'labels' has the fingerprints of Winnow's nodes and the share of pages that has each."
)


class ProfileError(ValueError):
    """A file is no profile, or of another version; the message says which."""


@dataclass(frozen=True, eq=False, slots=True)
class Profile:
    """What was learned of one host.

    Attributes:
        host: its name.
        labels: its template nodes.
        template: the elements that repeat, as sampled pages show them; none without such pages.
        sampled: pages that the elements were found on.
    """

    host: str
    labels: HostLabels
    template: tuple[Repeated, ...] = ()
    sampled: int = 0

    @classmethod
    def of(cls, host: str, labels: HostLabels, pages: Iterable[tuple[str | None, bytes]] = ()) -> Self:
        """Make the profile of a host, with the elements that some of its pages, by address and HTML, show."""
        hashed = []
        for url, html in pages:
            try:
                hashed.append(HashedPage.of(Page.parse(html, url)))
            except PageTooLarge:
                continue
        return cls(host, labels, tuple(repeated_parts(hashed, labels, THETA)), len(hashed))

    def to_json(self) -> str:
        """Write the profile, a line for each label."""
        labels = self.labels
        shares = {
            f"{fingerprint:016x}": round(share / _ALL, 4)
            for fingerprint, share in zip(labels.fingerprints.tolist(), labels.fractions.tolist(), strict=True)
        }
        return json.dumps(
            {
                "format": FORMAT,
                "about": _ABOUT,
                "host": self.host,
                "pages": labels.pages,
                "label_version": labels.version,
                "fingerprint_version": FINGERPRINT_VERSION,
                "expected_characters": labels.expected,
                "sampled_pages": self.sampled,
                "template": [asdict(part) for part in self.template],
                "labels": shares,
            },
            ensure_ascii=False,
            indent=1,
        )

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read a profile.

        Raises:
            ProfileError: it is none, is damaged, or is of other fingerprints than this version computes.
        """
        try:
            row: dict[str, Any] = json.loads(text)
            _check(row)
            pairs = sorted((int(name, 16), round(float(share) * _ALL)) for name, share in row["labels"].items())
            labels = HostLabels(
                pages=_whole(row["pages"], least=1),
                version=_whole(row["label_version"], least=0),
                fingerprints=np.array([fingerprint for fingerprint, _ in pairs], np.uint64),
                fractions=np.array([_whole(share, least=1, most=_ALL) for _, share in pairs], np.uint8),
                expected=_amount(row["expected_characters"]),
            )
            template = tuple(Repeated(**part) for part in row["template"])
            return cls(str(row["host"]), labels, template, _whole(row["sampled_pages"], least=0))
        except ProfileError:
            raise
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
            raise ProfileError(f"is no site profile, or a damaged one: {error}") from error


def _check(row: dict[str, Any]) -> None:
    """Refuse what is no profile of this version."""
    if row.get("format") != FORMAT:
        raise ProfileError(f"is not of the format {FORMAT!r}")
    version = row["fingerprint_version"]
    if version != FINGERPRINT_VERSION:
        raise ProfileError(f"has fingerprints of version {version}, this Winnow computes {FINGERPRINT_VERSION}")


def _amount(value: Any) -> float:
    if not 0 <= float(value) < float("inf"):
        raise ValueError(f"{value!r} is not an amount")
    return float(value)


def _whole(value: Any, *, least: int, most: int = 1 << 31) -> int:
    if not isinstance(value, int) or not least <= value <= most:
        raise ValueError(f"{value!r} is not a whole number from {least} to {most}")
    return value
