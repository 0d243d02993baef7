"""``scrapy winnow ...`` does what ``winnow ...`` does, and in a project it finds the project's server."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from scrapy_winnow.commands import main
from scrapy_winnow.storage.connection import Connection
from scrapy_winnow.storage.counts import NodeCounts
from tests.scrapy_winnow.waiting import SECONDS
from winnow.fingerprints import FINGERPRINT_VERSION

SCRAPY_WINNOW = (sys.executable, "-W", "error", "-m", "scrapy", "winnow")

PAGE = "<html><body><h1>Storm warning</h1><p>The ferries stay in the harbour until Sunday noon.</p></body></html>"


def _ran(*command: object, folder: Path) -> tuple[int, str, str]:
    done = subprocess.run(
        [str(part) for part in command], cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def project(tmp_path, redis_url, prefix) -> Path:
    """A project whose settings name the tests' server."""
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = its_settings\n")
    (tmp_path / "its_settings.py").write_text(f"WINNOW_REDIS_URL = {redis_url!r}\nWINNOW_REDIS_PREFIX = {prefix!r}\n")
    return tmp_path


def _count_a_page(redis_url: str, prefix: str, host: str) -> None:
    async def run() -> None:
        connection = Connection(redis_url, timeout=10)
        options = {"budget": 1000, "max_pages": 1000, "ttl": 1000, "settle_after": 32}
        counts = NodeCounts(connection, prefix=prefix, version=FINGERPRINT_VERSION, **options)
        await counts.count(host, b"12345678", np.arange(1, 13, dtype=np.uint64), masses=np.full(12, 20, np.uint8))
        await connection.close()

    asyncio.run(run())


def test_its_help_is_that_of_winnow(tmp_path, capsys):
    code, written, _ = _ran(*SCRAPY_WINNOW, "--help", folder=tmp_path)
    with pytest.raises(SystemExit):
        main(["--help"])
    assert code == 0
    assert written.replace("usage: scrapy winnow", "usage: winnow") == capsys.readouterr().out
    assert "usage: scrapy winnow hosts" in _ran(*SCRAPY_WINNOW, "hosts", "--help", folder=tmp_path)[1]


def test_it_cleans_a_page_outside_of_projects(tmp_path):
    (tmp_path / "page.html").write_text(PAGE)
    code, written, _ = _ran(*SCRAPY_WINNOW, "clean", "page.html", "--format", "json", folder=tmp_path)
    assert code == 0
    assert json.loads(written)["text"].startswith("Storm warning")


def test_its_exit_codes_are_those_of_winnow(tmp_path):
    assert _ran(*SCRAPY_WINNOW, "clean", "missing.html", folder=tmp_path)[0] == 1
    code, _, error = _ran(*SCRAPY_WINNOW, "clean", "page.html", "--no-such-option", folder=tmp_path)
    assert code == 2
    assert "unrecognized arguments: --no-such-option" in error


def test_the_server_is_that_of_the_project_around(project, redis_url, prefix):
    _count_a_page(redis_url, prefix, "news.example")
    below = project / "some" / "folder"
    below.mkdir(parents=True)
    code, written, error = _ran(*SCRAPY_WINNOW, "hosts", "--json", folder=below)
    assert code == 0, error
    assert json.loads(written)["host"] == "news.example"


def test_what_is_wrong_with_the_settings_of_a_project_is_said(project):
    (project / "its_settings.py").write_text("WINNOW_REDIS_PREFIX = ''\n")
    assert _ran(*SCRAPY_WINNOW, "hosts", folder=project) == (
        2,
        "",
        "winnow: the settings of the project cannot be read: WINNOW_REDIS_PREFIX must not be empty\n",
    )
