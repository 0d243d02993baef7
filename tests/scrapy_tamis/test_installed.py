"""The wheel, in an environment and a project of its own whose packages are called like this repository's folders."""

import json
import os
import re
import subprocess
import sys
import sysconfig
import venv
import zipfile
from functools import partial
from importlib.metadata import files, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import tamis
from hatch_build import find_compiler
from tests.scrapy_tamis.waiting import SECONDS

ROOT = Path(__file__).parents[2]

SPIDER = """
import detector
import scrapy
import scrapy_tamis
import tamis


class StorySpider(scrapy.Spider):
    name = "stories"
    start_urls = %r

    def parse(self, response):
        yield {
            "url": response.url,
            "html": response.text,
            "desk": detector.DESK,
            "installed": [tamis.__file__, scrapy_tamis.__file__],
        }
"""


def _run(*command: str | Path, folder: Path, **variables: str) -> str:
    """Run a command as a user would, and return its standard output."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | variables
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """The wheel, built from the source distribution, without the time that optimising takes."""
    folder = tmp_path_factory.mktemp("dist")
    compiler = folder / "cc"
    compiler.write_text(f'#!/bin/sh\nexec {find_compiler()} "$@" -O0\n')
    compiler.chmod(0o755)
    variables = {"CC": str(compiler)} if find_compiler() else {}  # ziglang's is found without
    _run(sys.executable, "-m", "hatchling", "build", "--target", "sdist", "--directory", folder, folder=ROOT)
    (source,) = folder.glob("*.tar.gz")
    options = ["--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--wheel-dir", folder]
    _run(sys.executable, "-m", "pip", "wheel", *options, source, folder=folder, **variables)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def environment(wheel, tmp_path_factory) -> Path:
    """Scripts of an environment with the wheel; what the wheel needs is that of the environment of the tests."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder)
    python = folder / "bin" / "python"
    options = ["--quiet", "--no-index", "--no-deps", "--no-compile"]
    _run(sys.executable, "-m", "pip", "--python", python, "install", *options, wheel, folder=folder)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
    # The path alone: .pth files there, such as that of this repository's editable install, are not read.
    (packages / "needed.pth").write_text(sysconfig.get_path("purelib"))
    return folder / "bin"


def _without_extras(package: str) -> set[str]:
    """Names of the distributions that pip installs for a package without extras, itself included."""
    needed = {package}
    for line in requires(package) or ():
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            needed |= _without_extras(requirement.name)
    return needed


@pytest.fixture(scope="module")
def library(wheel, tmp_path_factory) -> Path:
    """Scripts of an environment with what ``pip install tamis`` brings: the wheel, and links to what it needs."""
    folder = tmp_path_factory.mktemp("library")
    venv.create(folder)
    options = ["--quiet", "--no-index", "--no-deps", "--no-compile"]
    _run(sys.executable, "-m", "pip", "--python", folder / "bin/python", "install", *options, wheel, folder=folder)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
    for name in _without_extras("tamis") - {"tamis"}:
        for top in {Path(file.parts[0]) for file in files(name) or () if file.parts[0] not in {"..", "__pycache__"}}:
            (packages / top).symlink_to(Path(sysconfig.get_path("purelib")) / top)
    return folder / "bin"


