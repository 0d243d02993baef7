"""A clean page as one row, and the formats that rows are written in: JSON Lines, Parquet, WARC ``conversion``."""

from __future__ import annotations

import gzip
import json
import uuid
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pyarrow as pa
from pyarrow import parquet

from scrapy_tamis.archives.addresses import describe
from scrapy_tamis.fields import FIELDS, clean_item
from scrapy_tamis.storage.evidence import HashedPage
from tamis.models import load_model
from tamis.page.page import Page, PageTooLarge

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from scrapy_tamis.archives.reading import ArchivedPage
    from scrapy_tamis.archives.runs import Options
    from scrapy_tamis.fields import CleanedItem
    from scrapy_tamis.storage.evidence import SiteEvidence

    Row = dict[str, object]


class Failure(NamedTuple):
    """Why a page could not be cleaned, and its address."""

    why: str
    url: str


ARCHIVE_COLUMNS: Final = ("url", "host", "date", "record_id")
"""Columns that the archive has for a page; the others are fields of items."""

_PARQUET_ROWS: Final = 1_000  # per row group
_GZIP_LEVEL: Final = 4  # files are a twentieth longer than at 6, in less than half of the time
_TYPES: Final = {
    "template_share": pa.float64(),
    "confidence": pa.float64(),
    "evidence_pages": pa.int32(),
    "site_label_version": pa.int32(),
    "shingles": pa.list_(pa.string()),
    "resemblance": pa.float64(),
}
"""Columns of a Parquet file that are no strings."""


def columns(outputs: frozenset[str]) -> tuple[str, ...]:
    """Return the names of the columns, with the optional ones in ``outputs``."""
    return ARCHIVE_COLUMNS + tuple(field.name for field in FIELDS if not field.optional or field.name in outputs)


def hash_page(archived: ArchivedPage, options: Options) -> HashedPage | str | None:
    """Parse a page and fingerprint its counted units; return its error as text, ``None`` for what does not count.

    That is a page above the limits, and data that are called HTML.
    """
    try:
        page = Page.parse(archived.html, archived.url, encoding=archived.charset)
        return HashedPage.of(page, load_model(options.model)) if page.data is None else None
    except PageTooLarge:
        return None
    except Exception as error:
        return describe(error)


def clean_page(
    archived: ArchivedPage, hashed: HashedPage | str | None, evidence: SiteEvidence | None, options: Options
) -> Row | Failure:
    """Clean a page that :func:`hash_page` has hashed; return its row, or why it could not be cleaned."""
    if isinstance(hashed, str):
        return Failure(hashed, archived.url)
    try:
        html = archived.html if hashed is None else hashed
        rules = options.rules.for_url(archived.url)
        item = clean_item(html, archived.url, evidence, load_model(options.model), options.cleaning, rules)
    except Exception as error:
        return Failure(describe(error), archived.url)
    return row_of(archived, item, options)


def row_of(archived: ArchivedPage, item: CleanedItem, options: Options) -> Row:
    """Return the row of a page, its columns in their order; ``duplicate_of`` is known when it is written."""
    row: Row = dict.fromkeys(columns(options.outputs))
    return row | {name: getattr(archived, name) for name in ARCHIVE_COLUMNS} | item.values


def _write_json_lines(path: Path, rows: Iterator[Row], _: frozenset[str]) -> None:
    """Write one JSON object a line, gzip-compressed; the same rows give the same bytes."""
    with path.open("wb") as file, gzip.GzipFile("", "wb", _GZIP_LEVEL, file, mtime=0) as lines:
        for row in rows:
            lines.write(json.dumps(row, ensure_ascii=False).encode("utf-8", "replace") + b"\n")


def _write_parquet(path: Path, rows: Iterator[Row], outputs: frozenset[str]) -> None:
    schema = parquet_schema(outputs)
    with parquet.ParquetWriter(path, schema, compression="zstd") as table:
        while group := list(islice(rows, _PARQUET_ROWS)):
            table.write_table(pa.Table.from_pylist(parquet_rows(group), schema=schema))


def parquet_schema(outputs: frozenset[str]) -> Any:
    """Return the columns of a Parquet file: strings, numbers, lists of strings; nested values are JSON."""
    return pa.schema([(name, _TYPES.get(name, pa.string())) for name in columns(outputs)])


def parquet_rows(rows: list[Row]) -> list[Row]:
    """Return rows with values of the types in :func:`parquet_schema`."""

    def value_of(name: str, value: object) -> object:
        if value is not None and name not in _TYPES and not isinstance(value, str):
            value = json.dumps(value, ensure_ascii=False)
        return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value

    return [{name: value_of(name, value) for name, value in row.items()} for row in rows]


def _write_conversions(path: Path, rows: Iterator[Row], _: frozenset[str]) -> None:
    """Write WARC 1.1 ``conversion`` records, gzip-compressed one by one, as Common Crawl's WET files have them."""
    with path.open("wb") as file:
        file.writelines(gzip.compress(_conversion_of(row), _GZIP_LEVEL, mtime=0) for row in rows)


def _conversion_of(row: Row) -> bytes:
    """Return a record with the clean text; its name is made of the response's, so that the bytes can be repeated."""
    text = str(row["text"]).encode("utf-8", "replace") + b"\n"
    response = str(row["record_id"]).strip("<>")
    headers = {
        "WARC-Type": "conversion",
        "WARC-Record-ID": f"<urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, response + str(row['url']))}>",
        "WARC-Date": row["date"],
        "WARC-Target-URI": row["url"],
        "WARC-Refers-To": f"<{response}>" if response else None,
        "Content-Type": "text/plain; charset=utf-8",
        "X-Tamis-Title": row["title"],
        "X-Tamis-Status": row["status"],
        "X-Tamis-Label-Source": row["label_source"],
        "X-Tamis-Template-Share": row["template_share"],
        "X-Tamis-Duplicate-Of": row["duplicate_of"],
        "Content-Length": len(text),
    }
    lines = [f"{name}: {' '.join(str(value).split())}" for name, value in headers.items() if value not in {None, ""}]
    return "\r\n".join(["WARC/1.1", *lines, "", ""]).encode("utf-8", "replace") + text + b"\r\n\r\n"


FORMATS: Final[dict[str, tuple[str, Callable[[Path, Iterator[Row], frozenset[str]], None]]]] = {
    "jsonl": (".jsonl.gz", _write_json_lines),
    "parquet": (".parquet", _write_parquet),
    "warc": (".warc.gz", _write_conversions),
}
"""Suffix of each format, and what writes rows with the given optional columns into a file."""
