import gzip
import signal
import subprocess
import sys

import pytest

from scrapy_winnow.archives import ArchiveRun, Options
from scrapy_winnow.archives.reading import parts
from scrapy_winnow.commands import main
from tests.scrapy_winnow.archives.made_pages import page

KILLED = """
import os, signal, sys
from pathlib import Path
from scrapy_winnow.archives import ArchiveRun

def progress(step, done, *_):
    if (step, done) == ("clean", 1):
        os.kill(os.getpid(), signal.SIGKILL)

ArchiveRun(sys.argv[2:], Path(sys.argv[1]), progress=progress).run()
"""


def test_a_run_killed_in_the_middle_ends_as_an_undisturbed_one(archive, tmp_path, capsys):
    files = [
        archive(f"{part}.warc.gz", [(f"http://h{part}.example/{n}", page(f"h{part}", n)) for n in range(20)])
        for part in range(3)
    ]
    arguments = [*map(str, files), "-j", "1", "-o"]
    assert main(["warc", *arguments, str(tmp_path / "whole")]) == 0
    killed = subprocess.run([sys.executable, "-c", KILLED, tmp_path / "killed", *files], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert len(list((tmp_path / "killed" / ".winnow" / "reports").glob("clean-*"))) == 1
    assert not list((tmp_path / "killed").glob("*.jsonl.gz"))
    assert "going on" not in capsys.readouterr().err
    assert main(["warc", *arguments, str(tmp_path / "killed")]) == 0
    assert "going on with the run that was stopped" in capsys.readouterr().err
    first, second = (sorted((tmp_path / name).iterdir()) for name in ("whole", "killed"))
    assert [file.name for file in first] == [file.name for file in second]
    assert [gzip.decompress(file.read_bytes()) for file in first] == [gzip.decompress(f.read_bytes()) for f in second]


def test_the_work_of_another_run_is_not_taken_for_its_own(archives, tmp_path, capsys):
    sources = list(map(str, archives))
    ArchiveRun(sources, tmp_path / "out", Options(outputs=frozenset({"markdown"})))
    assert main(["warc", *sources, "-o", str(tmp_path / "out")]) == 2
    assert "another run's work" in capsys.readouterr().err


def test_a_run_goes_on_rightly_when_its_archive_is_divided_otherwise(archive, monkeypatch, tmp_path):
    file = str(archive("crawl.warc.gz", [(f"http://h.example/{n}", page("h", n)) for n in range(40)]))
    ArchiveRun([file], tmp_path / "whole").run()

    def stop(step, done, *_):
        if (step, done) == ("clean", 3):
            raise KeyboardInterrupt

    monkeypatch.setattr(parts, "PART_BYTES", 4_000)
    with pytest.raises(KeyboardInterrupt):
        ArchiveRun([file], tmp_path / "divided", progress=stop).run()
    monkeypatch.setattr(parts, "PART_BYTES", 6_000)
    again = ArchiveRun([file], tmp_path / "divided")
    assert again.goes_on
    assert again.run().pages == 40
    first, second = ((tmp_path / name / "crawl.jsonl.gz").read_bytes() for name in ("whole", "divided"))
    assert first == second
