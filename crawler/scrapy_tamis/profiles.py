"""Site profiles: the template of a host for people, as CSS selectors, and for other crawls, as labels."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from scrapy_tamis.storage.settled import Labels
from tamis.fingerprints import FINGERPRINT_VERSION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lxml import etree

    from scrapy_tamis.storage.evidence import HashedPage
    from tamis import Page
    from tamis.counting import LossyCounts


_PLAIN: Final = re.compile(r"-?[A-Za-z_][\w-]*\Z", re.ASCII)
"""Names that a selector can hold: not that of ``<svg:path>`` or ``<p<>``."""
_NUMBERED: Final = re.compile(r"\d{3,}|[0-9a-f]{8,}", re.IGNORECASE)
"""Names that change with each page or release: ``post-4711``, ``css-1x2y3z4w``."""

_MAX_TEXT: Final = 200  # characters
_MIN_PAGES: Final = 2
FORMAT: Final = "tamis site profile 1"
_MAX_FRACTION: Final = 255  # of a label, for all pages
_ABOUT: Final = (
    "What the pages of this host repeat. 'template' has CSS selectors, for pages with the structure of these samples; "
    "'labels' has the fingerprints of Tamis's units and the fraction of pages with each."
)


class Selectors:
    """Finds short CSS selectors for the elements of one page that are likely to last."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._ids = page.attribute("id")
        self._id_counts = Counter(self._ids.values())
        self._class_names = page.attribute("class")
        self._classes: defaultdict[str, set[int]] = defaultdict(set)
        self._tags: defaultdict[str, set[int]] = defaultdict(set)
        for index, names in self._class_names.items():
            for name in names.split():
                self._classes[name].add(index)
        for index, element in enumerate(page.elements):
            self._tags[_name(element.tag)].add(index)

    def selector_of(self, element: int) -> str:
        """Return a selector that finds this element and no other of the page."""
        steps: list[str] = []
        while True:
            if unique := self._unique_selector(element):
                return " > ".join([unique, *steps])
            parent = int(self._page.parent[element])
            if parent < 0:
                return " > ".join([_name(self._page.elements[element].tag), *steps])
            steps.insert(0, _place_among_siblings(self._page.elements[element]))
            element = parent

    def _unique_selector(self, element: int) -> str | None:
        """Return a selector by an id, or by a name with at most two classes, that no other element has."""
        element_id = self._ids.get(element, "")
        if _is_lasting(element_id) and self._id_counts[element_id] == 1:
            return f"#{element_id}"
        name = _name(self._page.elements[element].tag)
        if not _PLAIN.match(name):
            return None
        classes = [each for each in self._class_names.get(element, "").split() if _is_lasting(each)]
        # Other elements that are alone here, such as a heading or div, may be those of the content on other pages.
        alone = [()] if name in {"body", "nav", "header", "footer", "aside", "main", "article"} else []
        for names in (*alone, *((each,) for each in classes), *combinations(classes, 2)):
            if self._tags[name].intersection(*(self._classes[each] for each in names)) == {element}:
                return ".".join((name, *names))
        return None


def _place_among_siblings(element: etree._Element) -> str:
    name = _name(element.tag)
    if not _PLAIN.match(name):
        return f":nth-child({1 + sum(1 for _ in element.itersiblings('*', preceding=True))})"
    before = sum(1 for _ in element.itersiblings(element.tag, preceding=True))
    is_alone = not before and next(element.itersiblings(element.tag), None) is None
    return name if is_alone else f"{name}:nth-of-type({before + 1})"


def _is_lasting(name: str) -> bool:
    return bool(_PLAIN.match(name)) and not _NUMBERED.search(name)


def _name(tag: object) -> str:
    return str(tag).rpartition("}")[2].lower()


@dataclass(frozen=True, slots=True)
class RepeatedPart:
    """An element that many pages of a site have: its CSS selector, on how many it is, the beginning of its text."""

    selector: str
    pages: int
    characters: int
    text: str


