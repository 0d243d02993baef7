"""``winnow warc --ray`` on a real cluster of two nodes, one of which is killed on the way."""

import gzip
import json

import pytest

from scrapy_winnow.archives import ArchiveRun, Options
from tests.scrapy_winnow.archives.made_pages import page

pytestmark = [
    pytest.mark.engines,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning"),  # Ray Data's own
]

ARCHIVES = 8
BIG = 0.3  # of all pages are of one host


@pytest.fixture(scope="module")
def cluster():
    ray = pytest.importorskip("ray", reason="an extra of the tests")
    from ray.cluster_utils import Cluster  # noqa: PLC0415

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
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


@pytest.fixture
def worker(cluster):
    """A second node."""
    return cluster.add_node(num_cpus=1)


def test_a_killed_node_changes_nothing_in_what_comes_out(cluster, worker, many, tmp_path):
    one = ArchiveRun(many, tmp_path / "one", Options()).run()
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


def test_a_dataset_is_cleaned_as_archives_are_whatever_is_killed(cluster, worker, many, tmp_path):
    import ray  # noqa: PLC0415

    from scrapy_winnow.archives.on_ray.datasets import clean_pages, read_archives  # noqa: PLC0415

    ArchiveRun(many, tmp_path, Options()).run()
    files = [gzip.decompress(file.read_bytes()) for file in tmp_path.glob("*.jsonl.gz")]
    whole = [json.loads(line) for file in files for line in file.splitlines()]
    ray.init(address=cluster.address, ignore_reinit_error=True, log_to_driver=False)
    found, blocks = [], 0
    for block in clean_pages(read_archives(many)).iter_batches(batch_size=None, batch_format="pyarrow"):
        if not found:
            cluster.remove_node(worker, allow_graceful=False)
        found += block.to_pylist()
        blocks += 1
    assert blocks == ARCHIVES  # each was a task of its own
    assert [row.pop("error") for row in found] == [None] * ARCHIVES * 20
    for row in whole:
        del row["duplicate_of"]
    assert sorted(found, key=by_name) == sorted(whole, key=by_name)


def by_name(row):
    return row["record_id"]


def test_a_dataset_of_ones_own_needs_addresses_and_html_alone(cluster):
    import ray  # noqa: PLC0415

    from scrapy_winnow.archives.on_ray.datasets import clean_pages  # noqa: PLC0415

    ray.init(address=cluster.address, ignore_reinit_error=True, log_to_driver=False)
    pages = [{"url": f"http://own.example/{number}", "html": page("own", number)} for number in range(12)]
    rows = clean_pages(ray.data.from_items([*pages, {"url": None, "html": None}])).take_all()
    assert len(rows) == 13
    assert {row["evidence_pages"] for row in rows if row["url"]} == {12}
    assert not any("Copyright" in row["text"] for row in rows)
