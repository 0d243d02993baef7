"""``winnow warc --ray`` on a real cluster of two nodes, one of which is killed on the way."""

import pytest

from scrapy_winnow.archives import ArchiveRun, Options
from tests.scrapy_winnow.archives.made_pages import page

pytestmark = pytest.mark.engines

ARCHIVES = 8
BIG = 0.3  # of all pages are of one host


@pytest.fixture(scope="module")
def cluster():
    ray = pytest.importorskip("ray", reason="an extra of the tests")
    from ray.cluster_utils import Cluster  # noqa: PLC0415

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    cluster.add_node(num_cpus=1)
    yield cluster
    ray.shutdown()
    cluster.shutdown()


@pytest.fixture
def many(archive):
    """Archives whose pages are of many hosts, and a third of them of one."""
    records = []
    for number in range(ARCHIVES * 20):
        host = "big" if number % 10 < BIG * 10 else f"host-{number % 7}"
        records.append((f"http://{host}.example/{number}", page(host, number)))
    return [str(archive(f"part-{part}.warc.gz", records[part::ARCHIVES])) for part in range(ARCHIVES)]


def test_a_killed_node_changes_nothing_in_what_comes_out(cluster, many, tmp_path):
    one = ArchiveRun(many, tmp_path / "one", Options()).run()
    worker = next(iter(cluster.worker_nodes))
    steps = []

    def progress(step, done, whole, read_bytes, pages):
        steps.append((step, done))
        if (step, done) == ("clean", 2) and worker in cluster.worker_nodes:
            cluster.remove_node(worker, allow_graceful=False)

    two = ArchiveRun(many, tmp_path / "two", Options(ray=cluster.address), progress).run()
    assert ("clean", ARCHIVES) in steps
    assert worker not in cluster.worker_nodes
    assert (two.pages, two.hosts, two.duplicates, two.broken) == (one.pages, one.hosts, one.duplicates, one.broken)
    assert one.pages == ARCHIVES * 20
    for part in range(ARCHIVES):
        name = f"part-{part}.jsonl.gz"
        assert (tmp_path / "two" / name).read_bytes() == (tmp_path / "one" / name).read_bytes()
