"""The documentation says what the code does: names, tables, commands, links and examples."""

import ast
import functools
import importlib
import inspect
import itertools
import json
import os
import re
import shlex
import subprocess
import sys
import textwrap
import threading
import tomllib
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from scrapy.settings import Settings, default_settings

from docs.reference import api, tables
from scrapy_tamis.commands import make_parser
from scrapy_tamis.config import SETTINGS, Config
from scrapy_tamis.fields import FIELDS
from scrapy_tamis.project.site import SiteSpider
from tamis.models import shipped_models
from tamis.rules import Rules

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("[!.]*/README.md")])
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]
BENCHMARKS = sorted((ROOT / "benchmarks").rglob("*.py"))


def _code(page):
    """The code of a page: its language, its text without indentation, and whether it is to be run."""
    text = page.read_text(encoding="utf-8")
    fence = re.compile(r"^(<!-- not run: .*-->\n)?( *)```(\w*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
    fenced = [(found[3], textwrap.dedent(found[4]), not found[1]) for found in fence.finditer(text)]
    blocks = re.findall(r"(?:^|(?<=\n))\n((?: {4}\S.*\n(?: {5,}.*\n)*)+)", fence.sub("", text))
    return [*fenced, *(("sh", textwrap.dedent(block), True) for block in blocks)]


def _commands(page):
    """The command lines of a page, each as its words; what a line pipes into another is a line of its own."""
    for language, code, _ in _code(page):
        if language in {"", "sh", "console"}:
            for line in re.sub(r"\\\n", " ", code).splitlines():
                lexer = shlex.shlex(line.removeprefix("$ "), posix=True, punctuation_chars="|&;<>")
                lexer.whitespace_split = True
                try:
                    words = list(lexer)
                except ValueError:  # the output of a command
                    continue
                for is_end, command in itertools.groupby(words, lambda word: set(word) <= set("|&;")):
                    if not is_end:
                        yield line, list(itertools.takewhile(lambda word: set(word) - set("<>"), command))


@pytest.mark.parametrize("page", tables.PAGES, ids=lambda page: page.name)
def test_the_tables_of_settings_stats_and_options_are_those_of_the_code(page):
    written = page.read_text(encoding="utf-8")
    assert tables.PAGES[page](written) == written, "make docs writes them"


def test_settings_named_anywhere_exist():
    for page in set(PAGES) - {ROOT / "CHANGELOG.md"}:  # which names those that are gone
        named = set(re.findall(r"\bTAMIS_[A-Z]\w+", page.read_text(encoding="utf-8")))
        assert named <= SETTINGS.keys(), page.name


def test_every_field_is_documented_and_no_other():
    text = (ROOT / "docs" / "reference" / "fields.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE)) == {field.name for field in FIELDS}


def test_every_shipped_model_is_documented():
    text = (ROOT / "docs" / "guides" / "training.md").read_text(encoding="utf-8")
    for name in shipped_models():
        assert f"| `{name}`" in text


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_the_code_of_the_documentation_runs(page, tmp_path, monkeypatch, capsys):
    """Python in its order, one namespace a page, in a folder with pages; settings are read as a crawl does."""
    (tmp_path / "page.html").write_text("<nav><a href='/'>Home</a></nav><p>Winds of up to 130 km/h are expected.</p>")
    (tmp_path / "items.jsonl").write_text('{"url": "https://example.org/1", "html": "<p>Winds", "text": "Winds"}\n')
    (tmp_path / "mirror" / "example.org").mkdir(parents=True)
    for number in range(12):
        story = f"<p>Menu of the site</p><p>Story {number} is told on this page and on no other one.</p>"
        (tmp_path / "mirror" / "example.org" / f"{number}.html").write_text(story)
    (tmp_path / "rules.toml").write_text('[[rules]]\ndrop = ".related"\n')
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "example"}
    for language, code, is_run in _code(page):
        if language == "python" and page != api.PAGE:  # whose examples are doctests
            compiled = compile(code, page.name, "exec")
            for module in re.findall(r"^(?:from|import) (tamis[\w.]*|scrapy_tamis[\w.]*)", code, re.MULTILINE):
                importlib.import_module(module)
            if is_run:
                exec(compiled, names)  # noqa: S102 - our own pages
            assigned = set(re.findall(r"^(TAMIS_\w+) = ", code, re.MULTILINE))
            Config.from_settings(Settings({name: names[name] for name in assigned}))
        elif language == "toml":
            Rules(tomllib.loads(code)["rules"])
        elif language == "json":
            json.loads(code)
        else:
            assert language in {"", "sh", "console", "python"}, language


def test_the_commands_of_the_documentation_are_understood(capsys):
    parser = make_parser()
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    seen = set()
    for page in set(PAGES) - {ROOT / "CHANGELOG.md"}:
        for line, words in _commands(page):
            match words:
                case ["tamis", *arguments] if arguments != ["COMMAND", "--help"]:
                    try:
                        parser.parse_args(arguments)
                    except SystemExit as ended:  # --help, --list
                        assert ended.code == 0, line  # noqa: PT017
                case ["scrapy", "crawl", "site", *arguments]:
                    named = [word.split("=", 1) for at, word in enumerate(arguments) if arguments[at - 1] == "-a"]
                    assert dict(named).keys() <= inspect.signature(SiteSpider).parameters.keys(), line
                    known = [word.partition("=")[0] for at, word in enumerate(arguments) if arguments[at - 1] == "-s"]
                    assert all(name in SETTINGS or hasattr(default_settings, name) for name in known), line
                case ["make", target, *_]:
                    assert target in targets, line
                case ["pip" | "bin/pip", "install", *packages]:
                    chosen = re.findall(r"tamis\[([^]]*)\]", " ".join(packages))
                    assert {extra for names in chosen for extra in names.split(",")} <= extras.keys(), line
                case _:
                    continue
            seen.add(words[0])
    assert seen == {"tamis", "scrapy", "make", "pip"}
    capsys.readouterr()


def _assert_is_there(page, target):
    """A link of a page leads to a file, and to a heading in it."""
    path, _, anchor = target.partition("#")
    file = (page.parent / path).resolve() if path else page
    assert file.exists(), target
    headings = re.findall(r"^#+ (.*)$", file.read_text(encoding="utf-8"), re.MULTILINE) if anchor else []
    anchors = (re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings)
    assert not anchor or anchor in anchors, target


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_links_of_the_documentation_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if not re.match(r"[a-z]+:", target):
            _assert_is_there(page, target)


def test_the_links_of_the_readme_work_on_pypi(tmp_path):
    (tmp_path / "README.md").write_bytes((ROOT / "README.md").read_bytes())
    github = {"SERVER_URL": "https://forge.example", "REPOSITORY": "owner/tamis", "REF_NAME": "v1.0"}
    subprocess.run(
        [sys.executable, ROOT / ".ci" / "absolute-links", "README.md"],
        check=True,
        cwd=tmp_path,
        env={f"GITHUB_{name}": value for name, value in github.items()},
    )
    written = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert "](https://forge.example/owner/tamis/blob/v1.0/docs/start.md)" in written
    assert "](https://forge.example/owner/tamis/raw/v1.0/docs/images/counted.gif)" in written
    assert all(re.match("https?:", target) for target in re.findall(r"\]\(([^)\s]+)\)", written))


def test_the_figures_of_the_readme_are_those_of_the_pages_it_names():
    named = 0
    for paragraph in (ROOT / "README.md").read_text(encoding="utf-8").split("\n\n"):
        for target in re.findall(r"\]\((docs/figures/[\w-]+\.md)", paragraph):
            page = (ROOT / target).read_text(encoding="utf-8")
            known = re.findall(r"(?<![\d.])\d*\.\d+", page)
            for figure in re.findall(r"(?<![\d.])\d*\.\d+", paragraph.partition("](")[0]):
                digits = len(figure.partition(".")[2])
                assert any(round(float(one), digits) == float(figure) for one in known), (target, figure)
                named += 1
    assert named >= 5


def test_docstrings_name_pages_of_the_documentation_that_exist_and_messages_name_none():
    for file in [*ROOT.glob("crawler/**/*.py"), *ROOT.glob("detector/**/*.py")]:
        tree = ast.parse(file.read_text(encoding="utf-8"))
        docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                for target in re.findall(r"\bdocs/[\w/-]+\.md(?:#[\w-]+)?", node.value):
                    assert id(node) in docstrings, f"{file}: {target} is not there where a wheel was installed"
                    _assert_is_there(ROOT / "README.md", target)


def test_every_page_of_the_documentation_is_in_its_index():
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    for page in (ROOT / "docs").glob("**/*.md"):
        name = page.relative_to(ROOT / "docs").as_posix()
        assert name == "index.md" or f"({name}" in index, name


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The documentation as a site, built without a warning."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1", "PYTHONWARNINGS": "ignore"}
    built = subprocess.run(command, check=False, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    return folder


def test_the_site_is_accessible_and_asks_for_nothing_elsewhere(site, tab):
    asked = []
    tab.on("request", lambda request: asked.append(request.url))
    for page in ("start", "reference/settings", "deploy/index", "architecture"):
        tab.goto((site / f"{page}.html").as_uri())
        found = Axe().run(tab, options={"resultTypes": ["violations"]}).response["violations"]
        assert [each for each in found if each["impact"] in {"serious", "critical"}] == [], page
    assert {url for url in asked if not url.startswith(("file:", "data:", "blob:"))} == set()


def test_the_search_of_the_site_leads_to_a_setting(site, tab):
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            """Keep quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=site)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        tab.goto(f"http://127.0.0.1:{server.server_port}/index.html")
        tab.type(".md-search__input", "TAMIS_REDIS_RETRY_INTERVAL", delay=20)
        tab.wait_for_selector('.md-search-result a[href*="settings.html#tamis_redis_retry_interval"]', state="attached")
        server.shutdown()


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
