"""The pages to inspect, from files, folders, archives and addresses, the counts of their site, and what is saved."""

from __future__ import annotations

import json
import random
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote, urlsplit

import numpy as np

from scrapy_tamis.extras import missing_package
from scrapy_tamis.fetching import Document, InputError, is_address, parse_readable, read_document, read_page
from scrapy_tamis.storage.evidence import HashedPage
from scrapy_tamis.storage.keys import site_of
from tamis.cleaning import NOT_HTML
from tamis.files import replacing, write_output
from tamis.folders import SitePages, page_files
from tamis.models import load_model
from tamis.output.text import text_of_blocks
from tamis.page.parsing import kind_of_data
from tamis.rules import Rules

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from scrapy_tamis.inspector.inspection import Inspection, Trial
    from scrapy_tamis.storage.settled import Labels

    Hashes = NDArray[np.uint64]

_MAX_BYTES: Final = 64_000_000
_MAX_ARCHIVED: Final = 500  # pages of a WARC file, which are held in memory

MAX_SITE_PAGES: Final = 100  # pages of a folder that are counted


class Documents:
    """The pages that one inspector shows, read when they are needed.

    Args:
        source: file, folder, WARC file, address, or ``-`` for standard input.
        url: address of the page or of the folder. It also selects the host of a WARC file, by default that of the
            first page.
        obey_robots: ask ``robots.txt`` before an address is fetched; by default as little as a browser does.

    Raises:
        InputError: there is nothing to inspect.
        ValueError: ``url`` cannot be the address of a folder.
    """

    def __init__(self, source: str, url: str | None = None, *, obey_robots: bool = False) -> None:
        self._open: Callable[[int], Document]
        self.is_one_site = True
        if not is_address(source) and ".warc" in Path(source).suffixes:
            archived = read_archived(source, url)
            self.names, self._open = [document.name for document in archived], archived.__getitem__
        elif source and not is_address(source) and Path(source).is_dir():
            site = SitePages.of_files(Path(source), page_files(Path(source)), url)
            self.names = list(site.names)
            self._open = lambda at: Document(site.names[at], site.urls[at], read_page(str(site.files[at])))
            if not self.names:
                raise InputError("holds no HTML files")
        else:
            self.is_one_site, self.names = False, [source]
            self._open = lambda _: read_document(source, url, obey_robots=obey_robots)
        self.read = lru_cache(maxsize=4)(self._read)

    def __len__(self) -> int:
        return len(self.names)

    def _read(self, number: int) -> Document:
        """Read one page; :attr:`read` keeps the last few."""
        if not 0 <= number < len(self):
            raise InputError(f"there is no page {number + 1}")
        document = self._open(number)
        if (kind := kind_of_data(document.html)) is not None:
            raise InputError(f"is {NOT_HTML[kind]}")
        return document


def read_archived(source: str, url: str | None) -> tuple[Document, ...]:
    """Read the first pages of one host from a WARC file."""
    try:
        from scrapy_tamis.archives.reading import ArchiveReader, Part  # noqa: PLC0415  (of the extra [archives])
    except ImportError as error:
        raise InputError(missing_package(error)) from error
    host = site_of(url) if url else None
    reader = ArchiveReader(Part(source), max_bytes=_MAX_BYTES)
    found: dict[str, Document] = {}
    for page in reader:
        host = host or page.host
        if page.host == host:
            found.setdefault(page.url, Document(page.url, page.url, page.html, page.charset))
        if len(found) == _MAX_ARCHIVED:
            break
    if not found:
        raise InputError(reader.broken or f"holds no page{f' of {host}' if host else ''}")
    return tuple(found.values())


