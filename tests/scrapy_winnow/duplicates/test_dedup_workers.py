"""Workers of ``winnow dedup`` in this process, on a real server: what is decided, once, and in which order."""

import argparse

import pytest
import redis

from scrapy_winnow.commands import dedup
from scrapy_winnow.config import DEFAULTS
from scrapy_winnow.duplicates.index import DuplicateIndex, IndexOptions
from scrapy_winnow.duplicates.stream import DocumentStream
from scrapy_winnow.duplicates.worker import BATCH, CLAIM_AFTER, GROUP, KEPT, Worker
from scrapy_winnow.storage.connection import Connection
from tests.scrapy_winnow.duplicates.documents import made, run, story, url, verdicts
from winnow.duplicates.documents import Verdict, document_id
from winnow.duplicates.index import MemoryIndex


def answers(client, known, *others) -> list:
    """What the server may say of a backlog: Valkey knows it, Redis 6.2 does not, 7.0 takes what was cut for waiting."""
    return [known] if "valkey_version" in client.info("server") else [known, *others]


async def test_the_verdicts_are_those_of_the_index_in_memory_whatever_the_number_of_workers(client, stream, options):
    memory, expected = MemoryIndex(), []
    for number in range(200):
        shingles = story(number * 7 % 31, number % 5)
        assert await stream.add(url(number), shingles, "model-1")
        verdict = memory.decide(url(number), shingles)
        expected.append((str(number), Verdict(verdict.duplicate_of, verdict.resemblance, verdict.cluster)))
    workers = [Worker(client, options, name=f"worker-{number}", batch=7) for number in range(3)]
    for worker in workers:
        worker.join()
    while sum(worker.decide().taken for worker in workers):
        pass
    assert verdicts(client, options) == expected
    assert sum(verdict.duplicate_of is not None for _, verdict in expected) > 100
    backlog = workers[0].backlog()
    assert (backlog.waiting, backlog.pending, backlog.lost) in answers(client, (0, 0, 0), (None, 0, None))


async def test_the_look_up_of_a_crawl_and_a_worker_share_one_index(client, connection, stream, options):
    index, worker = DuplicateIndex(connection, options), Worker(client, options)
    worker.join()
    looked_up = []
    for number in range(60):
        shingles = story(number % 23, number % 3)
        await stream.add(url(number), shingles, "model-1")
        verdict = await index.find(url(number), shingles)
        looked_up.append((str(number), Verdict(verdict.duplicate_of, verdict.resemblance, verdict.cluster)))
    run(worker)
    assert verdicts(client, options) == looked_up
    later = story(3, 9)
    await stream.add(url("later"), later, "model-1")
    run(worker)
    assert verdicts(client, options)[-1] == ("later", await index.find(url("later"), later))


async def test_the_entries_of_a_worker_that_died_are_taken_over_and_decided_once(client, stream, options):
    worker = Worker(client, options, claim_after=0.0)
    patient = Worker(client, options, claim_after=60.0)
    worker.join()
    for number in range(10):
        await stream.add(url(number), story(number % 4), "model-1")
    # A program that reads in the group's name, and dies before it has acknowledged anything.
    client.xreadgroup("dedup", "dead", {options.key("documents"): ">"}, count=6)
    assert run(patient) == 4
    assert patient.backlog().pending == 6
    batch = worker.decide()
    assert (batch.taken, batch.claimed) == (6, 6)
    assert sorted(name for name, _ in verdicts(client, options)) == [str(number) for number in range(10)]
    assert run(worker) == run(patient) == worker.backlog().pending == 0


async def test_entries_taken_over_count_in_the_batch(client, stream, options):
    worker = Worker(client, options, batch=5, claim_after=0.0)
    worker.join()
    for number in range(12):
        await stream.add(url(number), story(number), "model-1")
    client.xreadgroup("dedup", "dead", {options.key("documents"): ">"}, count=3)
    assert [worker.decide().taken for _ in range(4)] == [5, 5, 2, 0]


