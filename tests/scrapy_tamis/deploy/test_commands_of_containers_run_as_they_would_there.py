"""The commands of the recipes, run with the user, the read-only root, the environment and folders of a container."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
import yaml
from redis import Redis
from redis.exceptions import AuthenticationError, NoPermissionError

from scrapy_tamis.project.site import shard_of
from scrapy_tamis.storage.embedded import server_binary
from scrapy_tamis.storage.hosts import HostRecords
from tests.scrapy_tamis.waiting import SECONDS, until

ROOT = Path(__file__).parents[3]
PASSWORD = "a1b2c3"
PAGES = 4
USER = 10001
DATA, TEMPORARY = "/mnt", "/media"
"""Where ``/data`` and ``/tmp`` of the container are here: the tests themselves live in ``/tmp``."""

ENTER = f"""
set -e
mount --bind "$DATA_FOLDER" {DATA}
mount -t tmpfs -o mode=1777 none {TEMPORARY}
mount -o remount,bind,ro /
exec setpriv --reuid={USER} --regid={USER} --clear-groups --no-new-privs \\
    --inh-caps=-all,+dac_read_search --ambient-caps=-all,+dac_read_search --bounding-set=-all,+dac_read_search "$@"
"""
"""The user may read what is root's, as in an image, and write nothing but the two folders."""


def can_be_entered() -> bool:
    """Whether this machine lets tests have a root and a user of their own: Linux, as root."""
    if os.geteuid() != 0 or not all(map(shutil.which, ("unshare", "setpriv"))):
        return False
    tried = subprocess.run(["unshare", "--mount", "mount", "-t", "tmpfs", "none", DATA], check=False)
    return tried.returncode == 0


class Container:
    """A place to run the commands of an image in.

    Args:
        data: folder of this machine that is ``/data``.
        work: folder that the commands begin in; they may not write there.
    """

    def __init__(self, data: Path, work: Path) -> None:
        self.is_closed = can_be_entered()
        self._data = data
        self._work = work
        if self.is_closed:
            os.chown(data, USER, USER)

    @property
    def data(self) -> str:
        """Where ``/data`` is for the commands."""
        return DATA if self.is_closed else str(self._data)

    def run(self, command: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
        """Run a command of the image with nothing but this environment."""
        programs = str(Path(sys.executable).parent)
        command = [part.replace("/data", self.data) for part in command]
        if self.is_closed:
            command = [part.replace("=/tmp/", f"={TEMPORARY}/") for part in command]
        environment = {"PATH": f"{programs}:/usr/bin:/bin", "HOME": "/nonexistent", **environment}
        if self.is_closed:
            command = ["unshare", "--mount", "--propagation", "private", "sh", "-c", ENTER, "sh", *command]
            environment |= {"DATA_FOLDER": str(self._data), "TMPDIR": TEMPORARY}
        return subprocess.run(
            command, cwd=self._work, env=environment, capture_output=True, text=True, check=False, timeout=SECONDS
        )


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
        env={"PATH": f"{programs}:/usr/bin:/bin", "TAMIS_PASSWORD": PASSWORD},
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
    settings = ["-s", "AUTOTHROTTLE_ENABLED=0", "-s", "TAMIS_REDIS_TIMEOUT=60"]
    done = container.run([*command, *settings], {"PYTHONUNBUFFERED": "1", **environment})
    assert done.returncode == 0, done.stderr
    lines = (tmp_path / "data" / items).read_text().splitlines()
    assert json.loads(lines[0]) == {"url": "whole"}  # and behind it what was broken off is gone
    return [json.loads(line) for line in lines[1:]], done.stderr


def test_a_pod_crawls_its_shard_with_the_least_rights(valkey, container, urls, tmp_path):
    _, job = yaml.safe_load_all((ROOT / "deploy" / "kubernetes.yaml").read_text())
    (crawl,) = job["spec"]["template"]["spec"]["containers"]
    (index,) = [number for number in range(8) if shard_of(urls, f"{number}/8")]
    command = [part.replace("$(JOB_COMPLETION_INDEX)", str(index)) for part in crawl["command"] + crawl["args"]]
    (variable,) = crawl["env"]
    secret = f"redis://tamis:{PASSWORD}@127.0.0.1:{valkey}/0"
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
    with Redis(port=valkey, username="tamis", password=PASSWORD) as client:
        (host,) = HostRecords(client, "tamis").all()
        assert host.pages == PAGES


@pytest.mark.parametrize(
    ("ends", "code"),
    [("exit 0", 0), ("exit 1", 1), ("kill -9 $$", 137), ("kill -TERM $PPID; while :; do sleep 0.1; done", 143)],
)
def test_a_pod_that_is_told_to_end_fails_so_that_its_shard_is_gone_on_with(tmp_path, ends, code):
    _, job = yaml.safe_load_all((ROOT / "deploy" / "kubernetes.yaml").read_text())
    (crawl,) = job["spec"]["template"]["spec"]["containers"]
    scrapy = tmp_path / "scrapy"
    scrapy.write_text(f"#!/bin/sh\ntrap 'echo ended; exit 0' TERM\necho $# $1\n{ends}\n")
    scrapy.chmod(0o755)
    done = subprocess.run(
        [*crawl["command"], "crawl", "a b"],
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    assert done.returncode == code
    assert done.stdout.split() == ["2", "crawl", *["ended"] * (code == 143)]


def test_the_server_of_the_recipe_lets_nobody_in_but_its_user_and_the_probe(valkey, compose):
    test = compose["services"]["valkey"]["healthcheck"]["test"]
    assert test[1:] == ["valkey-cli", "--user", "probe", "--pass", "", "--no-auth-warning", "ping"]
    with Redis(port=valkey, username="probe", password="", retry=None) as probe:
        assert probe.ping()
        with pytest.raises(NoPermissionError):
            probe.get("tamis:anything")
    with Redis(port=valkey, retry=None) as nobody, pytest.raises(AuthenticationError):
        nobody.ping()
    with Redis(port=valkey, username="tamis", password=PASSWORD, retry=None) as tamis:
        with pytest.raises(NoPermissionError):
            tamis.flushall()
        with pytest.raises(NoPermissionError):
            tamis.get("other:key")


@pytest.mark.engines
def test_the_crawls_of_compose_share_their_counts(valkey, compose, container, urls, tmp_path):
    service = compose["services"]["crawl-0"]
    assert service["read_only"] is True
    pattern = re.compile(r"\$\{(\w+)(?::[?-]([^}]*))?\}")
    command = ["scrapy", *(pattern.sub(lambda found: found[2], part) for part in service["command"])]
    number = next(number for number in range(2) if shard_of(urls, f"{number}/2"))
    command = [part.replace("shard=0/2", f"shard={number}/2") for part in command]
    url = pattern.sub(PASSWORD, service["environment"]["TAMIS_REDIS_URL"])
    url = url.replace("valkey:6379", f"127.0.0.1:{valkey}")
    items, _ = _crawled(container, tmp_path, urls, command, {"TAMIS_REDIS_URL": url}, "items-0.jsonl")
    assert len(items) == PAGES
