"""``tamis warc`` in two passes and in one: rows, formats, errors, and runs that were stopped."""

import bz2
import errno
import gzip
import json
import lzma
import os
import random
import re
import signal
import subprocess
import sys
import zipfile
from contextlib import closing
from pathlib import Path

import pyarrow.parquet
import pytest
from fastwarc.warc import ArchiveIterator, WarcRecordType

import tamis
from scrapy_tamis.archives import ArchiveRun, OnePassRun, Options, reading
from scrapy_tamis.archives.counting import HostCounts
from scrapy_tamis.archives.runs import PartProcesses, count_archive
from scrapy_tamis.commands import main
from tests.scrapy_tamis.archives.made import BOATS, HTML, FaultyServer, page, rows_of, write_archive
from tests.scrapy_tamis.waiting import SECONDS

COMMAND = [sys.executable, "-c", "from scrapy_tamis.commands import main; raise SystemExit(main())", "warc"]
KILLED = """
import os, signal, sys
from pathlib import Path
from scrapy_tamis.archives import {kind}, Options

def progress(step, done, total, pages):
    if {condition}:
        os.kill(os.getpid(), signal.SIGKILL)

{kind}(sys.argv[2:], Path(sys.argv[1]), Options(processes=2), progress).run()
"""


def run(*arguments):
    return main(["warc", *map(str, arguments)])


def run_and_kill(kind, condition, *arguments):
    """Run in two processes, and kill the one that they work for; they must not go on, nor wait forever."""
    program = [sys.executable, "-c", KILLED.format(kind=kind, condition=condition), *arguments]
    killed = subprocess.run(program, stdout=subprocess.PIPE, timeout=SECONDS, check=False)  # to the end of all of them
    assert killed.returncode == -signal.SIGKILL


