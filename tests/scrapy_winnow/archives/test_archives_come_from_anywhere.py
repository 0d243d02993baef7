"""Archives at addresses, compressed in several ways, damaged, and with records of every kind."""

import gzip

import pytest
from fastwarc.stream_io import Lz4Writer, ZstdWriter

from scrapy_winnow.archives import ArchiveRun, Options
from scrapy_winnow.archives.reading import parts, stream
from scrapy_winnow.archives.reading.parts import Part, divided, parts_of
from scrapy_winnow.archives.reading.records import DAMAGED, ArchiveReader
from scrapy_winnow.commands import main
from tests.scrapy_winnow.archives.conftest import HTML, record_of
from tests.scrapy_winnow.archives.made_pages import page
from tests.scrapy_winnow.archives.serving import Served

PAGES = 30


def records():
    return [record_of(f"http://north.example/{n}", "200 OK", HTML, page("north", n)) for n in range(PAGES)]


def read(source):
    reader = ArchiveReader(source if isinstance(source, Part) else Part(str(source)), max_bytes=10_000_000)
    return [int(found.url.rpartition("/")[2]) for found in reader], reader


def compressed(ending, record, folder):
    """One record as a member or frame of its own."""
    if ending in {"", ".gz"}:
        return gzip.compress(record) if ending else record
    file = folder / "member"
    with file.open("wb") as opened, {".zst": ZstdWriter, ".lz4": Lz4Writer}[ending](opened) as member:
        member.write(record)
    return file.read_bytes()


@pytest.mark.parametrize("ending", [".gz", ".zst", ".lz4", ""])
def test_what_stands_behind_a_damaged_record_is_read(ending, tmp_path):
    members = [compressed(ending, record, tmp_path) for record in records()]
    file = tmp_path / f"crawl.warc{ending}"
    file.write_bytes(b"".join(members))
    assert read(file)[0] == list(range(PAGES))
    for number in (10, 11, 20):
        members[number] = members[number][:60] + bytes(len(members[number]) - 60 if ending else 0)
    file.write_bytes(b"".join(members))
    found, reader = read(file)
    assert set(range(PAGES)) - set(found) <= {10, 11, 20}
    assert reader.skipped[DAMAGED] == 2
    assert reader.broken.startswith("damaged behind byte ")


