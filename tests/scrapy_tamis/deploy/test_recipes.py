"""The recipes in ``deploy/`` name what exists, and follow the schemas of a forge, Docker and Kubernetes."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import kubernetes_validate
import pytest
import yaml
from scrapy.settings import Settings, default_settings

import tamis
from scrapy_tamis.config import SETTINGS, Config
from scrapy_tamis.project.site import SiteSpider

ROOT = Path(__file__).parents[3]
DEPLOY = ROOT / "deploy"


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
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = scrapy_tamis.project.settings\n")
    (tmp_path / ".scrapy").symlink_to("/proc/nowhere")  # where not even root can make one
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SCRAPY_SETTINGS_MODULE", "scrapy_tamis.project.settings")
    settings = Settings({"TAMIS_REDIS_URL": "redis://redis.example:6379/0"})
    assert Config.from_settings(settings).state_dir == Path(".scrapy/tamis")


def test_the_image_has_what_the_settings_of_the_recipes_need():
    image = (DEPLOY / "Dockerfile").read_text()
    assert image.count("[$EXTRAS]") == image.count("\nARG EXTRAS\n") == 2  # what is built, and what is installed
    (unasked,) = re.findall(r"^ARG EXTRAS=(.*)$", image, re.MULTILINE)
    (more,) = re.findall(r"--build-arg EXTRAS=(\S+)", image)
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert {"metrics"} <= set(unasked.split(",")) < set(more.split(",")) <= set(known)


def test_the_image_is_named_by_the_version_of_the_package():
    for name in ("Dockerfile", "kubernetes.yaml"):
        assert set(re.findall(r"tamis:(\d\S+)", (DEPLOY / name).read_text())) == {tamis.__version__}


WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.mark.parametrize(
    ("schema", "files"), [("github-workflows", WORKFLOWS), ("compose-spec", [DEPLOY / "compose.yaml"])]
)
def test_a_configuration_follows_its_schema(schema, files):
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_manifests_follow_the_interface_of_kubernetes():
    manifests = list(yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text()))
    assert [manifest["kind"] for manifest in manifests] == ["PersistentVolumeClaim", "Job"]
    for manifest in manifests:
        kubernetes_validate.validate(manifest, kubernetes_validate.latest_version(), strict=True)
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate({**manifests[1], "spec": {"completions": "eight"}}, "1.33", strict=True)


def test_a_job_of_kubernetes_runs_as_the_user_of_the_image_with_the_volumes_that_it_mounts():
    _, job = yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text())
    pod = job["spec"]["template"]["spec"]
    assert pod["securityContext"]["fsGroup"] == pod["securityContext"]["runAsUser"]
    (container,) = pod["containers"]
    mounted = {mount["name"] for mount in container["volumeMounts"]}
    assert mounted == {volume["name"] for volume in pod["volumes"]}
    assert "USER 10001" in (DEPLOY / "Dockerfile").read_text()


def test_what_the_image_copies_is_let_through_by_the_list_of_what_to_leave_out():
    words = [
        line.split()[1:-1] for line in (DEPLOY / "Dockerfile").read_text().splitlines() if line.startswith("COPY ")
    ]
    let_through = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert {name for names in words for name in names} == let_through
    assert all((ROOT / name).exists() for name in let_through)