class FolderReplay:
    """Counts up to ``pages`` pages of a folder, in an order that is random but always the same."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self.pages = min(len(documents), MAX_SITE_PAGES)
        self._fingerprints = lru_cache(maxsize=2)(self._fingerprint)

    def _fingerprint(self, model_name: str | None) -> dict[bytes, Hashes]:
        """Fingerprint the pages that can be read, by main text: as in a crawl, each text counts once."""
        order = list(range(len(self._documents)))
        random.Random(0).shuffle(order)  # noqa: S311  neighbours in a folder are alike
        found: dict[bytes, Hashes] = {}
        for page in parse_readable(order[: MAX_SITE_PAGES + 1], self._documents.read):
            hashed = HashedPage.of(page, load_model(model_name))
            found[hashed.main_text_id] = np.unique(hashed.fingerprints)
        return found

    def count(self, page: HashedPage, pages: int, model_name: str | None) -> tuple[NDArray[np.int64], int]:
        """Count up to ``pages`` pages, this page included, as a crawl with this model does.

        Returns:
            int64[k], how many of them have each counted unit of this page; and how many there are.
        """
        found = self._fingerprints(model_name)
        others = [known for main_text, known in found.items() if main_text != page.main_text_id]
        df = np.ones(len(page.fingerprints), np.int64)
        for known in others[: pages - 1]:
            df += np.isin(page.fingerprints, known)
        return df, min(pages, len(others) + 1)


class CountedReplay:
    """The counts of a host by a crawl, as they are now and scaled to fewer pages; it is used as :class:`FolderReplay`.

    ``contents`` are the ids of the contents of the pages that were counted; unknown once the host has settled.
    """

    def __init__(self, labels: Labels, contents: frozenset[bytes]) -> None:
        self._labels = labels
        self._contents = contents
        self.pages = labels.pages

    def count(self, page: HashedPage, pages: int, _model_name: str | None) -> tuple[NDArray[np.int64], int]:
        """Return how many of ``pages`` pages, this page included, have each of its counted units; and ``pages``."""
        own = int(page.contents_id in self._contents)
        others = np.maximum(self._labels.df(page.fingerprints) - own, 0)
        return 1 + np.rint(others * ((pages - 1) / max(self.pages - own, 1))).astype(np.int64), pages


Replay = FolderReplay | CountedReplay


def gold_name(name: str) -> str:
    """Return the name of a page in a gold file: its file name without suffix, or one made from its address."""
    if is_address(name):
        parts = urlsplit(name)
        name = unquote(f"{parts.netloc}{parts.path}".rstrip("/")) + (f"_{parts.query}" if parts.query else "")
    stem = name.removesuffix(".html").removesuffix(".htm")
    # The name is a path below a folder, and must not lead out of it.
    steps = (step.strip() for step in stem.replace("\\", "/").split("/"))
    return "/".join(step for step in steps if step not in {"", ".", ".."}) or "page"


class RulesFile:
    """A file of rules of the user's own, to which the inspector adds."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rules = Rules.read(path) if path.exists() else Rules()

    def add(self, site: str | None, selector: str, *, keep: bool) -> None:
        """Add a rule at the end, unless that would make the file invalid; ``None`` stands for all sites."""
        rule = ({"site": site} if site else {}) | {"keep" if keep else "drop": selector}
        text = self.path.read_text("utf-8") if self.path.exists() else ""
        if self.path.suffix == ".json":
            entries = json.loads(text or "[]")
            (entries.setdefault("rules", []) if isinstance(entries, dict) else entries).append(rule)
            text = json.dumps(entries, ensure_ascii=False, indent=1) + "\n"
        else:
            lines = (f"{name} = {json.dumps(value, ensure_ascii=False)}\n" for name, value in rule.items())
            text = f"{text.rstrip()}\n\n[[rules]]\n{''.join(lines)}".lstrip()
        rules = Rules.parse(text, self.path)
        write_output(self.path, text)
        self.rules = rules


class LinesFile:
    """A file with a JSON object a line about each page; one about a page that has a line already replaces it.

    It need not exist. Each object names its page under ``key`` and must have a ``value``; ``rows`` has them by page.

    Raises:
        ValueError: a line of the existing file is not such an object, or the file cannot be made.
    """

    def __init__(self, path: Path, key: str, value: str) -> None:
        if not path.parent.is_dir():
            raise ValueError(f"no such folder: {path.parent}")
        self.path, self._key, self._value = path, key, value
        self.rows = self._read()

    def _read(self) -> dict[str, dict[str, Any]]:
        rows = {}
        for number, line in enumerate(self.path.read_text("utf-8").split("\n") if self.path.exists() else (), 1):
            try:
                if line.strip():
                    row = json.loads(line)
                    rows[str(row[self._key])] = row | {self._value: row[self._value]}
            except (ValueError, TypeError, KeyError) as error:
                what = f"a JSON object with {self._key!r} and {self._value!r}"
                raise ValueError(f"line {number} is not {what}") from error
        return rows

    def write(self, row: dict[str, Any]) -> None:
        """Write an object, in the place of an earlier one about its page."""
        self.rows = self._read() | {row[self._key]: row}  # others may have written meanwhile
        lines = "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in self.rows.values())
        write_output(self.path, lines)


class GoldFile(LinesFile):
    """Gold pages, with their HTML in the folder ``html`` beside the file.

    It is the input of ``tamis train --gold FILE`` and ``tamis evaluate FILE --pages html``.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, "id", "gold_text")

    def save(self, inspection: Inspection, trial: Trial, marks: dict[int, str]) -> None:
        """Save a page as it was cleaned, with the blocks corrected that are marked ``content`` or ``template``."""
        text, texts = inspection.cleaned(trial).text, list[str]()
        if (draft := inspection.draft(trial)) is not None:
            kept, texts = draft.kept.copy(), draft.texts
            for block, label in marks.items():
                kept[block] = label == "content"
            text = text_of_blocks(draft.page, kept, draft.hidden)
        page_id = gold_name(inspection.document.name)
        html = self.path.parent / "html" / f"{page_id}.html"
        html.parent.mkdir(parents=True, exist_ok=True)
        with replacing(html) as new:
            new.write_bytes(inspection.document.html)
        row = {"id": page_id, "url": inspection.document.url, "gold_text": text}
        self.write(row | {"marks": [{"text": texts[block], "is": label} for block, label in sorted(marks.items())]})