def test_the_wheel_has_three_packages_and_nothing_else_at_the_top(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    distribution = "-".join(wheel.name.split("-")[:2]) + ".dist-info"
    packages = {"tamis", "tamis_papers", "scrapy_tamis"}
    assert {name.split("/")[0] for name in names} == {*packages, distribution}
    assert {*(f"{name}/py.typed" for name in packages), f"{distribution}/licenses/LICENSE"} <= set(names)
    for kind in (".npz", ".lua"):
        here = [path for top in ("detector", "crawler") for path in (ROOT / top).rglob(f"*{kind}")]
        assert sum(name.endswith(kind) for name in names) == len(here)


def test_without_extras_there_are_ten_packages_and_the_commands_for_pages_and_files(library, tmp_path):
    assert len(_without_extras("tamis")) <= 10
    story = "Winds of 130 km/h are expected tonight."
    (tmp_path / "storm.html").write_text(f"<title>Storm</title><main><p>{story}</main>")
    run = partial(_run, library / "tamis", folder=tmp_path)
    assert run("clean", "storm.html") == f"{story}\n"
    (tmp_path / "items.jsonl").write_text(run("clean", "--format", "json", "--url", "https://a.example/", "storm.html"))
    assert '"duplicate_of": null' in run("dedup", "items.jsonl")
    run("inspect", "storm.html", "-o", "inspected.html")
    assert story in (tmp_path / "inspected.html").read_text()
    assert "all pages" in run("compare", "storm.html", "--terminal")
    program = "import tamis, tamis.compat.trafilatura; print(tamis.__version__, tamis.clean('<p>One. Two.').text)"
    assert _run(library / "python", "-c", program, folder=tmp_path) == f"{tamis.__version__} One. Two.\n"


@pytest.mark.parametrize(
    ("arguments", "package", "extra"),
    [
        (["tamis", "hosts", "--redis-url", "redis://127.0.0.1:1"], "redis", "scrapy"),
        (["tamis", "warc", "pages.warc.gz", "-o", "out"], "pyarrow", "archives"),
        (["tamis", "train", ".", "-o", "model.npz"], "sklearn", "train"),
        (["tamis", "--print-completion", "bash"], "shtab", "completion"),
    ],
)
def test_what_needs_an_extra_says_which_in_its_last_line(library, tmp_path, arguments, package, extra):
    command = [library / arguments[0], *arguments[1:]]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode != 0
    assert done.stderr.splitlines()[-1].endswith(f"{package} is not installed: pip install 'tamis[{extra}]'")


def test_the_core_has_no_format_that_other_pythons_of_its_tag_read_otherwise():
    sources = [file.read_text() for file in (ROOT / "detector" / "tamis" / "core" / "source").glob("*.c")]
    call = re.compile(r'(?:ParseTuple|BuildValue|CallFunction|CallMethod)\([^;"]*"([^"]*)"')
    formats = {found for source in sources for found in call.findall(source)}
    assert len(formats) > 20
    # Compiled by Python 3.13, a call with one is a SystemError in 3.11 and 3.12.
    assert not [each for each in formats if "#" in each]


def test_a_project_called_crawler_with_a_package_called_detector_crawls_with_cleaning_on(
    forks, environment, web, tmp_path
):
    assert forks.scrapy("startproject", "crawler", folder=tmp_path).returncode == 0
    project = tmp_path / "crawler"
    (project / "crawler" / "spiders" / "stories.py").write_text(SPIDER % web.add_articles(4))
    (project / "detector").mkdir()
    (project / "detector" / "__init__.py").write_text("DESK = 'foreign'\n")
    with (project / "crawler" / "settings.py").open("a") as settings:
        settings.write('ADDONS = {"scrapy_tamis.Addon": 500}\nDOWNLOAD_DELAY = 0\n')

    scrapy = [environment / "python", "-W", "error", "-m", "scrapy"]
    _run(*scrapy, "crawl", "stories", "-O", "items.jsonl", folder=project)

    items = [json.loads(line) for line in (project / "items.jsonl").read_text().splitlines()]
    assert len(items) == 4
    for item in items:
        assert item["desk"] == "foreign"
        assert all(Path(file).is_relative_to(environment.parent) for file in item["installed"])
        assert (item["status"], item["title"]) == ("cleaned", item["text"].splitlines()[0])
        assert "Front page" in item["html"]
        assert "Front page" not in item["text"]

    host = json.loads(_run(environment / "tamis", "hosts", "--json", folder=project / "crawler"))
    assert (host["host"], host["pages"]) == (web.host, 4)
