import gzip
import json
import random

import pyarrow.parquet
import pytest
from warcio.archiveiterator import ArchiveIterator

from scrapy_winnow.commands import main
from tests.scrapy_winnow.archives.made_pages import page, story


def rows_of(folder):
    texts = [gzip.decompress(file.read_bytes()).decode() for file in sorted(folder.glob("*.jsonl.gz"))]
    return [json.loads(line) for text in texts for line in text.splitlines()]


def run(*arguments):
    return main(["warc", *map(str, arguments)])


def test_every_page_is_cleaned_with_all_pages_of_its_host_the_first_one_too(archives, tmp_path):
    assert run(*archives, "-o", tmp_path / "out", "-j", 1) == 0
    rows = rows_of(tmp_path / "out")
    assert len(rows) == 28
    for row in rows:
        assert (row["evidence_pages"], row["label_source"], row["status"]) == (14, "site", "cleaned")
        assert "Front page" not in row["text"]
        assert "Copyright" not in row["text"]
        assert len(row["text"].split()) > 60
    assert not (tmp_path / "out" / ".winnow").exists()


def test_neither_the_order_of_pages_nor_the_number_of_processes_changes_a_row(archive, stories, archives, tmp_path):
    run(*archives, "-o", tmp_path / "a", "-j", 1)
    mixed = random.Random(1).sample(stories, len(stories))
    run(archive("all.warc", mixed), "-o", tmp_path / "b", "-j", 2)
    own = ("date", "record_id", "duplicate_of")
    first, second = (
        {row["url"]: {k: v for k, v in row.items() if k not in own} for row in rows_of(tmp_path / x)} for x in "ab"
    )
    assert first == second


def test_the_three_formats_hold_the_same_pages(archives, tmp_path):
    for name in ("jsonl", "parquet", "warc"):
        assert run(*archives, "-o", tmp_path / name, "--format", name, "--with", "markdown", "-j", 1) == 0
    rows = {row["url"]: row for row in rows_of(tmp_path / "jsonl")}
    columns = pyarrow.parquet.read_table(tmp_path / "parquet").to_pylist()
    assert {row["url"]: row["text"] for row in columns} == {url: row["text"] for url, row in rows.items()}
    assert columns[0]["markdown"].startswith("#")
    assert columns[0]["shingles"] == rows[columns[0]["url"]]["shingles"]
    seen = 0
    for file in (tmp_path / "warc").glob("*.warc.gz"):
        with file.open("rb") as stream:
            for record in ArchiveIterator(stream):
                row = rows[record.rec_headers["WARC-Target-URI"]]
                assert record.rec_type == "conversion"
                assert record.rec_headers["WARC-Refers-To"] == row["record_id"]
                assert record.content_stream().read().decode() == row["text"] + "\n"
                seen += 1
    assert seen == len(rows) == len(columns)


def test_the_same_run_gives_the_same_bytes(archives, tmp_path):
    for name in ("jsonl", "warc"):
        for copy in "ab":
            run(*archives, "-o", tmp_path / name / copy, "--format", name, "-j", 1)
        files = [sorted((tmp_path / name / copy).iterdir()) for copy in "ab"]
        assert [f.read_bytes() for f in files[0]] == [f.read_bytes() for f in files[1]]


def test_what_is_no_page_is_left_out_and_counted(archive, tmp_path, capsys):
    page_of = page("north", 1)
    records = [
        ("http://north.example/1", page_of),
        ("http://north.example/gone", ("404 Not Found", "text/html", page_of)),
        ("http://north.example/logo.png", ("200 OK", "image/png", "PNG")),
        ("http://north.example/nothing", "  "),
        ("file:///tmp/page", page_of),
    ]
    assert run(archive("odd.warc.gz", records), "-o", tmp_path / "out", "-j", 1) == 0
    assert [row["url"] for row in rows_of(tmp_path / "out")] == ["http://north.example/1"]
    told = capsys.readouterr().err
    for reason in ("not found, moved or refused", "not HTML", "empty", "no host"):
        assert f"left out, {reason}: 1" in told


@pytest.mark.parametrize("ending", [".warc.gz", ".warc"])
def test_a_file_that_breaks_off_is_named_and_the_others_are_cleaned_whole(archive, stories, ending, tmp_path, capsys):
    whole = archive(f"whole{ending}", stories[:16])
    half = archive(f"half{ending}", stories[16:])
    half.write_bytes(half.read_bytes()[: half.stat().st_size // 2])
    assert run(whole, half, "-o", tmp_path / "out", "-j", 1) == 1
    told = capsys.readouterr().err
    assert f"broken: {half}: breaks off" in told
    assert f"broken: {whole}" not in told
    assert 16 < len(rows_of(tmp_path / "out")) < 28


def test_a_file_that_is_damaged_in_the_middle_is_named(archive, stories, tmp_path, capsys):
    damaged = archive("damaged.warc.gz", stories)
    content = bytearray(damaged.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 400] = bytes(400)
    damaged.write_bytes(content)
    assert run(damaged, "-o", tmp_path / "out", "-j", 1) == 1
    assert f"broken: {damaged}: " in capsys.readouterr().err
    assert rows_of(tmp_path / "out")


def test_near_duplicates_are_marked_with_the_first_page_that_has_the_story(archive, tmp_path):
    copied = [(f"http://{host}.example/copy", page(host, 1, seed="one story")) for host in ("north", "south")]
    others = [(f"http://{host}.example/{n}", page(host, n)) for n in range(12) for host in ("north", "south")]
    assert len(story("one story").split()) > 40
    run(archive("all.warc.gz", copied + others), "-o", tmp_path / "out", "-j", 1)
    rows = {row["url"]: row["duplicate_of"] for row in rows_of(tmp_path / "out")}
    assert rows.pop("http://south.example/copy") == "http://north.example/copy"
    assert set(rows.values()) == {None}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["gone.warc.gz", "-o", "out"], "no such file: gone.warc.gz"), (["gone-*", "-o", "out"], "no such file: gone-*")],
)
def test_what_is_not_there_is_named(arguments, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["warc", *arguments]) == 2
    assert message in capsys.readouterr().err
