"""Archives are read from files and addresses, compressed in several ways, damaged, and with records of every kind."""

import gzip
import zlib

import pytest
from fastwarc.stream_io import BrotliWriter, Lz4Writer, ZstdWriter

from scrapy_tamis.archives import reading
from scrapy_tamis.archives.reading import DAMAGED, ArchiveReader, Part, split_archive, split_archives
from tests.scrapy_tamis.archives.made import HTML, FaultyServer, page, record_of

PAGES = 30
RECORDS = [record_of(f"http://north.example/{n}", page("north", n)) for n in range(PAGES)]


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch):
    monkeypatch.setattr(reading, "_RETRY_PAUSE_S", 0.01)


@pytest.fixture
def server():
    with FaultyServer() as server:
        yield server


def read(source):
    reader = ArchiveReader(source if isinstance(source, Part) else Part(str(source)))
    return [int(found.url.rpartition("/")[2]) for found in reader], reader


def compress(suffix, record, folder):
    """One record as a member or frame of its own."""
    if suffix in {"", ".gz"}:
        return gzip.compress(record) if suffix else record
    file = folder / "member"
    writer = {".zst": ZstdWriter, ".lz4": Lz4Writer, ".br": BrotliWriter}[suffix]
    with file.open("wb") as opened, writer(opened) as member:
        member.write(record)
    return file.read_bytes()