@pytest.mark.parametrize("ending", [".gz", ".zst"])
@pytest.mark.parametrize("length", [500, 2_000, 7_000])
def test_each_record_is_in_one_part_of_an_archive_whole_or_damaged(ending, length, tmp_path):
    members = [compressed(ending, record, tmp_path) for record in records()]
    file = tmp_path / f"crawl.warc{ending}"
    for damaged in (None, 10):
        if damaged is not None:
            members[damaged] = members[damaged][:60] + bytes(len(members[damaged]) - 60)
        file.write_bytes(b"".join(members))
        size = file.stat().st_size
        found_parts = parts_of(str(file), size, length)
        assert len(found_parts) == -(-size // length)
        found = [number for part in found_parts for number in read(part)[0]]
        assert found == [number for number in range(PAGES) if number != damaged]


@pytest.mark.parametrize("content", [b"".join(records()), gzip.compress(b"".join(records() * 20)), b"no archive" * 900])
def test_an_archive_whose_records_are_not_compressed_one_by_one_is_not_divided(content, tmp_path):
    file = tmp_path / "crawl.warc.gz"
    file.write_bytes(content)
    assert parts_of(str(file), len(content), 2_000) == [Part(str(file))]


def test_parts_of_a_large_archive_make_the_output_of_the_whole(archive, stories, monkeypatch, tmp_path):
    file = str(archive("crawl.warc.gz", stories))
    whole = ArchiveRun([file], tmp_path / "whole").run()
    monkeypatch.setattr(parts, "PART_BYTES", 4_000)
    assert len(divided([file])[file]) > 3
    in_parts = ArchiveRun([file], tmp_path / "parts", Options(processes=2)).run()
    assert in_parts == whole
    first, second = ((tmp_path / name / "crawl.jsonl.gz").read_bytes() for name in ("whole", "parts"))
    assert first == second


def test_an_archive_that_was_compressed_as_a_whole_is_read_and_looked_at(tmp_path):
    file = tmp_path / "crawl.warc.gz"
    whole = gzip.compress(b"".join(records() * 20))
    file.write_bytes(whole)
    found, reader = read(file)
    assert (len(found), reader.broken) == (20 * PAGES, None)
    file.write_bytes(whole[: len(whole) // 2])
    found, reader = read(file)
    assert found
    assert reader.broken.startswith("breaks off")


def test_records_of_every_kind_are_read_or_counted(tmp_path):
    def record(kind, content_type, body):
        lines = f"WARC-Type: {kind}\r\nWARC-Target-URI: http://a.example/0\r\nContent-Type: {content_type}\r\n"
        return f"WARC/1.1\r\n{lines}Content-Length: {len(body)}\r\n\r\n{body}\r\n\r\n".encode()

    http = "application/http; msgtype=response"
    bad_body = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n\r\nno gzip"
    file = tmp_path / "crawl.warc"
    kinds = [
        record("warcinfo", "application/warc-fields", "software: none"),
        record("resource", "text/html; charset=utf-8", page("a", 0)),
        record("resource", "image/png", "PNG"),
        record("conversion", "text/plain", "what a page of this archive said"),
        record("revisit", http, "HTTP/1.1 304 Not Modified\r\n\r\n"),
        record("response", http, bad_body),
        record("request", "application/http; msgtype=request", "GET / HTTP/1.1\r\n\r\n"),
    ]
    file.write_bytes(b"".join(kinds) + b"".join(records()))
    found, reader = read(file)
    assert found == [0, *range(PAGES)]
    assert reader.broken is None
    assert reader.skipped == {
        "not HTML": 1,
        "text already, no HTML": 1,
        "unchanged since an earlier record": 1,
        DAMAGED: 1,
    }


@pytest.fixture
def served():
    with Served() as served:
        yield served


def test_an_archive_is_read_over_http_and_a_connection_that_breaks_is_made_again(served, monkeypatch, tmp_path):
    monkeypatch.setattr(stream, "_PAUSE", 0.01)
    served.content = b"".join(map(gzip.compress, records()))
    served.breaks, served.away = 1, 2  # and does not answer the next two requests
    assert_is_read_as_a_file_here(served, tmp_path)
    assert (served.breaks, served.away) == (0, 0)


@pytest.mark.parametrize("tells_length", [True, False])
def test_a_server_that_does_not_give_parts_of_files_is_read_from_the_beginning(
    tells_length, served, monkeypatch, tmp_path
):
    monkeypatch.setattr(stream, "_PAUSE", 0.01)
    monkeypatch.setattr(stream, "BLOCK", 5_000)
    monkeypatch.setattr(parts, "PART_BYTES", 4_000)
    served.content = b"".join(map(gzip.compress, records()))
    served.in_parts, served.breaks = (
        (False if tells_length else None),
        int(tells_length),
    )  # its end is that of the answer
    url = f"{served.url}/crawl.warc.gz"
    assert divided([url]) == {url: [Part(url)]}
    assert_is_read_as_a_file_here(served, tmp_path)


def test_a_large_archive_at_an_address_is_divided_and_read_about_once(served, monkeypatch):
    served.content = b"".join(gzip.compress(record, 0) for record in records() * 40)
    monkeypatch.setattr(parts, "PART_BYTES", 400_000)
    monkeypatch.setattr(stream, "BLOCK", 10_000)
    url = f"{served.url}/crawl.warc.gz"
    divisions = divided([url])[url]
    assert len(divisions) == -(-len(served.content) // 400_000) > 2
    served.sent = 0
    assert [number for part in divisions for number in read(part)[0]] == list(range(PAGES)) * 40
    assert served.sent < 1.3 * len(served.content)


def assert_is_read_as_a_file_here(served, folder):
    assert main(["warc", f"{served.url}/crawl.warc.gz", "-o", str(folder / "far"), "-j", "1"]) == 0
    file = folder / "crawl.warc.gz"
    file.write_bytes(served.content)
    assert main(["warc", str(file), "-o", str(folder / "near"), "-j", "1"]) == 0
    far, near = (gzip.decompress((folder / name / "crawl.jsonl.gz").read_bytes()) for name in ("far", "near"))
    assert far == near


def test_of_many_large_archives_longer_parts_are_made(monkeypatch, tmp_path):
    monkeypatch.setattr(parts, "PART_BYTES", 1_000)
    monkeypatch.setattr(parts, "MOST_PARTS", 5)
    files = [tmp_path / f"{number}.warc.gz" for number in range(3)]
    for file in files:
        file.write_bytes(b"".join(map(gzip.compress, records())))
    whole = sum(file.stat().st_size for file in files)
    assert 5 <= sum(map(len, divided(map(str, files)).values())) <= 5 + len(files), whole


def test_an_address_that_does_not_answer_is_named_and_the_others_are_read(archives, capsys, tmp_path):
    gone = "http://127.0.0.1:9/crawl.warc.gz"
    assert main(["warc", gone, str(archives[0]), "-o", str(tmp_path / "out"), "-j", "1"]) == 1
    assert f"broken: {gone}: " in capsys.readouterr().err
    assert (tmp_path / "out" / "first.jsonl.gz").stat().st_size > 1000
