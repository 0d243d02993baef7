"""The commands of the recipes, run with the user, the read-only root, the environment and folders of a container."""

import json
import os
import re
import shutil
import socket
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
import yaml
from redis import Redis
from redis.exceptions import AuthenticationError, NoPermissionError

from scrapy_winnow.project.site import shard_of
from scrapy_winnow.storage.embedded import server_binary
from scrapy_winnow.storage.hosts import HostRecords
from tests.scrapy_winnow.deploy.container import USER, Container
from tests.scrapy_winnow.waiting import until

ROOT = Path(__file__).parents[3]
PASSWORD = "a1b2c3"
PAGES = 4


@pytest.fixture
def compose():
    return yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text())


def _listens(port):
    with suppress(OSError):
        socket.create_connection(("127.0.0.1", port), 10).close()
        return True
    return False


@pytest.fixture
def valkey(compose, port, tmp_path):
    """The port of the server of the Compose recipe: its own script, with its user of least rights."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "valkey-server").symlink_to(server_binary())
    shell, option, script = compose["services"]["valkey"]["entrypoint"]
    script = script.replace("$$", "$").replace("/tmp/users", f"{tmp_path}/users").rstrip()  # noqa: S108
    script += f" --port {port} --dir {tmp_path}"
    process = subprocess.Popen(
        [shell, option, script],
        env={"PATH": f"{programs}:/usr/bin:/bin", "WINNOW_PASSWORD": PASSWORD},
        stdout=subprocess.DEVNULL,
    )
    until(lambda: _listens(port))
    yield port
    process.kill()
    process.wait()


@pytest.fixture
def container(tmp_path):
    """A folder for ``/data``, and one with what the image has beside it."""
    data, work = tmp_path / "data", tmp_path / "work"
    data.mkdir()
    work.mkdir()
    shutil.copy(ROOT / "scrapy.cfg", work)
    tmp_path.chmod(0o755)
    return Container(data, work)


@pytest.fixture
def urls(web, tmp_path):
    """A site, its address in the file that the recipes read, and an item that was broken off."""
    web.add_articles(PAGES)
    web.add("/robots.txt", b"", status=404)
    return [f"{web.url}/0"]


def _crawled(container, tmp_path, urls, command, environment, items):
    (tmp_path / "data" / "urls.txt").write_text("\n".join(urls))
    (tmp_path / "data" / items).write_text('{"url": "whole"}\n{"url": "half')
    if container.is_closed:
        os.chown(tmp_path / "data" / items, USER, USER)
    settings = ["-s", "AUTOTHROTTLE_ENABLED=0", "-s", "WINNOW_REDIS_TIMEOUT=30"]
    done = container.run(["scrapy", *command, *settings], {"PYTHONUNBUFFERED": "1", **environment})
    assert done.returncode == 0, done.stderr
    lines = (tmp_path / "data" / items).read_text().splitlines()
    assert json.loads(lines[0]) == {"url": "whole"}  # and behind it what was broken off is gone
    return [json.loads(line) for line in lines[1:]], done.stderr


def test_a_pod_crawls_its_shard_with_the_least_rights(valkey, container, urls, tmp_path):
    _, job = yaml.safe_load_all((ROOT / "deploy" / "kubernetes.yaml").read_text())
    (crawl,) = job["spec"]["template"]["spec"]["containers"]
    (index,) = [number for number in range(8) if shard_of(urls, f"{number}/8")]
    command = [part.replace("$(JOB_COMPLETION_INDEX)", str(index)) for part in crawl["args"]]
    (variable,) = crawl["env"]
    secret = f"redis://winnow:{PASSWORD}@127.0.0.1:{valkey}/0"
    items, log = _crawled(container, tmp_path, urls, command, {variable["name"]: secret}, f"items-{index}.jsonl")
    assert len(items) == PAGES
    assert {item["status"] for item in items} == {"cleaned"}
    assert "NOPERM" not in log
    assert "Read-only file system" not in log
    assert {file.name for file in (tmp_path / "data").iterdir()} == {
        *("urls.txt", f"items-{index}.jsonl", f"job-{index}", f"report-{index}.html")
    }
    assert [file.name for file in (tmp_path / "work").iterdir()] == ["scrapy.cfg"]
    if container.is_closed:
        refused = container.run(["touch", str(tmp_path / "work" / "file")], {})
        assert "Read-only file system" in refused.stderr
    with Redis(port=valkey, username="winnow", password=PASSWORD) as client:
        (host,) = HostRecords(client, "winnow").all()
        assert host.pages == PAGES


def test_the_server_of_the_recipe_lets_nobody_in_but_its_user_and_the_probe(valkey, compose):
    test = compose["services"]["valkey"]["healthcheck"]["test"]
    assert test[1:] == ["valkey-cli", "--user", "probe", "--pass", "", "--no-auth-warning", "ping"]
    with Redis(port=valkey, username="probe", password="", retry=None) as probe:
        assert probe.ping()
        with pytest.raises(NoPermissionError):
            probe.get("winnow:anything")
    with Redis(port=valkey, retry=None) as nobody, pytest.raises(AuthenticationError):
        nobody.ping()
    with Redis(port=valkey, username="winnow", password=PASSWORD, retry=None) as winnow:
        with pytest.raises(NoPermissionError):
            winnow.flushall()
        with pytest.raises(NoPermissionError):
            winnow.get("other:key")


@pytest.mark.engines
def test_the_crawls_of_compose_share_their_counts(valkey, compose, container, urls, tmp_path):
    service = compose["services"]["crawl-0"]
    assert service["read_only"] is True
    pattern = re.compile(r"\$\{(\w+)(?::[?-]([^}]*))?\}")
    command = [pattern.sub(lambda found: found[2], part) for part in service["command"]]
    number = next(number for number in range(2) if shard_of(urls, f"{number}/2"))
    command = [part.replace("shard=0/2", f"shard={number}/2") for part in command]
    url = pattern.sub(PASSWORD, service["environment"]["WINNOW_REDIS_URL"])
    url = url.replace("valkey:6379", f"127.0.0.1:{valkey}")
    items, _ = _crawled(container, tmp_path, urls, command, {"WINNOW_REDIS_URL": url}, "items-0.jsonl")
    assert len(items) == PAGES
