import gzip
import json
import signal
import subprocess
import sys
from sqlite3 import connect

import numpy as np
import pytest

from scrapy_winnow.archives import OnePassRun, Options
from scrapy_winnow.archives.counting.stream_counts import StreamCounts
from scrapy_winnow.commands import main

COMMAND = [sys.executable, "-c", "from scrapy_winnow.commands import main; raise SystemExit(main())", "warc"]


def rows_of(file):
    return [json.loads(line) for line in gzip.decompress(file.read_bytes()).decode().splitlines()]


def run(*arguments):
    return main(["warc", "--one-pass", *map(str, arguments)])


def test_each_page_is_cleaned_with_the_pages_of_its_host_that_came_before_it(archives, tmp_path):
    assert run(*archives, "-o", tmp_path, "-j", 1) == 0
    rows = rows_of(tmp_path / "first.jsonl.gz") + rows_of(tmp_path / "second.jsonl.gz")
    for host in ("north", "south"):
        of_host = [row for row in rows if row["host"] == f"{host}.example"]
        assert [row["evidence_pages"] for row in of_host] == list(range(1, 15))
        assert [row["label_source"] for row in of_host] == ["page"] * 9 + ["site"] * 5
        assert not any("Front page" in row["text"] for row in of_host[9:])
    assert not (tmp_path / ".winnow").exists()


def test_what_comes_out_depends_on_the_order_of_the_archives_and_not_on_the_processes(archives, tmp_path):
    for name, ordered, processes in (("a", archives, 1), ("b", archives, 2), ("c", archives[::-1], 1)):
        OnePassRun(map(str, ordered), tmp_path / name, Options(processes=processes)).run()
    first, second, other = (
        [(tmp_path / name / f"{part}.jsonl.gz").read_bytes() for part in ("first", "second")] for name in "abc"
    )
    assert first == second
    assert first != other


def test_a_stream_is_read_from_standard_input_and_looked_at_for_its_end(archives, tmp_path):
    stream = b"".join(file.read_bytes() for file in archives)
    told = subprocess.run(
        [*COMMAND, "-", "--one-pass", "-o", tmp_path / "out", "--format", "warc", "-j", "1"],
        input=stream[:-900],
        capture_output=True,
        check=False,
    )
    assert told.returncode == 1
    assert b"broken: -: breaks off in the record behind byte" in told.stderr
    assert gzip.decompress((tmp_path / "out" / "stdin.warc.gz").read_bytes()).count(b"conversion") == 26


def test_a_whole_stream_is_no_broken_one(archives, monkeypatch, tmp_path):
    with archives[0].open() as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        assert run("-", "-o", tmp_path, "-j", 1) == 0
    assert len(rows_of(tmp_path / "stdin.jsonl.gz")) == 16


KILLED = """
import os, signal, sys
from pathlib import Path
from scrapy_winnow.archives import OnePassRun, Options

def progress(step, done, whole, read_bytes, pages):
    if (done, pages) == (1, 20):
        os.kill(os.getpid(), signal.SIGKILL)

OnePassRun(sys.argv[2:], Path(sys.argv[1]), Options(), progress).run()
"""


def test_a_run_killed_in_the_middle_goes_on_and_ends_as_an_undisturbed_one(archive, stories, tmp_path):
    copies = [(f"http://copies.example/{n}", html) for n, (_, html) in enumerate(stories[:6])]
    files = [archive(f"{part}.warc.gz", pages) for part, pages in (("a", stories[:16]), ("b", copies + stories[16:]))]
    killed = subprocess.run([sys.executable, "-c", KILLED, tmp_path / "killed", *files], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert sorted(file.name for file in (tmp_path / "killed").glob("*.gz")) == ["a.jsonl.gz"]
    again = OnePassRun(map(str, files), tmp_path / "killed", Options()).run()
    whole = OnePassRun(map(str, files), tmp_path / "whole", Options()).run()
    assert again == whole
    assert (whole.pages, whole.hosts, whole.duplicates) == (34, 3, 6)
    for name in ("a.jsonl.gz", "b.jsonl.gz"):
        assert (tmp_path / "killed" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_a_stream_that_was_stopped_is_not_gone_on_with(tmp_path, capsys):
    OnePassRun(["-"], tmp_path, Options())
    assert run("-", "-o", tmp_path) == 2
    assert "standard input cannot be read again" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["-"], "only once: add --one-pass"), (["-", "--one-pass", "--ray"], "give one of them")],
)
def test_what_cannot_be_in_one_pass_is_said(arguments, message, tmp_path, capsys):
    assert main(["warc", *arguments, "-o", str(tmp_path)]) == 2
    assert message in capsys.readouterr().err


def test_counts_that_are_spilled_to_disk_are_those_that_stay_in_memory(tmp_path):
    chance = np.random.default_rng(1)
    databases = [connect(tmp_path / name) for name in "ab"]
    small, large = (StreamCounts(database, 12, held) for database, held in zip(databases, (1, 10**9), strict=True))
    for number in range(200):
        host, path = f"host-{chance.integers(5)}", int(chance.integers(30))
        leaves = chance.integers(0, 400, 300).astype(np.uint64)
        contents = (path % 25).to_bytes(8, "little")
        one, other = (counts.count(f"http://{host}/{path}", host, leaves, contents) for counts in (small, large))
        assert one.df.tolist() == other.df.tolist(), number
        assert (one.pages, one.undercount, one.counted) == (other.pages, other.undercount, other.counted)
        assert one.pages <= 12
    assert small.save() == large.save() == 5
    for database in databases:
        database.close()
