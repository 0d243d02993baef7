"""``winnow learn`` as a service: signs of life, figures, logs, and an end once all is finished."""

import json
import signal
import subprocess
import sys

import pytest

from scrapy_winnow.commands import main
from scrapy_winnow.learning.learner import FIGURES as OF_LEARN
from scrapy_winnow.services.service import LAST_BEAT
from tests.scrapy_winnow.waiting import SECONDS, figures, until

PROGRAM = "from scrapy_winnow.commands import main; raise SystemExit(main())"


@pytest.fixture
def service(redis_url, prefix, address, tmp_path):
    """Start a command as a service; its health file is ``health``."""
    started = []

    def start(command, *arguments):
        watched = ["--health-file", tmp_path / "health", "--metrics", address, "--log-format", "json"]
        line = [sys.executable, "-W", "error", "-c", PROGRAM, command, "--redis-url", redis_url, "--prefix", prefix]
        started.append(subprocess.Popen([*line, *watched, *arguments], stderr=subprocess.PIPE, text=True))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


def health(folder) -> dict:
    return json.loads((folder / "health").read_text()) if (folder / "health").exists() else {}


def test_learn_says_that_it_lives_and_ends_when_it_is_told_to(service, address, tmp_path):
    learner = service("learn", "--interval", "0.1")
    until(lambda: health(tmp_path).get("state") == "waiting")
    found = figures(address)
    assert set(found) == {f"winnow_learn_{figure.name}" for figure in OF_LEARN} | {f"winnow_learn_{LAST_BEAT}"}
    assert found["winnow_learn_in_charge"] == 1
    learner.send_signal(signal.SIGTERM)
    log = learner.communicate(timeout=SECONDS)[1]
    assert learner.returncode == 0, log
    assert json.loads(log.splitlines()[0])["message"] == "This learner is in charge"


@pytest.mark.parametrize("command", ["learn"])
def test_what_cannot_be_watched_is_said_before_anything_is_done(command, redis_url, prefix, capsys, tmp_path):
    arguments = [command, "--redis-url", redis_url, "--prefix", prefix]
    for option, value, message in (
        ("--health-file", str(tmp_path / "absent" / "health"), "no such file"),
        ("--metrics", "9410", "must be an address to listen at"),
    ):
        assert main([*arguments, option, value]) == 2
        assert message in capsys.readouterr().err


def test_a_crawl_that_only_reads_says_that_it_lives(web, start_crawls, prefix, address, tmp_path):
    urls = web.add_articles(3)
    seen = []

    def look(path):
        if path == "/2":  # which waits for its answer as long as those before are read
            until(lambda: figures(address)["winnow_pages_read"] == 2)
            seen.append((health(tmp_path), figures(address)))

    web.on_request = look
    plan = {"urls": urls, "WINNOW_REDIS_PREFIX": prefix, "WINNOW_READ_ONLY": True, "CONCURRENT_REQUESTS": 1}
    (crawled,) = start_crawls({**plan, "WINNOW_HEALTH_FILE": f"{tmp_path}/health", "WINNOW_METRICS": address}).results()
    ((about, found),) = seen
    assert about["state"] == "crawling"
    assert found["winnow_pages_read"] == 2
    assert crawled.winnow_stats["winnow/pages/read"] == 3
    assert not (tmp_path / "health").exists()
