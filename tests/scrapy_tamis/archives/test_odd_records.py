"""Of an odd or broken record a run reads what warcio reads or what FastWARC reads, whichever is more."""

import gzip
import io
import random
import re
import zlib

import pytest
from fastwarc.stream_io import BrotliWriter, ZstdWriter
from fastwarc.warc import ArchiveIterator
from warcio.archiveiterator import ArchiveIterator as WarcioIterator

from scrapy_tamis.archives.bodies import decode_body
from scrapy_tamis.archives.reading import DAMAGED, ArchiveReader, Part

PAGE = f"<title>T</title>{''.join(f'<p>Sentence {n} é of a story.</p>' for n in range(400))}".encode()
LAST = "http://a.example/last"


def compressed(writer, data=PAGE):
    stream = io.BytesIO()
    member = writer(stream)
    member.write(data)
    member.close()
    return stream.getvalue()


def deflated(data=PAGE):
    deflating = zlib.compressobj(wbits=-15)
    return deflating.compress(data) + deflating.flush()


def chunked(data=PAGE, end=b"\r\n"):
    parts = [data[at : at + 700] for at in range(0, len(data), 700)]
    return b"".join(b"%x%b%b%b" % (len(part), end, part, end) for part in parts) + b"0" + end + end


def head(*lines, first="HTTP/1.1 200 OK", kind="Content-Type: text/html; charset=utf-8", end="\r\n"):
    return "".join(f"{line}{end}" for line in (first, kind, *lines, "")).replace(f"{end}{end}{end}", f"{end}{end}")


def record(http, body, *, url="http://a.example/0", warc="WARC/1.1", end="\r\n", length=0, more="X-More: x"):
    block = http.encode("latin-1") + body
    headers = [warc, "WARC-Type: response", f"WARC-Target-URI: {url}", "WARC-Date: 2026-11-22T10:00:00Z", more]
    headers += ["Content-Type: application/http; msgtype=response", f"Content-Length: {len(block) + length}", "", ""]
    return end.join(headers).encode() + block + 2 * end.encode()


