"""The scrapyd recipe of ``deploy/README.md``, its commands run as they stand, with a real scrapyd."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from urllib.parse import urlencode

import pytest

from benchmarks.shared.servers import ReservedPort
from tests.scrapy_tamis.waiting import SECONDS

pytestmark = pytest.mark.engines

ROOT = Path(__file__).parents[3]
PROGRAMS = Path(sys.prefix, "bin")


def _recipe() -> list[str]:
    """The commands after those that make the environment, which the tests have."""
    text = (ROOT / "deploy" / "README.md").read_text().partition("## scrapyd\n")[2]
    lines = re.search(r"```sh\n(.*?)```", text, re.DOTALL).group(1).splitlines()
    assert lines[0].startswith("python3 -m venv")
    assert lines[1].startswith("scrapyd/bin/pip install")
    return lines[2:]


class Machine:
    """A folder in which scrapyd runs as the recipe starts it, on a port of its own."""

    def __init__(self, folder: Path, first_url: str) -> None:
        self.folder = folder / "scrapyd"
        (self.folder / "bin").mkdir(parents=True)
        (self.folder / "bin" / "scrapyd").symlink_to(PROGRAMS / "scrapyd")
        (folder / "deploy").symlink_to(ROOT / "deploy")
        self._reserved = ReservedPort()
        self.port = self._reserved.number
        recipe = "\n".join(_recipe()).replace("https://example.org/", first_url).replace("6800", str(self.port))
        quick = [
            f"sed -i 's/6800/{self.port}/; s/to_keep = 20/to_keep = 1/; s/interval = 1/interval = 0.1/' scrapy.cfg",
            "echo AUTOTHROTTLE_ENABLED = False >> crawl_settings.py",
        ]
        recipe = recipe.replace("cd scrapyd", "\n".join(["cd scrapyd", *quick]))
        self.process = subprocess.Popen(
            ["bash", "-e", "-c", f"{recipe}\nwait"],
            cwd=folder,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def ask(self, service: str, **fields: str) -> dict:
        data = urlencode(fields).encode() if fields else None
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/{service}", data, timeout=SECONDS) as answer:
            return json.load(answer)

    def finished(self, job: str | None = None) -> str:
        """Wait for a job, or for the first one, and return its name."""
        deadline = time.monotonic() + SECONDS
        while True:
            try:
                jobs = [found["id"] for found in self.ask("listjobs.json")["finished"]]
            except OSError:
                jobs = []
            if job in jobs or (job is None and jobs):
                return job or jobs[0]
            assert time.monotonic() < deadline, (self.folder / "scrapyd.log").read_text()
            time.sleep(0.1)

    def items(self, job: str) -> list[dict]:
        (file,) = self.folder.rglob(f"*{job}.jsonl")
        return [json.loads(line) for line in file.read_text().splitlines()]

    def stop(self) -> None:
        os.killpg(self.process.pid, signal.SIGTERM)
        self.process.communicate(timeout=SECONDS)
        self._reserved.close()


@pytest.fixture(scope="module")
def machine(tmp_path_factory, shared_web):
    shared_web.add_articles(12)
    machine = Machine(tmp_path_factory.mktemp("machine"), f"{shared_web.url}/0")
    yield machine
    machine.stop()


def test_a_job_is_cleaned_by_the_recipe_and_the_next_one_goes_on_with_its_counts(machine, shared_web):
    first = machine.finished()
    items = machine.items(first)
    assert {item["status"] for item in items} == {"cleaned"}
    assert len(items) == 12
    assert not any("Front page" in item["text"] for item in items)

    second = machine.ask("schedule.json", project="tamis", spider="site", url=f"{shared_web.url}/5", pages="2")
    again = machine.items(machine.finished(second["jobid"]))
    assert [(item["evidence_pages"], item["label_source"]) for item in again] == [(12, "site")] * 2
    assert machine.items(first) == items  # although jobs_to_keep is 1


def test_a_project_sent_as_an_egg_is_cleaned(machine, shared_web, tmp_path):
    package = tmp_path / "news"
    package.mkdir()
    (tmp_path / "scrapy.cfg").write_text(
        f"[settings]\ndefault = news.settings\n[deploy]\nurl = http://127.0.0.1:{machine.port}/\nproject = news\n"
    )
    (package / "__init__.py").touch()
    (package / "settings.py").write_text(
        'SPIDER_MODULES = ["news.spiders"]\nADDONS = {"scrapy_tamis.Addon": 500}\n'
        'FEEDS = {"items/%(_job)s.jsonl": {"format": "jsonlines"}}\n'
    )
    (package / "spiders.py").write_text(
        "import scrapy\n\n\nclass Stories(scrapy.Spider):\n    name = 'stories'\n"
        f"    start_urls = ['{shared_web.url}/3']\n\n    def parse(self, response):\n"
        "        yield {'url': response.url, 'html': response.text}\n"
    )
    sent = subprocess.run([PROGRAMS / "scrapyd-deploy"], cwd=tmp_path, check=False, capture_output=True, text=True)
    assert '"status": "ok"' in sent.stdout, sent.stdout + sent.stderr
    job = machine.ask("schedule.json", project="news", spider="stories")["jobid"]
    (item,) = machine.items(machine.finished(job))
    # It runs in the folder of the recipe's own project, and so with its private Valkey.
    assert (item["status"], item["evidence_pages"]) == ("cleaned", 12)
