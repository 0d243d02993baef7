"""A crawl's stats, asked for over HTTP while it runs."""

import json
import re
import socket
import urllib.request
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from scrapy_winnow.components.metrics import LAST_BEAT, METRICS
from scrapy_winnow.learning import learner
from scrapy_winnow.services.service import LAST_BEAT as SERVICE_BEAT
from scrapy_winnow.services.service import Figure
from tests.scrapy_winnow.waiting import SECONDS, until

ROOT = Path(__file__).parents[3]


def test_a_running_crawl_answers_prometheus_with_all_its_stats(crawl, web, port):
    answers = []

    def figures() -> dict:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=SECONDS) as answer:
            text = answer.read().decode()
        return {family.name: family.samples for family in text_string_to_metric_families(text)}

    def ask(path: str) -> None:
        if path == "/5":  # which waits for its answer as long as those before are counted
            until(lambda: figures()["winnow_pages_counted"][0].value == 5)
            answers.append(figures())

    web.on_request = ask
    crawled = crawl(urls=web.add_articles(6), WINNOW_METRICS=f"127.0.0.1:{port}", CONCURRENT_REQUESTS=1)
    (found,) = answers
    assert set(found) == {*METRICS.values(), LAST_BEAT}
    (sample,) = found["winnow_pages_counted"]
    assert sample.value == 5
    assert list(sample.labels) == ["spider"]
    (beat,) = found[LAST_BEAT]
    assert beat.value > 1.7e9
    assert len(crawled.items) == 6


def test_a_port_that_is_taken_is_said_and_harms_nothing(crawl, web):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        crawled = crawl(urls=web.add_articles(1), WINNOW_METRICS=address)
    assert len(crawled.items) == 1
    assert f"No metrics are served at {address}" in crawled.log


def test_the_board_of_grafana_asks_for_what_there_is():
    board = json.loads((ROOT / "deploy" / "grafana.json").read_text())
    expressions = [target["expr"] for panel in board["panels"] for target in panel.get("targets", ())]
    asked = {name for expression in expressions for name in _names(expression)}
    services = {f"winnow_{name}": figures for name, figures in (("learn", learner.FIGURES),)}
    of_services = {
        f"{service}_{figure.name}{'_total' if figure.counts else ''}"
        for service, figures in services.items()
        for figure in (*figures, Figure(SERVICE_BEAT, "", counts=False))
    }
    assert asked <= {f"{name}_total" for name in METRICS.values()} | {LAST_BEAT} | of_services
    assert of_services <= asked
    assert len(asked - of_services) > 15


def _names(expression: str) -> list[str]:
    return re.findall(r"\b(?:winnow|scrapy)_\w+", expression)
