"""The command line as a whole: help, usage, progress, and ``scrapy winnow``, which finds the server of a project."""

import json
import re
import subprocess

import pytest

from scrapy_winnow.commands import main
from tests.scrapy_winnow.commands.test_command_hosts_shows_hosts import count_pages

PAGE = "<html><body><h1>Storm warning</h1><p>The ferries stay in the harbour until Sunday noon.</p></body></html>"


@pytest.mark.parametrize(
    "arguments",
    [[], ["clean"], ["nonsense"], ["clean", "--format", "pdf", "x"], ["segments"], ["train", "x"], ["evaluate", "x"]],
)
def test_wrong_usage_ends_with_exit_code_2(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert "usage: winnow" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["", "clean", "segments", "inspect", "warc", "report", "train", "evaluate"])
def test_help_has_examples(command, capsys):
    with pytest.raises(SystemExit) as ended:
        main([*filter(None, [command]), "--help"])
    assert ended.value.code == 0
    assert "examples:\n  winnow " in capsys.readouterr().out


def test_the_version_is_printed(capsys):
    with pytest.raises(SystemExit):
        main(["--version"])
    assert re.fullmatch(r"winnow 0\.\S+, core \d+, model \S+, lxml \S+\n", capsys.readouterr().out)


def test_the_shell_completes_commands_and_options(capsys):
    with pytest.raises(SystemExit):
        main(["--print-completion", "bash"])
    complete = 'eval "$1"; COMP_WORDS=(winnow segments --js) COMP_CWORD=2; _shtab_winnow; echo "${COMPREPLY[@]}"'
    command = ["bash", "-c", complete, "-", capsys.readouterr().out]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["--json"]


def test_scrapy_winnow_does_what_winnow_does(forks, tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    shown = forks.scrapy("winnow", "--help", folder=tmp_path)[1].replace("usage: scrapy winnow", "usage: winnow")
    assert shown.split() == capsys.readouterr().out.split()
    (tmp_path / "page.html").write_text(PAGE)
    code, out, _ = forks.scrapy("winnow", "clean", "page.html", "--format", "json", folder=tmp_path)
    assert code == 0
    assert json.loads(out)["text"].startswith("Storm warning")
    code, _, err = forks.scrapy("winnow", "clean", "page.html", "--no-such-option", folder=tmp_path)
    assert code == 2
    assert "unrecognized arguments: --no-such-option" in err


def test_the_server_is_that_of_the_project_around(forks, tmp_path, redis_url, prefix):
    count_pages(redis_url, prefix, news=2)
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = its_settings\n")
    settings = tmp_path / "its_settings.py"
    settings.write_text(f"WINNOW_REDIS_URL = {redis_url!r}\nWINNOW_REDIS_PREFIX = {prefix!r}\n")
    below = tmp_path / "some" / "folder"
    below.mkdir(parents=True)
    code, out, err = forks.scrapy("winnow", "hosts", "--json", folder=below)
    assert code == 0, err
    assert json.loads(out)["host"] == "news.example"
    settings.write_text(f"WINNOW_REDIS_PREFIX = {prefix!r}\n")
    out = forks.scrapy("winnow", "hosts", "--json", folder=below, WINNOW_REDIS_URL=redis_url)[1]
    assert json.loads(out)["host"] == "news.example"
    settings.write_text("WINNOW_REDIS_PREFIX = ''\n")
    assert forks.scrapy("winnow", "hosts", folder=below) == (
        2,
        "",
        "winnow: the settings of the project cannot be read: WINNOW_REDIS_PREFIX must not be empty\n",
    )
