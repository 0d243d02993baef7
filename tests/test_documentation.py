"""The documentation says what the code does: names, tables, commands, links and examples."""

import ast
import importlib
import re
import shlex
import sys
from pathlib import Path

import pytest

from docs.reference import api, tables
from scrapy_winnow import Addon
from scrapy_winnow.commands import main as winnow
from scrapy_winnow.config import SETTINGS
from scrapy_winnow.fields import FIELDS
from scrapy_winnow.project.site import SiteSpider
from winnow.models import shipped_models

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("[!.]*/README.md")])
BENCHMARKS = sorted((ROOT / "benchmarks").rglob("*.py"))


def _first_cells(page):
    """Names in backquotes in the first column of the tables of a page of docs/reference/."""
    text = (ROOT / "docs" / "reference" / page).read_text(encoding="utf-8")
    return re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE)


def _code_lines(text):
    """Lines of code: those in fences and those that are indented by four."""
    fenced = re.findall(r"^```(?:sh|console)?\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    indented = re.findall(r"^ {4}(\S.*)$", text, re.MULTILINE)
    return [*(line.strip() for block in fenced for line in block.splitlines()), *indented]


@pytest.mark.parametrize("page", tables.PAGES, ids=lambda page: page.name)
def test_the_tables_of_settings_and_stats_are_those_of_the_code(page):
    written = page.read_text(encoding="utf-8")
    assert tables.with_table(written, tables.PAGES[page]()) == written, "make docs writes them"


def test_settings_named_anywhere_exist():
    for page in set(PAGES) - {ROOT / "CHANGELOG.md"}:  # which names those that are gone
        named = set(re.findall(r"\bWINNOW_[A-Z]\w+", page.read_text(encoding="utf-8")))
        assert named <= SETTINGS.keys(), page.name


def test_every_field_is_documented_and_no_other():
    assert set(_first_cells("fields.md")) == {field.name for field in FIELDS}


def test_every_shipped_model_is_documented():
    text = (ROOT / "docs" / "choosing.md").read_text(encoding="utf-8")
    for name in shipped_models():
        assert f"| `{name}`" in text


def test_the_python_examples_of_the_readme_run(capsys):
    examples = re.findall(r"^```python\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    assert examples
    for example in examples:
        exec(compile(example, "README.md", "exec"), {})  # noqa: S102 - our own README
    printed = capsys.readouterr().out
    assert "Winds of up to 130 km/h" in printed
    assert "nav" in printed


def test_the_addon_line_of_the_readme_names_the_addon():
    (line,) = {line for line in _code_lines(README) if line.startswith("ADDONS")}
    (path,) = ast.literal_eval(line.partition("=")[2].strip())
    module, _, name = path.rpartition(".")
    assert getattr(importlib.import_module(module), name) is Addon


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_winnow_commands_in_the_documentation_exist(page, capsys):
    lines = _code_lines(page.read_text(encoding="utf-8"))
    command_of = re.compile(r"(?:^|\| |\$ )winnow (site [a-z]\S+|\w+)")
    named = [(found[1], line) for line in lines if (found := command_of.search(line))]
    for command in {command for command, _ in named} - {"COMMAND"}:
        with pytest.raises(SystemExit) as ended:
            winnow([*command.split(), "--help"])
        assert ended.value.code == 0, command
        known = capsys.readouterr().out
        for line in [line for of, line in named if of == command]:
            assert all(option in known for option in re.findall(r"(?<= )--[a-z-]+", line)), line


def test_crawl_commands_of_the_readme_name_the_spider_and_its_arguments():
    lines = [line for line in _code_lines(README) if line.startswith("scrapy crawl ")]
    assert lines
    for line in lines:
        words = shlex.split(line)
        assert words[2] == SiteSpider.name
        arguments = dict(words[at + 1].split("=", 1) for at, word in enumerate(words) if word == "-a")
        SiteSpider(**arguments)


def test_make_targets_named_in_the_documentation_exist():
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for page in PAGES:
        lines = [line.split() for line in _code_lines(page.read_text(encoding="utf-8"))]
        named = {words[1] for words in lines if words[:1] == ["make"]}
        assert named <= targets, page.name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_of_the_documentation_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.*)$", file.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}, target


def test_every_page_of_the_documentation_is_in_its_index():
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    for page in (ROOT / "docs").glob("**/*.md"):
        name = page.relative_to(ROOT / "docs").as_posix()
        assert name == "index.md" or f"({name}" in index, name


def test_the_page_of_the_api_is_what_the_docstrings_say():
    assert api.PAGE.read_text(encoding="utf-8") == api.page(), "make docs writes it anew"
    assert ":class:" not in api.page()


def test_every_benchmark_is_in_their_table_and_has_help(monkeypatch, capsys):
    table = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    commands = [
        ".".join(file.relative_to(ROOT / "benchmarks").with_suffix("").parts)
        for file in BENCHMARKS
        if 'if __name__ == "__main__"' in file.read_text(encoding="utf-8")
    ]
    assert set(re.findall(r"python -m benchmarks\.((?:\w+\.)+\w+)", table)) == set(commands)
    monkeypatch.syspath_prepend(str(ROOT))
    for command in commands:
        monkeypatch.setattr(sys, "argv", [command, "--help"])
        with pytest.raises(SystemExit) as ended:
            importlib.import_module(f"benchmarks.{command}").main()
        assert ended.value.code == 0
        assert "usage: " in capsys.readouterr().out
