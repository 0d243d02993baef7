"""``tamis warc --ray`` on a real cluster of two nodes, one of which is killed on the way."""

from dataclasses import asdict
from operator import itemgetter

import pytest

from scrapy_tamis.archives import ArchiveRun, Options
from scrapy_tamis.archives.reading import ArchiveReader, Part
from tamis import Rules
from tests.scrapy_tamis.archives.made import page, rows_of, write_archive

pytestmark = [
    pytest.mark.engines,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning"),  # Ray Data's own
]

ARCHIVES = 8
HOW = {"favor": "recall", "scope": "page", "rules": Rules({"site": "big.example", "drop": "h1"})}


@pytest.fixture(scope="module")
def cluster():
    ray = pytest.importorskip("ray", reason="an extra of the tests")
    from ray.cluster_utils import Cluster  # noqa: PLC0415

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    yield cluster
    ray.shutdown()
    cluster.shutdown()


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """Archives whose pages are of many hosts, and a third of them of one."""
    folder = tmp_path_factory.mktemp("many")
    records = []
    for number in range(ARCHIVES * 20):
        host = "big" if number % 10 < 3 else f"host-{number % 7}"
        records.append((f"http://{host}.example/{number}", page(host, number)))
    parts = range(ARCHIVES)
    return [str(write_archive(folder / f"part-{part}.warc.gz", records[part::ARCHIVES])) for part in parts]


@pytest.fixture(scope="module")
def cleaned(many, tmp_path_factory):
    """The folder and the summary of a run in one process."""
    folder = tmp_path_factory.mktemp("cleaned")
    return folder, ArchiveRun(many, folder, Options(**HOW)).run()


@pytest.fixture
def worker(cluster):
    """A second node."""
    return cluster.add_node(num_cpus=1)


def test_a_killed_node_changes_nothing_in_the_output(cluster, worker, many, cleaned, tmp_path):
    folder, summary = cleaned
    steps = []

    def progress(step, done, *_):
        steps.append((step, done))
        if (step, done) == ("clean", 2) and worker in cluster.worker_nodes:
            cluster.remove_node(worker, allow_graceful=False)

    assert ArchiveRun(many, tmp_path, Options(ray=cluster.address, **HOW), progress).run() == summary
    assert ("clean", ARCHIVES) in steps
    assert worker not in cluster.worker_nodes
    assert summary.pages == ARCHIVES * 20
    assert all((row["host"] == "big.example") == ("Story" not in row["text"]) for row in rows_of(tmp_path))
    for part in range(ARCHIVES):
        name = f"part-{part}.jsonl.gz"
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes()


def test_a_dataset_is_cleaned_as_archives_are_whatever_is_killed(cluster, worker, many, cleaned):
    import ray  # noqa: PLC0415

    from scrapy_tamis.archives.on_ray import clean_pages  # noqa: PLC0415

    ray.init(address=cluster.address, ignore_reinit_error=True, log_to_driver=False)
    pages = ray.data.from_items(
        [asdict(each) for archive in many for each in ArchiveReader(Part(archive))], override_num_blocks=ARCHIVES
    )
    found, blocks = [], 0
    for block in clean_pages(pages, Options(**HOW)).iter_batches(batch_size=None, batch_format="pyarrow"):
        if not found:
            cluster.remove_node(worker, allow_graceful=False)
        found += block.to_pylist()
        blocks += 1
    assert blocks == ARCHIVES  # each was a task of its own
    assert [row.pop("error") for row in found] == [None] * ARCHIVES * 20
    by_name = itemgetter("record_id")
    assert sorted(found, key=by_name) == sorted(
        rows_of(cleaned[0], without={"duplicate_of", "resemblance"}), key=by_name
    )


def test_a_dataset_of_ones_own_needs_addresses_and_html_alone(cluster):
    import ray  # noqa: PLC0415

    from scrapy_tamis.archives.on_ray import clean_pages  # noqa: PLC0415

    ray.init(address=cluster.address, ignore_reinit_error=True, log_to_driver=False)
    pages = [{"url": f"http://own.example/{number}", "html": page("own", number)} for number in range(12)]
    rows = clean_pages(ray.data.from_items([*pages, {"url": None, "html": None}])).take_all()
    assert len(rows) == 13
    assert {row["evidence_pages"] for row in rows if row["url"]} == {12}
    assert not any("Copyright" in row["text"] for row in rows)