def contents_of(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_every_page_is_cleaned_with_all_pages_of_its_host_the_first_one_too(cleaned):
    rows = rows_of(cleaned)
    assert len(rows) == 28
    for row in rows:
        assert (row["evidence_pages"], row["label_source"], row["status"]) == (14, "site", "cleaned")
        assert "Front page" not in row["text"]
        assert "Copyright" not in row["text"]
        assert len(row["text"].split()) > 60
    assert sorted(contents_of(cleaned)) == ["first.jsonl.gz", "second.jsonl.gz"]


def test_neither_the_order_of_pages_nor_the_number_of_processes_changes_a_row(cleaned, stories, tmp_path):
    mixed = random.Random(1).sample(stories, len(stories))
    run(write_archive(tmp_path / "all.warc", mixed), "-o", tmp_path / "b", "--with", "markdown", "-j", 2)
    own = ("date", "record_id", "duplicate_of")
    first, second = (
        {row["url"]: {k: v for k, v in row.items() if k not in own} for row in rows_of(folder)}
        for folder in (cleaned, tmp_path / "b")
    )
    assert first == second


@pytest.mark.parametrize(
    ("scope", "favor", "others", "passes"),
    [
        ("article", "balanced", {}, ["-j", 1]),
        ("page", "precision", {"scope": "page"}, ["-j", 2]),
        ("page", "precision", {"scope": "page"}, ["-j", 1, "--one-pass"]),
    ],
)
def test_pages_are_cut_by_the_favor_scope_and_rules_that_are_asked_for(scope, favor, others, passes, stories, tmp_path):
    shop, how = "http://shop.example/", {"favor": favor, "scope": scope}
    archive = write_archive(tmp_path / "all.warc.gz", [(shop, BOATS), *stories[:8]])
    (tmp_path / "rules.toml").write_text('[[rules]]\nsite = "north.example"\ndrop = "h1"\n')
    options = ["--favor", how["favor"], "--scope", how["scope"], "--rules", tmp_path / "rules.toml"]
    assert run(archive, "-o", tmp_path / "out", *options, *passes) == 0
    rows = rows_of(tmp_path / "out")
    assert [row["host"] for row in rows if "Story" not in row["text"]] == ["shop.example", *["north.example"] * 4]
    assert [row["text"] for row in rows if row["url"] == shop] == [tamis.clean(BOATS, shop, **how).text]
    assert tamis.clean(BOATS, shop, **how).text != tamis.clean(BOATS, shop, **others).text


def test_parts_of_a_long_archive_make_the_output_of_the_whole(archives, cleaned, monkeypatch, tmp_path):
    monkeypatch.setattr(reading, "MIN_PART_BYTES", 2_500)
    assert all(len(parts) > 2 for parts in reading.split_archives(map(str, archives)).values())
    ArchiveRun(map(str, archives), tmp_path, Options(outputs=frozenset({"markdown"}))).run()
    assert contents_of(tmp_path) == contents_of(cleaned)


def test_a_page_above_the_limits_and_data_called_html_have_rows_without_text_and_do_not_count(stories, tmp_path):
    deep_page = f"{'<div>' * 3_000}台風が".encode("shift_jis"), "200 OK", "text/html; charset=shift_jis"
    answer = json.dumps({"html": "<p>One.</p><p>Two.</p>"}).encode(), "200 OK", "text/html; charset=utf-8"
    pages = [("http://north.example/deep", deep_page), ("http://north.example/api", answer), *stories]
    archive = write_archive(tmp_path / "all.warc.gz", pages)
    assert run(archive, "-o", tmp_path / "out", "-j", 1) == 0
    deep, data, *others = rows_of(tmp_path / "out")
    assert (deep["text"], deep["status"], deep["evidence_pages"]) == ("", "too_large", 0)
    assert (data["text"], data["status"], data["evidence_pages"]) == ("", "json", 0)
    assert {row["evidence_pages"] for row in others} == {14}


def test_a_file_is_itself_also_with_the_signs_of_a_pattern_in_its_name(stories, tmp_path):
    assert run(write_archive(tmp_path / "crawl[1].warc.gz", stories[:2]), "-o", tmp_path / "out", "-j", 1) == 0
    assert len(rows_of(tmp_path / "out")) == 2


def test_names_of_archives_may_be_no_text_and_the_same(stories, tmp_path):
    folders = [tmp_path / name for name in "ab"]
    for folder in folders:
        folder.mkdir()
    archives = [write_archive(folder / os.fsdecode(b"\xff.warc.gz"), stories[:2]) for folder in folders]
    assert run(*archives, "-o", tmp_path / "out", "-j", 1) == 0
    assert len(list((tmp_path / "out").iterdir())) == 2


def test_names_of_archives_that_are_too_long_for_files_are_cut(stories, tmp_path):
    with FaultyServer() as server:
        server.content = write_archive(tmp_path / "one.warc.gz", stories[:2]).read_bytes()
        signed, long = (f"{server.url}/{name}" for name in ("a.warc.gz?signature=" + "s" * 300, "b" * 300))
        assert run(signed, long, "-o", tmp_path / "out", "-j", 1) == 0
    names = [re.sub("b{200}-[0-9a-f]{8}", "b", name) for name in sorted(contents_of(tmp_path / "out"))]
    assert names == ["a.jsonl.gz", "b.jsonl.gz"]


def test_an_archive_is_not_overwritten_by_its_clean_pages(stories, tmp_path, monkeypatch, capsys):
    archive = write_archive(tmp_path / "crawl.warc.gz", stories[:2])
    content = archive.read_bytes()
    monkeypatch.chdir(tmp_path)
    for folder in (".", tmp_path):
        assert run(archive, "-o", folder, "--format", "warc", "-j", 1) == 2
        assert "would be overwritten by its clean pages" in capsys.readouterr().err
    assert contents_of(tmp_path) == {"crawl.warc.gz": content}


def test_the_three_formats_hold_the_same_pages(archives, cleaned, tmp_path):
    for name in ("parquet", "warc"):
        assert run(*archives, "-o", tmp_path / name, "--format", name, "--with", "markdown", "-j", 1) == 0
    rows = {row["url"]: row for row in rows_of(cleaned)}
    columns = pyarrow.parquet.read_table(tmp_path / "parquet").to_pylist()
    assert {row["url"]: row["text"] for row in columns} == {url: row["text"] for url, row in rows.items()}
    assert columns[0]["markdown"].startswith("#")
    assert columns[0]["shingles"] == rows[columns[0]["url"]]["shingles"]
    seen = 0
    for file in (tmp_path / "warc").glob("*.warc.gz"):
        with file.open("rb") as stream:
            for record in ArchiveIterator(stream):
                row = rows[record.headers["WARC-Target-URI"]]
                assert record.record_type == WarcRecordType.conversion
                assert record.headers["WARC-Refers-To"] == row["record_id"]
                assert record.reader.read().decode() == row["text"] + "\n"
                seen += 1
    assert seen == len(rows) == len(columns)
    run(*archives, "-o", tmp_path / "again", "--format", "warc", "-j", 1)
    assert contents_of(tmp_path / "again") == contents_of(tmp_path / "warc")


def test_a_damaged_archive_is_named_with_what_was_skipped_and_the_others_are_cleaned(stories, tmp_path, capsys):
    whole = write_archive(tmp_path / "whole.warc.gz", [*stories[:16], ("http://north.example/empty", " ")])
    half = write_archive(tmp_path / "half.warc.gz", stories[16:24])
    half.write_bytes(half.read_bytes()[:-100])  # within the text of the last page, whose end takes 8 bytes
    plain = write_archive(tmp_path / "plain.warc", stories[16:20])
    plain.write_bytes(plain.read_bytes()[:-40])
    gone = "http://127.0.0.1:9/crawl.warc.gz"
    assert run(whole, half, plain, gone, "-o", tmp_path / "out", "-j", 1) == 1
    message = capsys.readouterr().err
    assert f"broken: {half}: breaks off" in message
    assert f"broken: {plain}: breaks off" in message
    assert f"broken: {gone}: " in message
    assert f"broken: {whole}" not in message
    assert "skipped, empty: 1" in message
    assert 20 < len(rows_of(tmp_path / "out")) < 32


def test_near_duplicates_are_marked_with_the_first_page_that_has_the_text(tmp_path):
    copies = [(f"http://{host}.example/copy", page(host, 1, seed="one story")) for host in ("north", "south")]
    others = [(f"http://{host}.example/{n}", page(host, n)) for n in range(12) for host in ("north", "south")]
    run(write_archive(tmp_path / "all.warc.gz", copies + others), "-o", tmp_path / "out", "-j", 1)
    rows = {row["url"]: row["duplicate_of"] for row in rows_of(tmp_path / "out")}
    assert rows.pop("http://south.example/copy") == "http://north.example/copy"
    assert set(rows.values()) == {None}


def test_a_killed_run_is_resumed_and_ends_as_an_undisturbed_one(archives, cleaned, tmp_path, capsys):
    run_and_kill("ArchiveRun", '(step, done) == ("clean", 1)', tmp_path / "out", *archives)
    assert len(list((tmp_path / "out" / ".tamis" / "warc" / "reports").glob("clean-*"))) == 1
    assert not list((tmp_path / "out").glob("*.jsonl.gz"))
    for other in (["--with", "markdown"], ["--favor", "recall"], ["--rules", tmp_path / "rules.json"]):
        (tmp_path / "rules.json").write_text('[{"drop": "h1"}]')
        assert run(*archives, "-o", tmp_path / "out", "-j", 1, *other) == 2
        assert "another run's work" in capsys.readouterr().err
    assert run(*archives, "-o", tmp_path / "out", "-j", 1) == 0
    assert "resuming the run that was stopped" in capsys.readouterr().err
    assert rows_of(tmp_path / "out") == rows_of(cleaned, without={"markdown"})
    assert {file.name for file in (tmp_path / "out").iterdir()} == {file.name for file in cleaned.iterdir()}


def test_after_an_error_no_other_part_is_begun(archives, tmp_path):
    targets = [tmp_path / "no such folder" / "0", *(tmp_path / str(number) for number in range(1, 40))]
    tasks = {target.name: (reading.Part(str(archives[0])), target) for target in targets}
    with pytest.raises(FileNotFoundError), closing(PartProcesses(2)) as processes:
        list(processes.run(count_archive, tasks, Options(processes=2), HostCounts(tmp_path)))
    assert len(list(tmp_path.iterdir())) < 10


def test_a_run_is_resumed_also_when_its_archive_is_split_otherwise(archives, monkeypatch, tmp_path):
    file = str(archives[0])
    ArchiveRun([file], tmp_path / "whole").run()

    def stop(step, done, *_):
        if (step, done) == ("clean", 2):
            raise KeyboardInterrupt

    monkeypatch.setattr(reading, "MIN_PART_BYTES", 3_000)
    with pytest.raises(KeyboardInterrupt):
        ArchiveRun([file], tmp_path / "split", progress=stop).run()
    monkeypatch.setattr(reading, "MIN_PART_BYTES", 4_000)
    again = ArchiveRun([file], tmp_path / "split")
    assert again.is_resumed
    assert again.run().pages == 16
    assert contents_of(tmp_path / "split") == contents_of(tmp_path / "whole")


def test_a_run_is_resumed_after_a_full_disk(archives, cleaned, monkeypatch, tmp_path):
    replace, full = Path.replace, []

    def find_no_room(file, target):
        if any(name in target.name for name in full):
            raise OSError(errno.ENOSPC, "no space left on device")
        return replace(file, target)

    output = [*archives, "-o", tmp_path / "out", "-j", 1, "--with", "markdown"]
    monkeypatch.setattr(Path, "replace", find_no_room)
    for name in ("run.json", "count-", "clean-", ".jsonl.gz"):
        full[:] = [name]
        assert run(*output) == 2
    full.clear()
    assert run(*output) == 0
    assert contents_of(tmp_path / "out") == contents_of(cleaned)


def test_a_run_that_has_not_ended_is_not_begun_again(archives, cleaned, tmp_path):
    refused = []

    def begin_again(*_):
        with pytest.raises(ValueError, match="has not ended"):
            ArchiveRun(map(str, archives), tmp_path, options).run()
        refused.append(True)

    options = Options(outputs=frozenset({"markdown"}))
    ArchiveRun(map(str, archives), tmp_path, options, begin_again).run()
    assert refused
    assert contents_of(tmp_path) == contents_of(cleaned)


def test_in_one_pass_each_page_is_cleaned_with_the_pages_of_its_host_that_came_before_it(archives, tmp_path):
    assert run(*archives, "--one-pass", "-o", tmp_path / "out", "-j", 1) == 0
    rows = rows_of(tmp_path / "out")
    for host in ("north", "south"):
        of_host = [row for row in rows if row["host"] == f"{host}.example"]
        assert [row["evidence_pages"] for row in of_host] == list(range(1, 15))
        assert [row["label_source"] for row in of_host] == ["page"] + ["site"] * 13
        assert not any("Front page" in row["text"] for row in of_host[9:])
    assert not (tmp_path / "out" / ".tamis").exists()
    OnePassRun(map(str, archives), tmp_path / "processes", Options(processes=2)).run()
    assert contents_of(tmp_path / "processes") == contents_of(tmp_path / "out")
    OnePassRun(map(str, archives[::-1]), tmp_path / "reversed").run()
    assert contents_of(tmp_path / "reversed") != contents_of(tmp_path / "out")


def test_a_stream_is_read_from_standard_input_and_checked_for_its_end(archives, monkeypatch, tmp_path):
    stream = b"".join(file.read_bytes() for file in archives)
    result = subprocess.run(
        [*COMMAND, "-", "--one-pass", "-o", tmp_path / "out", "--format", "warc", "-j", "1"],
        input=stream[:-900],
        capture_output=True,
        check=False,
    )
    assert result.returncode == 1
    assert b"broken: -: breaks off in the record after byte" in result.stderr
    assert gzip.decompress((tmp_path / "out" / "stdin.warc.gz").read_bytes()).count(b"conversion") == 26
    with archives[0].open() as whole:
        monkeypatch.setattr(sys, "stdin", whole)
        assert run("-", "--one-pass", "-o", tmp_path / "whole", "-j", 1) == 0
    assert len(rows_of(tmp_path / "whole")) == 16


async def test_a_run_in_one_pass_works_beside_an_event_loop_as_of_a_notebook(archives, tmp_path):
    assert OnePassRun(map(str, archives), tmp_path / "out").run().pages == 28


def test_a_killed_run_in_one_pass_is_resumed_and_ends_as_an_undisturbed_one(stories, tmp_path):
    copies = [(f"http://copies.example/{n}", html) for n, (_, html) in enumerate(stories[:6])]
    files = [
        write_archive(tmp_path / f"{name}.warc.gz", pages)
        for name, pages in (("a", stories[:16]), ("b", copies + stories[16:]))
    ]
    run_and_kill("OnePassRun", "(done, pages) == (1, 20)", tmp_path / "killed", *files)
    assert sorted(file.name for file in (tmp_path / "killed").glob("*.gz")) == ["a.jsonl.gz"]
    again = OnePassRun(map(str, files), tmp_path / "killed").run()
    whole = OnePassRun(map(str, files), tmp_path / "whole").run()
    assert again == whole
    assert (whole.pages, whole.hosts, whole.duplicates) == (34, 3, 6)
    assert contents_of(tmp_path / "killed") == contents_of(tmp_path / "whole")


def test_a_stopped_run_over_standard_input_is_not_resumed(tmp_path, capsys):
    OnePassRun(["-"], tmp_path)
    assert run("-", "--one-pass", "-o", tmp_path) == 2
    assert "standard input cannot be read again" in capsys.readouterr().err


POISONED = """
import os
import signal

from tamis.page.page import Page

parse = Page.parse.__func__


def parse_or_die(kind, html, *arguments, **options):
    if "POISON" in str(html):
        os.kill(os.getpid(), signal.SIGSEGV)
    return parse(kind, html, *arguments, **options)


Page.parse = classmethod(parse_or_die)
"""


@pytest.mark.parametrize("how", [["-j", "2"], ["-j", "1"], ["-j", "1", "--one-pass"]], ids=" ".join)
def test_a_page_that_ends_the_processes_that_work_on_it_is_named_and_the_run_goes_on(how, stories, tmp_path):
    bad = [(f"http://south.example/bad{n}", page("south", n).replace("Story", "POISON")) for n in range(3)]
    archives = [
        write_archive(tmp_path / "a.warc.gz", [*stories[:6], *bad[:2], *stories[6:10]]),
        write_archive(tmp_path / "b.warc.gz", [*stories[10:14], bad[2], *stories[14:20]]),
        write_archive(tmp_path / "c.warc.gz", stories[20:]),
    ]
    (tmp_path / "sitecustomize.py").write_text(POISONED)
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [*COMMAND, *archives, "-o", tmp_path / "out", *how],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "28 pages of 2 hosts" in done.stderr
    named = "failed, the process that worked on it has ended: 3, the first http://south.example/bad"
    assert named in done.stderr
    assert len(rows_of(tmp_path / "out")) == 28
    assert not (tmp_path / "out" / ".tamis").exists()


@pytest.mark.parametrize("form", ["jsonl", "parquet", "warc"])
def test_half_a_character_in_the_metadata_of_a_page_stops_no_run(form, stories, tmp_path):
    data = '<script type="application/ld+json">{"@type": "NewsArticle", "headline": "Cut emoji \\ud83d"}</script>'
    cut = ("http://north.example/cut", page("north", 99).replace("</head>", f"{data}</head>"))
    archive = write_archive(tmp_path / "a.warc.gz", [*stories[:4], cut])
    assert run(archive, "-o", tmp_path / "out", "--format", form, "--with", "metadata", "-j", 1) == 0


def test_other_files_than_warc_are_named_for_what_they_are(stories, tmp_path, capsys):
    whole = write_archive(tmp_path / "whole.warc.gz", stories[:4])
    arc = b"filedesc://a.arc 0.0.0.0 20261122 text/plain 76\n1 0 x\nURL IP-address Archive-date Content-type\n\n"
    with zipfile.ZipFile(tmp_path / "crawl.wacz", "w") as wacz:
        wacz.write(whole, "archive/whole.warc.gz")
    others = {
        "a.arc": (arc, "no WARC file, but an ARC file"),
        "a.arc.gz": (gzip.compress(arc), "no WARC file, but an ARC file"),
        "crawl.wacz": ((tmp_path / "crawl.wacz").read_bytes(), "no WARC file, but a ZIP file, as WACZ is: unzip it"),
        "a.warc.bz2": (bz2.compress(gzip.decompress(whole.read_bytes())), "but compressed with bzip2: unpack it"),
        "a.warc.xz": (lzma.compress(b"WARC/1.0"), "but compressed with xz"),
        "page.html": (b"\n<!doctype html><title>x</title>", "but HTML or XML: tamis clean cleans pages"),
        "index.cdxj": (b'{"a": 1}', "but JSON"),
    }
    for name, (content, _) in others.items():
        (tmp_path / name).write_bytes(content)
    assert run(whole, *(tmp_path / name for name in others), "-o", tmp_path / "out", "-j", 1) == 1
    message = capsys.readouterr().err
    for name, (_, said) in others.items():
        assert re.search(rf"broken: \S+{re.escape(name)}: .*{re.escape(said)}", message), (name, message)
    assert "4 pages of 2 hosts" in message
    assert "skipped" not in message


def test_what_is_no_page_is_none_also_where_its_header_names_a_charset(stories, tmp_path):
    binary = {"pdf": b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n" + bytes(range(256)) * 9, "zip": gzip.compress(b"<p>x</p>" * 99)}
    kinds = [(f"http://north.example/{name}", (body, "200 OK", HTML)) for name, body in binary.items()]
    assert run(write_archive(tmp_path / "a.warc.gz", [*stories[:4], *kinds]), "-o", tmp_path / "out", "-j", 1) == 0
    rows = {row["url"]: row for row in rows_of(tmp_path / "out")}
    assert [(rows[url]["status"], rows[url]["text"]) for url, _ in kinds] == [("binary", "")] * 2