def find_repeated_parts(
    pages: Sequence[HashedPage], counts: LossyCounts | Labels, min_fraction: float = 0.3
) -> list[RepeatedPart]:
    """Return the topmost repeated elements; the page with most repeated text comes first."""
    found: dict[tuple[str, str], RepeatedPart] = {}
    selectors: set[str] = set()
    min_pages = max(_MIN_PAGES, min_fraction * counts.pages)

    def repeated_mass(hashed: HashedPage) -> int:
        return int((hashed.masses * (counts.df(hashed.fingerprints) >= min_pages)).sum())

    for hashed in sorted(pages, key=repeated_mass, reverse=True):
        for part in _find_repeated(hashed, counts, min_pages):
            element = part.selector.rpartition(" > ")[2].partition(":")[0]  # its name and classes, without its place
            if part.selector not in selectors and (part.text, element) not in found:
                selectors.add(part.selector)
                found[part.text, element] = part
    return list(found.values())


def _find_repeated(hashed: HashedPage, counts: LossyCounts | Labels, min_pages: float) -> list[RepeatedPart]:
    page = hashed.page
    df = hashed.frequencies(counts.df(hashed.fingerprints))
    repeated = df[: page.n] >= min_pages
    above = np.append(repeated, False)[page.parent]  # the root's parent is -1
    tops = np.flatnonzero(repeated & ~above & (page.block_end > page.block_begin))
    selectors = Selectors(page)
    texts = page.block_texts()
    parts = []
    for element in tops.tolist():
        text = " ".join(texts[page.block_begin[element] : page.block_end[element]])
        parts.append(
            RepeatedPart(
                selector=selectors.selector_of(element),
                pages=int(df[element]),
                characters=len(text),
                text=text if len(text) <= _MAX_TEXT else f"{text[: _MAX_TEXT - 1]}…",
            )
        )
    return parts


def dump_profile(host: str, labels: Labels, template: Sequence[RepeatedPart], sampled_pages: int) -> str:
    """Return what was learned of a host as JSON, with a line for each label."""
    shares = {
        f"{fingerprint:016x}": round(share / _MAX_FRACTION, 4)
        for fingerprint, share in zip(labels.fingerprints.tolist(), labels.fractions.tolist(), strict=True)
    }
    row = {
        "format": FORMAT,
        "about": _ABOUT,
        "host": host,
        "pages": labels.pages,
        "label_version": labels.version,
        "fingerprint_version": FINGERPRINT_VERSION,
        "expected_characters": labels.expected,
        "sampled_pages": sampled_pages,
        "template": [asdict(part) for part in template],
        "labels": shares,
    }
    return json.dumps(row, ensure_ascii=False, indent=1)


def load_profile(text: str) -> tuple[str, Labels]:
    """Return the host of a profile, and its labels; raise a ``ValueError`` where it is none."""
    try:
        return _labels_in(json.loads(text))
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise ValueError(f"is not a site profile of this version, or damaged: {error}") from error


def _labels_in(row: dict[str, Any]) -> tuple[str, Labels]:
    if row.get("format") != FORMAT:
        raise ValueError(f"it is not of the format {FORMAT!r}")
    if (version := row["fingerprint_version"]) != FINGERPRINT_VERSION:
        raise ValueError(f"it has fingerprints of version {version}, this Tamis computes {FINGERPRINT_VERSION}")
    shares = sorted((int(name, 16), round(float(share) * _MAX_FRACTION)) for name, share in row["labels"].items())
    labels = Labels(
        pages=int(row["pages"]),
        version=int(row["label_version"]),
        fingerprints=np.array([fingerprint for fingerprint, _ in shares], np.uint64),
        fractions=np.array([fraction for _, fraction in shares], np.uint8),
        expected=float(row["expected_characters"]),
    )
    if labels.pages < 1 or not 0 <= labels.expected < float("inf"):
        raise ValueError("its pages or expected_characters are out of range")
    return str(row["host"]), labels
