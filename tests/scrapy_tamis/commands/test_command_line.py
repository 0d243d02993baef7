"""The command line as a whole: help, usage, and ``tamis hosts``, which finds the server of a project."""

import json
import re
import subprocess
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from pathlib import Path

import pytest

from scrapy_tamis.commands import main
from scrapy_tamis.storage.embedded import EmbeddedServer
from tests.scrapy_tamis.commands.test_command_hosts_shows_hosts import count_pages

PAGE = "<html><body><h1>Storm warning</h1><p>The ferries stay in the harbour until Sunday noon.</p></body></html>"


@pytest.mark.parametrize(
    "arguments",
    [
        *(["clean"], ["nonsense"], ["clean", "--format", "pdf", "x"], ["train", "x"], ["evaluate", "x"]),
        ["clean", "--encoding", "klingon", "x"],
        *([name, "--url", "host.example/story", "x"] for name in ("clean", "inspect", "compare")),
    ],
)
def test_wrong_usage_ends_with_exit_code_2(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    error, where = capsys.readouterr().err.splitlines()
    assert error.startswith("tamis")
    assert where.endswith(" --help has all options")


def test_without_a_command_there_is_the_help(capsys):
    assert main([]) == 2
    assert "curl -s https://host.example/ | tamis clean" in capsys.readouterr().err


def test_unknown_options_are_named_with_their_command_and_the_option_that_is_like_them(capsys):
    for command, option, meant in (
        ("clean", "--colour red", ""),
        ("clean", "--favour=recall", "; did you mean --favor?"),
        ("warc", "--formats text -o x", "; did you mean --format?"),
    ):
        with pytest.raises(SystemExit):
            main([*command.split(), "page.html", *option.split()])
        unknown = option.removesuffix(" -o x")
        assert f"tamis {command}: error: unrecognized arguments: {unknown}{meant}\n" in capsys.readouterr().err


WRONG_USE = {
    "clean --url https://host.example/ page.html page.html": "--url goes with a single FILE",
    "clean --model nowhere page.html": "--model: no model named 'nowhere'",
    "clean --model page.html page.html": "page.html: not a model file",
    "clean -o absent/x/y.txt page.html": "-o: no such folder",
    "compare page.html --no-browser --votes gone/votes.jsonl": "--votes gone/votes.jsonl: no such folder",
    "clean page.html -j 0": "--processes: at least 1",
    "clean page.html --with metadata": "--with goes with --format json",
    "clean --site -": "reads each page twice",
    "clean --site-file absent page.html": "--site-file absent: no such file",
    "clean --site-file page.html page.html": "tamis: --site-file page.html: not the counts of a site",
    "clean --rules absent page.html": "--rules absent: no such file",
    "clean --rules page.html page.html": "tamis: --rules page.html: Invalid statement",
    "clean sites/full -o out.txt": "-o out.txt: several FILEs go into a folder, -o out/",
    "clean sites/full -o out.jsonl": "-o out.jsonl: add --format json",
    "dedup items.jsonl --resemblance 0.4": "--resemblance: from 0.5 to 1",
    "dedup items.jsonl --resemblance 2": "--resemblance: from 0.5 to 1",
    "dedup items.jsonl -o /absent/folder/out": "-o /absent/folder/out: no such file or directory",
    "dedup sites": "sites is a folder: give its files, as in sites/*.jsonl.gz",
    "dedup absent.jsonl": "absent.jsonl: no such file or directory",
    "evaluate nothing.jsonl --pages .": "nothing.jsonl: there is no page in it",
    "evaluate list.jsonl --pages .": "list.jsonl: line 1 is not",
    "evaluate gold.jsonl --pages . --fold 7": "gold.jsonl: no page of fold 7",
    "hosts": "neither a Scrapy project nor .scrapy/tamis is here: give --redis-url or --state-dir",
    "hosts --redis-url redis://u:se/cret@a.example": "port from 0 to 65535; in a password / ? # @ [ and : have to be",
    "hosts --redis-url redis://a.example?colour=red": "has options that are unknown, or for Tamis to set: colour",
    "hosts https://[broken": "neither a host nor the address of a page",
    "hosts --forget": "--forget needs a HOST",
    f"hosts --state-dir {'x' * 300}": "file name too long",
    "hosts --export": "--export needs one HOST",
    "hosts -o hosts.txt": "-o and --sample go with --export",
    "hosts --import profile.json --ttl 99999999999": "--ttl from 1 to 3153600000",
    "inspect gone.html": "no such file",
    "inspect object.json -o out.html": "object.json: is JSON, not HTML",
    "inspect sites/blank -o out.html": "tamis: 0.html: is empty",
    "inspect www.example.org": "www.example.org: no such file or directory; an address begins with https://",
    "inspect page.html --site gone": "--site: neither a folder nor a WARC file",
    "inspect page.html --site sites/empty": "--site sites/empty: holds no HTML files",
    "inspect page.html --state-dir gone": "no private server has stored data",
    "inspect page.html --page 2": "--page: no such page",
    "inspect page.html --collect gold.txt": "must end in .jsonl",
    "inspect page.html --collect gone/gold.jsonl": "--collect gone/gold.jsonl: no such folder: gone",
    "inspect page.html -o gone/out.html": "no such file or directory",
    "inspect page.html --port 99999": "--port 99999",
    "train absent -o m.npz": "no such folder",
    "train sites/full -o m.npz": "holds no folder",
    "train sites -o m.pickle": "must end in .npz",
    "train sites -o m.npz --model nonsense": "no such kind of model: 'nonsense'",
    "train sites -o m.npz --labels guess": "no such method: 'guess'; there are site-level",
    "train sites -o m.npz --processes 0": "--processes: at least 1",
    "train sites -o m.npz --sources absent.md": "no such file",
    "train sites -o m.npz --gold gold.jsonl --model blocks": "html/7.html",
    "train sites -o m.npz --gold gold.jsonl --model logistic": "takes no gold text",
    "warc absent.warc.gz -o out": "no such archive: absent.warc.gz",
    "warc sites/ -o out": "no such archive: sites/, but a folder: give its files, as in sites/*.warc.gz",
    "warc s4://crawl/first.warc.gz -o out": "s4://crawl/first.warc.gz: unknown kind of address",
    "warc absent.warc.gz -o out.jsonl": "-o out.jsonl: OUT is a folder",
    "warc page.html -o page.html": "page.html/.tamis/warc: not a directory",
    "warc - -o out": "only once: add --one-pass",
    "warc - --one-pass --ray -o out": "give one of them",
}


@pytest.mark.parametrize(("line", "message"), WRONG_USE.items())
def test_what_cannot_work_is_explained_and_nothing_is_written(line, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SCRAPY_SETTINGS_MODULE", raising=False)
    Path("sites", "full").mkdir(parents=True)
    Path("sites", "empty").mkdir()
    Path("sites", "blank").mkdir()
    Path("sites", "blank", "0.html").touch()
    for name in ("page.html", *(f"sites/full/{number}.html" for number in range(10))):
        Path(name).write_text(PAGE)
    rows = {"items": '{"url": "http://a.example/", "text": "x"}', "gold": '{"id": "7", "gold_text": "x", "fold": 2}'}
    for name, content in {**rows, "nothing": "", "list": "[]"}.items():
        Path(f"{name}.jsonl").write_text(content)
    Path("object.json").write_text('{"price": 7}')
    files = set(tmp_path.rglob("*"))
    assert main(line.split()) == 2
    assert message in capsys.readouterr().err
    assert set(tmp_path.rglob("*")) == files


@pytest.mark.parametrize("command", ["", "clean", "inspect", "warc", "report", "train", "evaluate"])
def test_help_has_examples(command, capsys):
    with pytest.raises(SystemExit) as ended:
        main([*filter(None, [command]), "--help"])
    assert ended.value.code == 0
    assert "examples:\n  tamis " in capsys.readouterr().out


def test_the_version_is_printed(capsys):
    with pytest.raises(SystemExit):
        main(["--version"])
    assert re.fullmatch(r"tamis 0\.\S+, core \d+, model \S+, lxml \S+\n", capsys.readouterr().out)


def test_the_shell_completes_commands_and_options(capsys):
    with pytest.raises(SystemExit):
        main(["--print-completion", "bash"])
    complete = 'eval "$1"; COMP_WORDS=(tamis clean --enc) COMP_CWORD=2; _shtab_tamis; echo "${COMPREPLY[@]}"'
    command = ["bash", "-c", complete, "-", capsys.readouterr().out]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["--encoding"]


def test_a_process_that_dies_is_an_error_that_says_so(tmp_path, monkeypatch, capsys):
    def die(*_):
        raise BrokenProcessPool

    monkeypatch.setattr("scrapy_tamis.commands.clean.map_in_processes", die)
    (tmp_path / "page.html").write_text(PAGE)
    assert main(["clean", str(tmp_path)]) == 1
    assert capsys.readouterr().err == "tamis: a process died (out of memory?)\n"


def test_the_server_is_that_of_the_project_around(tmp_path, redis_url, prefix, forks):
    count_pages(redis_url, prefix, news=2)
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = its_settings\n")
    settings = tmp_path / "its_settings.py"
    settings.write_text(f"TAMIS_REDIS_URL = {redis_url!r}\nTAMIS_REDIS_PREFIX = {prefix!r}\n")
    below = tmp_path / "some" / "folder"
    below.mkdir(parents=True)
    hosts = partial(forks.tamis, "hosts", folder=below)
    code, out, err = hosts("--json")
    assert code == 0, err
    assert json.loads(out)["host"] == "news.example"
    settings.write_text(f"TAMIS_REDIS_PREFIX = {prefix!r}\n")
    assert json.loads(hosts("--json", TAMIS_REDIS_URL=redis_url).stdout)["host"] == "news.example"
    settings.write_text("TAMIS_REDIS_PREFIX = ''\n")
    assert hosts() == (
        2,
        "",
        "tamis: the settings of the project cannot be read: TAMIS_REDIS_PREFIX must not be empty\n",
    )


def test_outside_a_project_the_server_is_that_of_runspider(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SCRAPY_SETTINGS_MODULE", raising=False)
    with EmbeddedServer(tmp_path / ".scrapy" / "tamis") as server:
        count_pages(server.url, "tamis", news=2)
    assert main(["hosts", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["host"] == "news.example"
    Path("items.jsonl").write_text('{"url": "https://news.example/", "status": "cleaned", "text": "Rain"}')
    assert main(["report", "items.jsonl"]) == 0
    assert re.search(r"<b>news\.example</b>.*?counted</th><td>2 pages", Path("report.html").read_text(), re.DOTALL)
    Path("page.html").write_text(PAGE)
    for host, said in {
        "news": "with what .scrapy/tamis has counted of news.example; --pages 0 shows the page alone",
        "other": "no page of other.example has been counted in .scrapy/tamis",
    }.items():
        assert main(["inspect", "page.html", "--url", f"https://{host}.example/", "-o", "inspected.html"]) == 0
        assert said in capsys.readouterr().err


def test_reports_and_the_inspector_go_on_without_a_server_of_the_project_that_does_not_answer(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SCRAPY_SETTINGS_MODULE", raising=False)
    monkeypatch.setenv("TAMIS_REDIS_URL", f"unix://{tmp_path}/absent.sock")
    Path("items.jsonl").write_text('{"url": "https://news.example/", "status": "cleaned", "text": "Rain"}')
    Path("page.html").write_text(PAGE)
    assert main(["report", "items.jsonl"]) == 0
    assert main(["inspect", "page.html", "--url", "https://news.example/", "-o", "inspected.html"]) == 0
    said = capsys.readouterr().err
    assert "without what was counted of the hosts: Redis: " in said
    assert "without the counts of a crawl: Redis: " in said
    assert main(["report", "items.jsonl", "-o", "again.html", "--redis-url", f"unix://{tmp_path}/absent.sock"]) == 2
