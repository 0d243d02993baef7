"""What is wrong in the index, with a clock, or with a worker that was killed, costs what it must and no more."""

from scrapy_winnow.duplicates.worker import Worker
from tests.scrapy_winnow.duplicates.documents import story, url


def verdicts(client, options, field):
    """One field of all verdicts."""
    return [fields[field] for _, fields in client.xrange(options.key("verdicts"))]


def run(worker) -> int:
    """Decide all there is; return how many."""
    total = 0
    while batch := worker.decide().taken:
        total += batch
    return total


async def test_what_is_damaged_in_the_index_costs_its_own_documents_and_no_others(client, stream, options):
    worker = Worker(client, options)
    worker.join()
    for name in "abc":
        await stream.add(url(name), story(ord(name)), "m")
    assert run(worker) == 3
    for key in client.scan_iter(f"{options.key('')}[sd][0-9]*"):
        for field in client.hkeys(key):
            client.hset(key, field, b"\x01\xff damage")
    client.hset(options.key("m"), mapping={"seq": "many", "shards": "-1", "hot": "x", "decided:dedup": "y"})
    client.delete(options.key("q"))
    client.set(options.key("q"), "no list")
    for name in "abcdef":
        await stream.add(url(name), story(ord(name)), "m")
    assert run(worker) == 6
    assert verdicts(client, options, b"url") == [url(name).encode() for name in "abcabcdef"]
    await stream.add(url("g"), story(ord("f")), "m")
    assert run(worker) == 1
    assert verdicts(client, options, b"duplicate_of")[-1] == url("f").encode()


async def test_a_record_that_cannot_be_decided_does_not_stop_the_group(client, stream, options):
    worker = Worker(client, options)
    worker.join()
    await stream.add(url("a"), story(1), "m")
    assert run(worker) == 1
    for key in [*client.scan_iter(f"{options.key('')}s[0-9]*")]:
        client.delete(key)
        client.set(key, "no hash")
    await stream.add(url("b"), story(1), "m")
    await stream.add(url("c"), story(500), "m")
    batch = worker.decide()
    assert (batch.taken, batch.refused >= 1) == (2, True)
    assert worker.backlog().pending == 0
    assert len(verdicts(client, options, b"url")) == 3


async def test_workers_that_leave_are_off_the_list_and_their_keys_have_a_time_to_live(client, stream, options):
    await stream.add(url("a"), story(1), "m")
    for number in range(3):
        worker = Worker(client, options, name=f"worker-{number}")
        worker.join()
        run(worker)
        worker.leave()
    assert client.xinfo_consumers(options.key("documents"), "dedup") == []
    for key in client.scan_iter(f"{options.key('')}*"):
        assert client.ttl(key) > 0, key


async def test_the_servers_clock_decides_what_is_due(client, stream, options, monkeypatch):
    monkeypatch.setattr("time.time", lambda: 1e12)
    worker = Worker(client, options)
    worker.join()
    await stream.add(url("a"), story(1), "m")
    await stream.add(url("b"), story(1), "m")
    run(worker)
    assert verdicts(client, options, b"duplicate_of")[-1] == url("a").encode()
    seconds, _ = client.time()
    (record,) = [
        value
        for key in client.scan_iter(f"{options.key('')}d[0-9]*")
        for field, value in client.hgetall(key).items()
        if field != b"e" and value[0] == 1
    ]
    assert abs(int.from_bytes(record[1:5], "big") - seconds) < 100
