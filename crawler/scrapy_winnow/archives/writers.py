"""The formats that clean pages are written in: JSON Lines, Parquet, and WARC ``conversion`` records."""

from __future__ import annotations

import gzip
import io
import json
import uuid
from typing import TYPE_CHECKING, Any, Final, Protocol, Self

from scrapy_winnow.archives.rows import columns

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import TracebackType

    from scrapy_winnow.archives.rows import Row

_ROWS_AT_ONCE: Final = 1_000  # of a Parquet file
_NUMBERS: Final = {"template_share": "float64", "confidence": "float64"}
_INTEGERS: Final = frozenset({"evidence_pages", "site_label_version"})
_LISTS: Final = frozenset({"shingles"})


class Writer(Protocol):
    """Takes the rows of one file; a context that closes it."""

    def write(self, row: Row) -> None:
        """Write one page."""
        ...

    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> object: ...


class JsonLines:
    """One JSON object a line, gzip-compressed; the same rows give the same bytes."""

    def __init__(self, path: Path, _: frozenset[str]) -> None:
        self._raw = path.open("wb")
        self._lines = io.TextIOWrapper(gzip.GzipFile("", "wb", 6, self._raw, mtime=0), "utf-8", newline="\n")

    def write(self, row: Row) -> None:
        """Write one page."""
        self._lines.write(json.dumps(row, ensure_ascii=False).encode("utf-8", "replace").decode() + "\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._lines.close()
        self._raw.close()


class Parquet:
    """One Parquet file, zstd-compressed, with the schema of :func:`parquet_schema`."""

    def __init__(self, path: Path, outputs: frozenset[str]) -> None:
        from pyarrow import parquet  # noqa: PLC0415  (an optional package, and slow to import)

        self._schema = parquet_schema(outputs)
        self._writer = parquet.ParquetWriter(path, self._schema, compression="zstd")
        self._rows: list[Row] = []

    def write(self, row: Row) -> None:
        """Write one page."""
        self._rows.append(row)
        if len(self._rows) >= _ROWS_AT_ONCE:
            self._flush()

    def _flush(self) -> None:
        import pyarrow as pa  # noqa: PLC0415

        self._writer.write_table(pa.Table.from_pylist(plain_rows(self._rows), schema=self._schema))
        self._rows = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._rows:
            self._flush()
        self._writer.close()


def parquet_schema(outputs: frozenset[str]) -> Any:
    """The columns of a Parquet file: strings, numbers, lists of strings; what has parts of its own is JSON."""
    import pyarrow as pa  # noqa: PLC0415

    def kind(name: str) -> Any:
        if name in _NUMBERS:
            return pa.float64()
        if name in _INTEGERS:
            return pa.int32()
        return pa.list_(pa.string()) if name in _LISTS else pa.string()

    return pa.schema([(name, kind(name)) for name in columns(outputs)])


def plain_rows(rows: list[Row]) -> list[Row]:
    """Rows as the columns of :func:`parquet_schema` take them."""
    return [{name: _plain(name, value) for name, value in row.items()} for row in rows]


def _plain(name: str, value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if value is None or name in _NUMBERS or name in _INTEGERS or name in _LISTS:
        return value
    return json.dumps(value, ensure_ascii=False)


class Conversions:
    """WARC 1.1 ``conversion`` records with the clean text, gzip-compressed one by one, as Common Crawl's WET files are.

    A record refers to the response that it was made from; its name is made of that one's, so that the same pages give
    the same bytes. The title and what is known of the page stand in ``X-Winnow-`` headers.
    """

    def __init__(self, path: Path, _: frozenset[str]) -> None:
        self._stream = path.open("wb")

    def write(self, row: Row) -> None:
        """Write one page."""
        text = str(row["text"]).encode("utf-8", "replace") + b"\n"
        of = str(row["record_id"]).strip("<>")
        headers = {
            "WARC-Type": "conversion",
            "WARC-Record-ID": f"<urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, of + str(row['url']))}>",
            "WARC-Date": row["date"],
            "WARC-Target-URI": row["url"],
            "WARC-Refers-To": f"<{of}>" if of else None,
            "Content-Type": "text/plain; charset=utf-8",
            "X-Winnow-Title": row["title"],
            "X-Winnow-Status": row["status"],
            "X-Winnow-Label-Source": row["label_source"],
            "X-Winnow-Template-Share": row["template_share"],
            "X-Winnow-Duplicate-Of": row["duplicate_of"],
            "Content-Length": len(text),
        }
        lines = [f"{name}: {_one_line(value)}" for name, value in headers.items() if value not in {None, ""}]
        record = "\r\n".join(["WARC/1.1", *lines, "", ""]).encode("utf-8", "replace") + text + b"\r\n\r\n"
        self._stream.write(gzip.compress(record, 6, mtime=0))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()


def _one_line(value: object) -> str:
    return " ".join(str(value).split())


FORMATS: Final[dict[str, tuple[str, Callable[[Path, frozenset[str]], Writer]]]] = {
    "jsonl": (".jsonl.gz", JsonLines),
    "parquet": (".parquet", Parquet),
    "warc": (".warc.gz", Conversions),
}
"""Ending and writer of each format."""
