"""Every command writes its output whole or not at all, never over what it reads, and removes only what it made."""

import gzip
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from scrapy_tamis.archives import ArchiveRun
from scrapy_tamis.commands import main
from tamis.files import open_output, write_output
from tests.scrapy_tamis.archives.made import page, write_archive

ITEM = {"url": "http://a.example/", "text": "word " * 40, "status": "cleaned", "template_share": 0.5}
RULES = '[[rules]]\ndrop = "aside"\n'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with something that each command reads."""
    monkeypatch.chdir(tmp_path)
    Path("items.jsonl").write_text(f"{json.dumps(ITEM)}\n")
    Path("page.html").write_text(page("a", 1))
    Path("rules.toml").write_text(RULES)
    Path("gold.jsonl").write_text("")
    Path("sites", "a").mkdir(parents=True)
    Path("sites", "a", "1.html").write_text(page("a", 1))
    os.link("page.html", "linked.html")
    return tmp_path


@pytest.mark.parametrize(
    "line",
    [
        "report items.jsonl -o items.jsonl",
        "inspect page.html -o page.html",
        "inspect page.html -o ./linked.html",
        "inspect page.html --rules rules.toml -o rules.toml",
        "inspect page.html --collect gold.jsonl -o gold.jsonl",
        "inspect sites/a -o sites/a/1.html",
        "dedup items.jsonl -o items.jsonl",
        "clean page.html -o linked.html",
        "train sites --sources rules.md -o rules.npz",
    ],
)
def test_what_is_read_is_not_overwritten(line, folder, capsys):
    Path("rules.md").write_text("sources")
    before = {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    assert main(line.split()) == 2
    assert "would overwrite" in capsys.readouterr().err
    assert before == {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_a_report_that_is_there_is_replaced_only_where_it_is_named(folder, capsys):
    Path("report.html").write_text("of a crawl")
    assert main(["report", "items.jsonl"]) == 2
    assert capsys.readouterr().err == "tamis: there is a report.html already: -o report.html replaces it\n"
    assert Path("report.html").read_text() == "of a crawl"
    assert main(["report", "items.jsonl", "-o", "report.html"]) == 0
    assert "of a crawl" not in Path("report.html").read_text()


@pytest.mark.parametrize("command", ["report", "dedup", "clean --format json"])
def test_an_output_is_compressed_where_its_name_says_so(command, folder):
    source = "page.html" if "clean" in command else "items.jsonl"
    assert main([*command.split(), source, "-o", "out.gz"]) == 0
    assert gzip.decompress(Path("out.gz").read_bytes())
    assert main(["dedup", "items.jsonl", "-o", "marked.jsonl.gz"]) == 0
    assert main(["report", "marked.jsonl.gz"]) == 0


@pytest.mark.parametrize("line", ["report items.jsonl", "inspect page.html", "clean page.html", "dedup items.jsonl"])
def test_a_dash_is_standard_output(line, folder, capsys):
    before = set(folder.iterdir())
    assert main([*line.split(), "-o", "-"]) == 0
    assert capsys.readouterr().out
    assert set(folder.iterdir()) == before


def run(line, **streams):
    """Run a command in a process of its own."""
    command = [sys.executable, "-c", "import sys; from scrapy_tamis.commands import main; sys.exit(main(sys.argv[1:]))"]
    return subprocess.run([*command, *line.split()], stderr=subprocess.PIPE, text=True, check=False, **streams)


def test_standard_output_may_be_named_as_a_file(folder):
    done = run("dedup items.jsonl -o /dev/stdout", stdout=subprocess.PIPE)
    assert json.loads(done.stdout)["url"] == ITEM["url"], done.stderr
    done = run("clean page.html page.html --format json -o /dev/stdout", stdout=subprocess.PIPE)
    assert len(done.stdout.splitlines()) == 2, done.stderr


@pytest.mark.parametrize("line", ["report items.jsonl -o -", "inspect page.html -o -", "dedup items.jsonl"])
def test_a_full_disk_behind_standard_output_is_said_in_words(line, folder):
    with Path("/dev/full").open("wb") as full:
        done = run(line, stdout=full)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "tamis: standard output: no space left on device"
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["-", "/dev/stdout"])
def test_a_reader_that_has_enough_ends_a_command_quietly(name, folder):
    Path("items.jsonl").write_text(f"{json.dumps(ITEM)}\n" * 1_000)
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as pipe:
        done = run(f"dedup items.jsonl -o {name}", stdout=pipe)
    assert (done.returncode, done.stderr) == (1, "")


def test_half_a_character_of_json_is_still_json(folder):
    Path("items.jsonl").write_text(json.dumps({**ITEM, "text": "half \ud83d"}))
    assert main(["dedup", "items.jsonl", "-o", "out.jsonl"]) == 0
    assert json.loads(Path("out.jsonl").read_text("utf-8"))["text"] == "half \ud83d"


def test_a_full_disk_leaves_the_output_of_before(folder):
    Path("out.html").write_text("of before")
    program = (
        "import resource, signal, sys; from scrapy_tamis.commands import main;"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000));"
        "sys.exit(main(['report', 'items.jsonl', '-o', 'out.html']))"
    )
    done = subprocess.run([sys.executable, "-B", "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "tamis: -o out.html: file too large\n")
    assert Path("out.html").read_text() == "of before"
    assert not list(folder.glob(".*"))


def test_two_who_write_a_file_at_once_leave_one_of_both(tmp_path):
    texts = [str(number) * 10_000 for number in range(8)]
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda text: write_output(tmp_path / "out", text), texts * 10))
    assert (tmp_path / "out").read_text() in texts
    assert [file.name for file in tmp_path.iterdir()] == ["out"]


def test_a_file_keeps_its_rights_and_a_link_stays_one(tmp_path):
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_text("old")
    file.chmod(0o640)
    link.symlink_to(file)
    write_output(link, "new")
    assert (file.read_text(), file.stat().st_mode & 0o777, link.is_symlink()) == ("new", 0o640, True)
    with pytest.raises(TypeError), open_output(file) as stream:
        stream.writelines(["half", 7])
    assert file.read_text() == "new"


def test_a_run_over_archives_removes_its_own_work_and_nothing_else(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    archive = write_archive(tmp_path / "a.warc.gz", [(f"http://a.example/{n}", page("a", n)) for n in range(3)])
    precious = tmp_path / ".tamis" / "folds" / "model.npz"
    precious.parent.mkdir(parents=True)
    precious.write_text("precious")
    assert main(["warc", str(archive), "-o", ".", "-j", "1"]) == 0
    assert precious.read_text() == "precious"
    assert [file.name for file in (tmp_path / ".tamis").iterdir()] == ["folds"]
    (tmp_path / ".tamis" / "warc").mkdir()
    (tmp_path / ".tamis" / "warc" / "notes").write_text("mine")
    with pytest.raises(ValueError, match="not the work of a run"):
        ArchiveRun([str(archive)], tmp_path)
    assert (tmp_path / ".tamis" / "warc" / "notes").read_text() == "mine"