async def test_an_entry_that_is_streamed_twice_gets_the_same_verdict(client, stream, options):
    worker = Worker(client, options)
    worker.join()
    for _ in range(2):
        for number in range(6):
            await stream.add(url(number), story(number // 2), "model-1")
    run(worker)
    found = verdicts(client, options)
    assert found[:6] == found[6:]
    assert [verdict.duplicate_of for _, verdict in found[:4]] == [None, url(0), None, url(2)]


async def test_entries_that_are_no_documents_are_counted_and_passed_over(client, stream, options):
    worker = Worker(client, options)
    worker.join()
    good = {"id": document_id(url("x")), "url": url("x"), "shingles": made(1).astype(">u8").tobytes(), "complete": 1}
    wrong = [
        {"hello": "world"},
        {**good, "id": "short"},
        {**good, "shingles": "1234567"},
        {**good, "shingles": b"x" * 8 * 1025},
        {**good, "complete": "perhaps"},
        {name: value for name, value in good.items() if name != "url"},
    ]
    for entry in [*wrong, good]:
        client.xadd(options.key("documents"), entry)
    batch = worker.decide()
    assert (batch.taken, batch.refused) == (len(wrong) + 1, len(wrong))
    assert [name for name, _ in verdicts(client, options)] == ["x"]
    assert worker.backlog().pending == 0


async def test_what_is_cut_off_the_stream_before_it_is_decided_is_counted(client, connection, options):
    stream = DocumentStream(connection, options, length=1)
    worker = Worker(client, options)
    worker.join()
    await stream.add(url(0), story(0), "model-1")
    assert run(worker) == 1
    assert worker.backlog().lost in answers(client, 0, None)
    for number in range(1, 301):
        await stream.add(url(number), story(number), "model-1")
    left = client.xlen(options.key("documents"))
    assert left < 300
    assert run(worker) == left
    backlog = worker.backlog()
    assert (backlog.waiting, backlog.lost) in answers(client, (0, 300 - left), (None, None), (300 - left, 0))


async def test_the_stream_of_verdicts_is_bounded_and_may_have_another_name(client, stream, options):
    worker = Worker(client, options, verdicts=options.key("elsewhere"), kept=100)
    worker.join()
    for number in range(1000):
        await stream.add(url(number), story(number), "model-1")
    assert run(worker) == 1000
    assert client.exists(options.key("verdicts")) == 0
    assert 100 <= client.xlen(options.key("elsewhere")) <= 300


async def test_two_groups_each_decide_every_document(client, stream, options):
    for group in ("one", "two"):
        Worker(client, options, group=group).join()
        Worker(client, options, group=group).join()  # joining twice is no error
    for number in range(5):
        await stream.add(url(number), story(0), "model-1")
    for group in ("one", "two"):
        assert run(Worker(client, options, group=group, verdicts=options.key(group))) == 5
    assert verdicts(client, options, "one") == verdicts(client, options, "two")


async def test_a_server_without_memory_takes_nothing_that_it_cannot_decide(tcp_server):
    server = tcp_server()
    options = IndexOptions("test", cap=1000)
    connection = Connection(server.url, timeout=10)
    stream = DocumentStream(connection, options)
    for number in range(10):
        assert await stream.add(url(number), story(number % 3), "model-1")
    with redis.Redis.from_url(server.url) as client:
        worker = Worker(client, options)
        worker.join()
        client.config_set("maxmemory", 1)
        with pytest.raises(redis.exceptions.OutOfMemoryError):
            worker.decide()
        assert not await stream.add(url("x"), story(1), "model-1")
        assert worker.backlog().pending == 0
        client.config_set("maxmemory", 0)
        assert run(worker) == 10
    await connection.close()


def test_the_bounds_of_index_settings_and_command_are_the_same():
    options = IndexOptions("x")
    assert options.ttl == DEFAULTS["WINNOW_DUPLICATES_TTL"]
    assert options.cap == DEFAULTS["WINNOW_DUPLICATES_CAP"]
    assert options.keep == DEFAULTS["WINNOW_DUPLICATES_SKETCH"]
    parser = argparse.ArgumentParser()
    dedup.add_parser(parser.add_subparsers())
    command = parser.parse_args(["dedup", "--redis-url", "redis://x"])
    assert command.resemblance is options.least is DEFAULTS["WINNOW_DUPLICATES_RESEMBLANCE"]
    assert (command.ttl, command.cap) == (options.ttl, options.cap)
    assert (command.group, command.kept, command.batch, command.claim_after) == (GROUP, KEPT, BATCH, CLAIM_AFTER)