GZIP, BROTLI, ZSTD = gzip.compress(PAGE, mtime=0), compressed(BrotliWriter), compressed(ZstdWriter)
OF = "Content-Encoding: {}".format
CHUNKED = "Transfer-Encoding: chunked"
ODD = {
    "two codings": record(head(OF("gzip, gzip")), gzip.compress(GZIP)),
    "one coding named twice": record(head(OF("gzip"), OF("gzip")), GZIP),
    "capitals": record(head(OF("GZIP")), GZIP),
    "deflate with a head": record(head(OF("deflate")), zlib.compress(PAGE)),
    "deflate without": record(head(OF("deflate")), deflated()),
    "brotli": record(head(OF("br")), BROTLI),
    "zstd": record(head(OF("zstd")), ZSTD),
    "an unknown coding": record(head(OF("none")), PAGE),
    **{f"{coding} that was decoded": record(head(OF(coding)), PAGE) for coding in ("gzip", "deflate", "br", "zstd")},
    "chunks": record(head(CHUNKED), chunked()),
    "chunks that were joined": record(head(CHUNKED), PAGE),
    "chunks of gzip": record(head(OF("gzip"), CHUNKED), chunked(GZIP)),
    "chunks of gzip that were joined": record(head(OF("gzip"), CHUNKED), GZIP),
    "chunks of gzip that was decoded": record(head(OF("gzip"), CHUNKED), chunked()),
    "chunks with a trailer": record(head(CHUNKED), chunked()[:-2] + b"X-Trailer: x\r\n\r\n"),
    "chunks without the last one": record(head(CHUNKED), chunked()[:-5]),
    "chunks that are cut": record(head(CHUNKED), chunked()[:9_000]),
    "chunks of gzip that are cut": record(head(OF("gzip"), CHUNKED), chunked(GZIP)[:900]),
    "gzip that is cut": record(head(OF("gzip")), GZIP[: len(GZIP) // 2]),
    "gzip that is cut in its trailer": record(head(OF("gzip")), GZIP[:-3]),
    "zlib that is cut": record(head(OF("deflate")), zlib.compress(PAGE)[:200]),
    "gzip with something behind": record(head(OF("gzip")), GZIP + bytes(40)),
    "members of gzip": record(head(OF("gzip")), gzip.compress(PAGE[:5_000]) + gzip.compress(PAGE[5_000:])),
    "a page that is cut": record(head(), PAGE[:5_000], more="WARC-Truncated: length"),
    "HTTP with bare newlines": record(head(end="\n"), PAGE),
    **{first: record(head(first=first), PAGE) for first in ("HTTP/2 200", "HTTP/1.1 200", "HTTP/1.0 203 Fine")},
    **{first: record(head(first=first), PAGE) for first in ("ICY 200 OK", "http/1.1 200 OK", "HTTP/1.1  200 OK")},
    "no type": record(head(kind="X-Kind: none"), PAGE),
    "capitals in the type": record(head(kind="CONTENT-TYPE: TEXT/HTML"), PAGE),
    "a folded type": record(head(kind="Content-Type: text/html;\r\n charset=utf-8"), PAGE),
    "a line that is no header": record(head("this is no header"), PAGE),
    "bytes that are no ASCII": record(head("X-Name: café"), PAGE),
    "a space before the colon": record(head(kind="Content-Type : text/html"), PAGE),
    "an address in brackets": record(head(), PAGE, url="<http://a.example/0>"),
    "WARC with bare newlines": record(head(), PAGE, end="\n"),
    "WARC and HTTP with bare newlines": record(head(end="\n"), PAGE, end="\n"),
    "WARC 0.18": record(head(), PAGE, warc="WARC/0.18"),
    "a folded header": record(head(), PAGE, more="X-More: a\r\n b"),
    "a WARC header without colon": record(head(), PAGE, more="no header"),
    "blank lines between": record(head(), PAGE) + b"\r\n" * 5,
    "no blank lines between": record(head(), PAGE)[:-4],
    "bare newlines between": record(head(), PAGE)[:-4] + b"\n\n",
    "a length that is short": record(head(), PAGE, length=-7),
}
BEYOND = {  # of which both readers make less
    "gzip with a wrong sum": record(head(OF("gzip")), GZIP[:-8] + bytes(8)),
    "gzip that is called deflate": record(head(OF("deflate")), GZIP),
    "zlib that is called gzip": record(head(OF("gzip")), zlib.compress(PAGE)),
    "chunks with extensions": record(head(CHUNKED), chunked().replace(b"\r\n", b";x=1\r\n", 1)),
    "chunks with bare newlines": record(head(CHUNKED), chunked(end=b"\n")),
    "blank lines before": b"\r\n\r\n" + record(head(), PAGE),
    "a byte order mark before": b"\xef\xbb\xbf" + record(head(), PAGE),
    "zeros before": bytes(20) + record(head(), PAGE),
    "something between": record(head(), PAGE) + b"what is this?\r\n",
}


def of_warcio(data):
    for each in WarcioIterator(io.BytesIO(data)):
        try:
            body = each.content_stream().read()
        except AttributeError:  # of warcio 1.8 with a newer brotli
            body = b""
        yield (each.rec_headers.get_header("WARC-Target-URI") or "").strip("<>"), body


def of_fastwarc(data):
    for each in ArchiveIterator(io.BytesIO(data), auto_decode="all"):
        yield (each.headers.get("WARC-Target-URI") or "").strip("<>"), each.reader.read()


def read_by(reader, data):
    """The first body that a reader gives, as far as it is that of the page, and nothing after its first error."""
    try:
        body = next((body for url, body in reader(data) if url == "http://a.example/0"), b"")
    except Exception:
        return b""
    return body if PAGE.startswith(body) else b""


def read_here(data, tmp_path):
    (tmp_path / "a.warc").write_bytes(data)
    reader = ArchiveReader(Part(str(tmp_path / "a.warc")))
    return {page.url: page.html for page in reader}, reader


@pytest.mark.parametrize("name", ODD)
def test_what_another_reader_gives_of_an_odd_record_is_cleaned_and_the_next_record_too(name, tmp_path):
    pages, reader = read_here(ODD[name] + record(head(), b"<p>The last of all", url=LAST), tmp_path)
    body = pages["http://a.example/0"]
    assert body
    assert PAGE.startswith(body)
    assert len(body) >= max(len(read_by(other, ODD[name])) for other in (of_warcio, of_fastwarc))
    assert LAST in pages
    assert reader.broken is None or "length" in name


def test_a_record_after_many_beginnings_of_records_without_an_end_is_found_in_time(tmp_path):
    pages, reader = read_here(b"WARC/1.0\r\nContent-Length: 5\r\n" * 400_000 + bytes(2_000) + ODD["chunks"], tmp_path)
    assert pages == {"http://a.example/0": PAGE}
    assert reader.skipped[DAMAGED] == 1


@pytest.mark.parametrize(
    ("data", "number"),
    [(b"Of words.\n" * 9_000, 0), *((bytes(zeros) + ODD["chunks"], 1) for zeros in (9_000, 3_000_000))],
)
def test_a_file_that_begins_with_something_else_is_read_from_its_first_record_on_and_called_broken(
    data, number, tmp_path
):
    pages, reader = read_here(data, tmp_path)
    assert len(pages) == number
    assert reader.broken


@pytest.mark.parametrize("name", BEYOND)
def test_a_page_is_found_also_where_other_readers_give_up(name, tmp_path):
    pages, _ = read_here(BEYOND[name] + record(head(), b"<p>The last of all", url=LAST), tmp_path)
    assert pages == {"http://a.example/0": PAGE, LAST: b"<p>The last of all"}


@pytest.mark.parametrize("writer", [BrotliWriter, ZstdWriter, None])
def test_a_compressed_page_that_is_cut_is_cleaned_as_far_as_it_goes(writer, tmp_path):
    page = "".join(
        f"<p>{number * 7_919 % 100_003} and {number * 104_729 % 99_991}" for number in range(30_000)
    ).encode()
    body = compressed(writer, page) if writer else gzip.compress(page)
    coding = {BrotliWriter: "br", ZstdWriter: "zstd"}.get(writer, "gzip")
    found = decode_body(body[: len(body) // 2], coding, 1 << 30)
    assert page.startswith(found)
    assert len(found) > len(page) // 6  # zstd has it in blocks of 128 KB


def test_what_is_neither_in_its_coding_nor_text_is_counted_by_its_reason(tmp_path):
    broken = [record(head(OF(coding)), BROTLI) for coding in ("gzip", "zstd")] + [record(head(CHUNKED), GZIP)]
    pages, reader = read_here(b"".join(broken) + record("", PAGE) + record(head(), PAGE), tmp_path)
    assert pages == {"http://a.example/0": PAGE}
    named = {f"{DAMAGED}: not {coding}, as its headers say": 1 for coding in ("gzip", "zstd", "chunked")}
    assert reader.skipped == {**named, "no HTTP": 1}


def test_all_members_of_gzip_are_decoded_also_after_an_empty_one_and_a_long_one():
    noise = random.Random(1).randbytes(40_000)
    assert decode_body(b"".join(map(gzip.compress, (b"", noise, PAGE))), "gzip", 1 << 20) == noise + PAGE


def test_what_swells_is_decoded_to_its_limit_and_no_further():
    bomb = gzip.compress(gzip.compress(bytes(300 << 20), 9), 9)
    assert len(decode_body(bomb, "gzip, gzip", 1 << 20)) < 40 << 20


@pytest.mark.parametrize("end", [bytes(100), bytes(300_000), b"\r\n\r\n" + bytes(50)])
@pytest.mark.parametrize("is_compressed", [True, False])
def test_zeros_behind_the_last_record_are_no_damage_but_a_record_that_they_fill_is(end, is_compressed, tmp_path):
    records = [record(head(), PAGE, url=f"http://a.example/{number}") for number in range(3)]
    parts = [gzip.compress(each) for each in records] if is_compressed else records
    pages, reader = read_here(b"".join(parts) + end, tmp_path)
    assert (len(pages), reader.broken, reader.skipped) == (3, None, {})
    cut = b"".join(parts)[: -len(parts[-1]) // 2]
    _, reader = read_here(cut + end, tmp_path)
    assert re.match("damaged|breaks off", reader.broken)
