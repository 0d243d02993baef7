"""``TAMIS_METRICS`` of a crawl under way, over real HTTP."""

import subprocess
import sys
import time
from pathlib import Path
from urllib.error import URLError

import yaml

from scrapy_tamis.metrics import HEARTBEAT, HOST_METRICS, METRICS
from tests.scrapy_tamis.waiting import SECONDS, figures, until

RECIPE = Path(__file__).parents[2] / "deploy" / "kubernetes.yaml"


def _counted(address: str) -> dict[str, float]:
    try:
        found = figures(address)
    except URLError:  # the crawl has not begun
        return {}
    return found if found["tamis_pages_counted"] == found["scrapy_item_scraped"] == 6 else {}


def test_a_crawl_under_way_is_seen_by_prometheus_and_by_the_probe_of_kubernetes(web, start_crawls, address):
    goes_on = web.hold_after(6)
    crawling = start_crawls({"urls": web.add_articles(8), "TAMIS_METRICS": address})
    found = until(lambda: _counted(address))
    assert found.keys() == {*METRICS.values(), *HOST_METRICS, HEARTBEAT}
    assert found["tamis_items_cleaned"] == 6
    of_host = {name.removeprefix("tamis_host_"): found[name] for name in HOST_METRICS}
    assert of_host.pop("labels") > 3
    assert of_host == {"pages": 6, "labels_changed_ratio": 1, "settles_at_pages": 64, "settled": 0}
    assert 0 <= time.time() - found[HEARTBEAT] < SECONDS

    (job,) = (part for part in yaml.safe_load_all(RECIPE.read_text()) if part["kind"] == "Job")
    (container,) = job["spec"]["template"]["spec"]["containers"]
    program = container["livenessProbe"]["exec"]["command"][-1].replace("127.0.0.1:9410", address)
    hung = program.replace("120", "-1")
    assert [subprocess.run([sys.executable, "-c", each], check=False).returncode for each in (program, hung)] == [0, 1]
    goes_on.set()
    assert len(crawling.results()[0].items) == 8
