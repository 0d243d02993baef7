"""The recipes in ``deploy/`` name what exists."""

import json
import re
import tomllib
from pathlib import Path

import pytest
from scrapy.settings import Settings, default_settings

from scrapy_winnow.config import SETTINGS, Config
from scrapy_winnow.project.site import SiteSpider

DEPLOY = Path(__file__).parents[3] / "deploy"


def _command_lines(name: str) -> list[list[str]]:
    """The lists after ``args:`` and ``command:`` that crawl."""
    lists = re.findall(r"^\s*(?:args|command): (\[.*\])$", (DEPLOY / name).read_text(), re.MULTILINE)
    return [line for line in map(json.loads, lists) if line[0] == "crawl"]


@pytest.mark.parametrize(("name", "crawls"), [("compose.yaml", 2), ("kubernetes.yaml", 1)])
def test_the_crawls_of_a_recipe_have_arguments_and_settings_that_exist(name, crawls, tmp_path):
    lines = _command_lines(name)
    assert len(lines) == crawls
    (tmp_path / "urls.txt").write_text("https://example.org/")
    for _, spider, *options in lines:
        assert spider == SiteSpider.name
        pairs = list(zip(options[::2], options[1::2], strict=True))
        assert {flag for flag, _ in pairs} <= {"-a", "-s", "-o", "-O"}
        arguments = dict(value.split("=", 1) for flag, value in pairs if flag == "-a")
        arguments["urls_file"] = str(tmp_path / Path(arguments["urls_file"]).name)
        arguments["shard"] = arguments["shard"].replace("$(JOB_COMPLETION_INDEX)", "0")
        SiteSpider(**arguments)
        assert {value.split("=")[0] for flag, value in pairs if flag == "-s"} <= {*SETTINGS, *default_settings.__all__}


def test_the_shards_of_a_recipe_are_all_there():
    shards = [re.search(r"shard=(\d)/(\d)", " ".join(line)).groups() for line in _command_lines("compose.yaml")]
    assert shards == [("0", "2"), ("1", "2")]
    text = (DEPLOY / "kubernetes.yaml").read_text()
    (completions,) = re.findall(r"completions: (\d+)", text)
    assert f"shard=$(JOB_COMPLETION_INDEX)/{completions}" in text


def test_a_folder_that_nobody_may_write_to_is_no_hindrance_to_who_needs_none(tmp_path, monkeypatch):
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = scrapy_winnow.project.settings\n")
    (tmp_path / ".scrapy").symlink_to("/proc/nowhere")  # where not even root can make one
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SCRAPY_SETTINGS_MODULE", "scrapy_winnow.project.settings")
    settings = Settings({"WINNOW_REDIS_URL": "redis://redis.example:6379/0"})
    assert Config.from_settings(settings).state_dir == Path(".scrapy/winnow")


def test_the_image_has_what_the_settings_of_the_recipes_need():
    image = (DEPLOY / "Dockerfile").read_text()
    assert image.count("[$EXTRAS]") == image.count("\nARG EXTRAS\n") == 2  # what is built, and what is installed
    (unasked,) = re.findall(r"^ARG EXTRAS=(.*)$", image, re.MULTILINE)
    (more,) = re.findall(r"--build-arg EXTRAS=(\S+)", image)
    known = tomllib.loads((DEPLOY.parent / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert {"metrics"} <= set(unasked.split(",")) < set(more.split(",")) <= set(known)