@pytest.mark.parametrize("suffix", [".gz", ".zst", ".lz4", ""])
def test_records_behind_a_damaged_one_are_read(suffix, tmp_path):
    members = [compress(suffix, record, tmp_path) for record in RECORDS]
    file = tmp_path / f"crawl.warc{suffix}"
    file.write_bytes(b"".join(members))
    assert read(file)[0] == list(range(PAGES))
    for number in (10, 11, 20):
        members[number] = members[number][:60] + bytes(len(members[number]) - 60 if suffix else 0)
    file.write_bytes(b"".join(members))
    found, reader = read(file)
    assert set(range(PAGES)) - set(found) <= {10, 11, 20}
    assert reader.skipped[DAMAGED] == 2
    assert reader.broken.startswith("damaged after byte ")


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
@pytest.mark.parametrize("length", [500, 2_000, 7_000])
def test_each_record_is_in_one_part_of_an_archive_also_of_a_damaged_one(suffix, length, tmp_path):
    members = [compress(suffix, record, tmp_path) for record in RECORDS]
    file = tmp_path / f"crawl.warc{suffix}"
    for damaged in (None, 10):
        if damaged is not None:
            members[damaged] = members[damaged][:60] + bytes(len(members[damaged]) - 60)
        file.write_bytes(b"".join(members))
        size = file.stat().st_size
        parts = split_archive(str(file), size, length)
        assert len(parts) == -(-size // length)
        found = [number for part in parts for number in read(part)[0]]
        assert found == [number for number in range(PAGES) if number != damaged]


@pytest.mark.parametrize("content", [b"".join(RECORDS), gzip.compress(b"".join(RECORDS * 20)), b"no archive" * 900])
def test_an_archive_whose_records_are_not_compressed_one_by_one_is_not_split(content, tmp_path):
    file = tmp_path / "crawl.warc.gz"
    file.write_bytes(content)
    assert split_archive(str(file), len(content), 2_000) == [Part(str(file))]


def test_an_archive_that_was_compressed_as_a_whole_is_read_and_checked(tmp_path):
    file = tmp_path / "crawl.warc.gz"
    content = gzip.compress(b"".join(RECORDS * 20))
    file.write_bytes(content)
    found, reader = read(file)
    assert (len(found), reader.broken) == (20 * PAGES, None)
    file.write_bytes(content[: len(content) // 2])
    found, reader = read(file)
    assert found
    assert reader.broken.startswith("breaks off")


def test_a_record_longer_than_what_is_held_is_read_whole(monkeypatch, tmp_path):
    monkeypatch.setattr(reading, "_MAX_HELD_BYTES", 1 << 17)
    body = "".join(f"<p>{page('north', number)}</p>" for number in range(2_000))
    file = tmp_path / "crawl.warc.gz"
    records = [*RECORDS[:3], record_of("http://north.example/3", body), *RECORDS[4:6]]
    file.write_bytes(b"".join(gzip.compress(record, 0) for record in records))
    reader = ArchiveReader(Part(str(file)))
    assert [len(found.html) for found in reader][3] == len(body)
    assert reader.broken is None


def test_records_of_every_kind_are_read_or_counted(tmp_path):
    def record(kind, content_type, body):
        lines = f"WARC-Type: {kind}\r\nWARC-Target-URI: http://a.example/0\r\nContent-Type: {content_type}\r\n"
        return f"WARC/1.1\r\n{lines}Content-Length: {len(body)}\r\n\r\n{body}\r\n\r\n".encode()

    http = "application/http; msgtype=response"
    bad_body = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n\r\n\x1f\x1eno gzip"
    file = tmp_path / "crawl.warc"
    kinds = [
        record("warcinfo", "application/warc-fields", "software: none"),
        record("resource", "text/html; charset=koi8-r", page("a", 0)),
        record("resource", "image/png", "PNG"),
        record("conversion", "text/plain", "what a page of this archive said"),
        record("revisit", http, "HTTP/1.1 304 Not Modified\r\n\r\n"),
        record("response", http, bad_body),
        record("request", "application/http; msgtype=request", "GET / HTTP/1.1\r\n\r\n"),
        record_of("http://a.example/gone", "gone", "404 Not Found"),
        record_of("http://a.example/logo.png", "PNG", kind="image/png"),
        record_of("http://a.example/nothing", "  "),
        record_of("file:///tmp/page", page("a", 1)),
    ]
    file.write_bytes(b"".join(kinds) + b"".join(RECORDS))
    found, reader = read(file)
    assert found == [0, *range(PAGES)]
    assert [found.charset for found in ArchiveReader(Part(str(file)))] == ["koi8-r", *["utf-8"] * PAGES]
    assert reader.broken is None
    assert reader.first == {f"{DAMAGED}: not gzip, as its headers say": "http://a.example/0"}
    assert reader.skipped == {
        "not HTML": 2,
        "already text, not HTML": 1,
        "unchanged since an earlier record": 1,
        f"{DAMAGED}: not gzip, as its headers say": 1,
        "not found, moved or refused": 1,
        "empty": 1,
        "no host": 1,
    }


def test_a_body_is_decoded_as_its_headers_say_or_read_as_it_is_where_they_are_not_true(tmp_path):
    body = page("north", 1).encode() * 400
    sent = [
        ("Content-Encoding: gzip", gzip.compress(body)),
        ("Content-Encoding: X-GZIP", gzip.compress(body)),
        ("Content-Encoding: deflate", zlib.compress(body)),
        ("Content-Encoding: br", compress(".br", body, tmp_path)),
        ("Content-Encoding: zstd", compress(".zst", body, tmp_path)),
        ("Transfer-Encoding: chunked", b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)),
        ("Content-Encoding: utf-8", body),
    ]
    sent += [(header, body) for header, _ in sent]
    file = tmp_path / "crawl.warc"
    file.write_bytes(
        b"".join(record_of("http://a.example/", body, kind=f"{HTML}\r\n{header}") for header, body in sent)
    )
    assert [found.html == body for found in ArchiveReader(Part(str(file)))] == [True] * len(sent)


def test_a_broken_connection_is_opened_again(server):
    server.content = b"".join(map(gzip.compress, RECORDS))
    server.breaks, server.drops = 1, 2  # one answer breaks off, and the next two requests get none
    found, reader = read(f"{server.url}/crawl.warc.gz")
    assert (found, reader.broken) == (list(range(PAGES)), None)
    assert (server.breaks, server.drops) == (0, 0)


@pytest.mark.parametrize("tells_length", [True, False])
def test_an_archive_on_a_server_without_ranges_is_read_from_its_beginning(tells_length, server, monkeypatch):
    monkeypatch.setattr(reading, "READ_BYTES", 5_000)
    monkeypatch.setattr(reading, "MIN_PART_BYTES", 4_000)
    server.content = b"".join(map(gzip.compress, RECORDS))
    server.serves_ranges = False if tells_length else None
    server.breaks = int(tells_length)  # without the length, its end is that of the answer
    url = f"{server.url}/crawl.warc.gz"
    assert split_archives([url]) == {url: [Part(url)]}
    found, reader = read(url)
    assert (found, reader.broken) == (list(range(PAGES)), None)


def test_a_long_archive_at_an_address_is_split_and_read_about_once(server, monkeypatch):
    server.content = b"".join(gzip.compress(record, 0) for record in RECORDS * 40)
    monkeypatch.setattr(reading, "MIN_PART_BYTES", 400_000)
    monkeypatch.setattr(reading, "READ_BYTES", 10_000)
    url = f"{server.url}/crawl.warc.gz"
    parts = split_archives([url])[url]
    assert len(parts) == -(-len(server.content) // 400_000) > 2
    server.sent = 0
    assert [number for part in parts for number in read(part)[0]] == list(range(PAGES)) * 40
    assert server.sent < 1.3 * len(server.content)
