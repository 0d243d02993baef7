"""Workers of ``winnow dedup`` on a cluster: one is in charge, and its successor goes on in the middle of a batch."""

import json
import subprocess
import sys

import pytest

from scrapy_winnow.duplicates.index import IndexOptions
from scrapy_winnow.duplicates.parted_index import index_of
from scrapy_winnow.duplicates.parted_worker import PartedWorker, worker_on
from scrapy_winnow.duplicates.stream import DocumentStream
from scrapy_winnow.storage.clients import blocking_client
from tests.scrapy_winnow.duplicates.documents import made, run, story, url, verdicts
from tests.scrapy_winnow.waiting import SECONDS, until
from winnow.duplicates.documents import Verdict, document_id
from winnow.duplicates.index import MemoryIndex

PROGRAM = "from scrapy_winnow.commands import main; raise SystemExit(main())"
COMMAND = [sys.executable, "-W", "error", "-c", PROGRAM, "dedup"]


class KilledError(Exception):
    """The worker ends here, as far as Redis can see."""


@pytest.fixture
def client(cluster_url):
    client = blocking_client(cluster_url)
    yield client
    client.close()


@pytest.fixture
def options(prefix):
    return IndexOptions(prefix, cap=1000)


@pytest.fixture
def new_worker(client, options):
    workers = []

    def make(name="one", **about):
        workers.append(worker_on(client, options, name=name, lease=60.0, **about))
        workers[-1].join()
        return workers[-1]

    yield make
    for worker in workers:
        worker.leave()


async def feed(cluster, options, total):
    """Put documents into the stream, and return what the index in memory says of them."""
    stream, memory, expected = DocumentStream(cluster, options), MemoryIndex(), []
    for number in range(total):
        shingles = story(number * 7 % 31, number % 5)
        assert await stream.add(url(number), shingles, "model-1")
        verdict = memory.decide(url(number), shingles)
        expected.append((str(number), Verdict(verdict.duplicate_of, verdict.resemblance, verdict.cluster)))
    return expected


async def test_the_verdicts_are_those_of_the_index_in_memory_and_of_the_look_up(cluster, client, options, new_worker):
    expected = await feed(cluster, options, 100)
    worker = new_worker(batch=7)
    assert isinstance(worker, PartedWorker)
    assert run(worker) == 100
    assert verdicts(client, options) == expected
    assert sum(verdict.duplicate_of is not None for _, verdict in expected) > 50
    assert (worker.backlog().waiting, worker.backlog().pending, worker.backlog().lost) == (0, 0, 0)
    again = story(99 * 7 % 31, 99 % 5)
    assert (await index_of(cluster, options).find(url(99), again)).duplicate_of == expected[99][1].duplicate_of


@pytest.mark.parametrize("step", ["write", "half of the writes", "finish"])
async def test_a_worker_that_dies_in_a_batch_leaves_the_verdicts_of_an_undisturbed_run(
    cluster, client, options, new_worker, monkeypatch, step
):
    expected = await feed(cluster, options, 40)
    killed, other = new_worker("killed", batch=15), new_worker("other", batch=10)
    assert killed.decide().taken == 15
    standing_by = other.decide()
    assert (standing_by.taken, standing_by.is_last) == (0, False)
    write = killed._index.write

    async def die(writes, **_):
        await write([] if step == "write" else writes[::2])
        raise KilledError

    def die_at_the_end(*_):
        raise KilledError

    if step == "finish":
        monkeypatch.setattr(killed, "_finish", die_at_the_end)
    else:
        monkeypatch.setattr(killed._index, "write", die)
    with pytest.raises(KilledError):
        killed.decide()
    killed._lease.leave()
    assert run(other) == 25
    assert verdicts(client, options) == expected
    assert other.backlog().pending == 0


async def test_a_worker_that_has_slept_through_its_lease_finishes_nothing(cluster, client, options, new_worker):
    expected = await feed(cluster, options, 20)
    asleep, other = new_worker("asleep", batch=5), new_worker("other", batch=8)
    assert asleep.decide().taken == 5
    token = asleep._lease.token
    asleep._lease.leave()
    assert other.decide().taken == 8
    asleep._lease._token = token  # as it would go on after its lease has run out
    woken = asleep.decide()
    assert (woken.taken, woken.is_last) == (0, True)
    assert run(other) == 7
    assert verdicts(client, options) == expected


async def test_entries_of_others_are_taken_over_and_those_that_are_no_documents_are_passed_over(
    cluster, client, options, new_worker
):
    stream = DocumentStream(cluster, options)
    worker, patient = new_worker("one", claim_after=0.0), new_worker("two")
    for number in range(10):
        await stream.add(url(number), story(number % 4), "model-1")
    client.xreadgroup("dedup", "dead", {options.key("documents"): ">"}, count=6)
    good = {"id": document_id(url("x")), "url": url("x"), "shingles": made(1).astype(">u8").tobytes(), "complete": 1}
    for wrong in ({"id": "short"}, {"shingles": "1234567"}, {"complete": "perhaps"}):
        client.xadd(options.key("documents"), {**good, **wrong})
    assert run(patient) == 7
    assert patient.backlog().pending == 6
    patient.leave()
    batch = worker.decide()
    assert (batch.taken, batch.claimed) == (6, 6)
    assert sorted(name for name, _ in verdicts(client, options)) == [str(number) for number in range(10)]
    assert run(worker) == worker.backlog().pending == 0


async def test_what_is_cut_off_while_it_is_decided_is_not_taken_for_what_comes_after_it(
    cluster, client, options, new_worker, monkeypatch
):
    await feed(cluster, options, 20)
    worker = new_worker(batch=5)
    write = worker._index.write

    async def cut(writes, **about):
        client.xtrim(options.key("documents"), maxlen=17, approximate=False)
        return await write(writes, **about)

    monkeypatch.setattr(worker._index, "write", cut)
    assert worker.decide().taken == 2
    monkeypatch.undo()
    assert run(worker) == 15
    assert [name for name, _ in verdicts(client, options)] == [str(number) for number in range(3, 20)]
    assert (worker.backlog().pending, worker.backlog().lost) == (0, 3)


@pytest.fixture
async def expected(cluster, options):
    return dict(await feed(cluster, options, 300))


def test_a_process_that_is_killed_leaves_nothing_twice_and_nothing_out(expected, cluster_url, prefix, tmp_path):
    out = tmp_path / "verdicts.jsonl"
    arguments = ["--redis-url", cluster_url, "--prefix", prefix, "--lease", "1", "--batch", "4", "--cap", "1000"]
    killed = subprocess.Popen([*COMMAND, *arguments, "--out", out], stderr=subprocess.DEVNULL)
    until(lambda: out.exists() and out.stat().st_size > 5_000)
    killed.kill()
    killed.wait()
    again = subprocess.run(
        [*COMMAND, *arguments, "--until-empty", "--out", out],
        stderr=subprocess.PIPE,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert again.returncode == 0, again.stderr
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    found = {row["url"]: (row["duplicate_of"], row["cluster"]) for row in rows}
    assert len(rows) == 300
    assert found == {url(name): (verdict.duplicate_of, verdict.cluster) for name, verdict in expected.items()}
