"""``winnow dedup`` as processes of their own, which are killed and told to end."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import redis

from scrapy_winnow.commands import main
from scrapy_winnow.duplicates.index import IndexOptions
from tests.scrapy_winnow.waiting import SECONDS, until
from winnow.duplicates.documents import document_id

COMMAND = [
    sys.executable,
    "-W",
    "error",
    "-c",
    "from scrapy_winnow.commands import main; raise SystemExit(main())",
    "dedup",
]


def _feed(client, options, numbers) -> None:
    pipeline = client.pipeline(transaction=False)
    for number in numbers:
        shingles = np.arange(8 * (number % 300), 8 * (number % 300) + 8, dtype=np.uint64) << np.uint64(20)
        url = f"http://{number}.example/"
        entry = {"id": document_id(url), "url": url, "shingles": shingles.astype(">u8").tobytes(), "complete": 0}
        pipeline.xadd(options.key("documents"), entry)
    pipeline.execute()


@pytest.fixture
def client(redis_url):
    with redis.Redis.from_url(redis_url) as client:
        yield client


@pytest.fixture
def options(prefix):
    return IndexOptions(prefix)


@pytest.fixture
def dedup(redis_url, prefix):
    """Start a worker with further arguments."""
    started = []

    def start(*arguments):
        command = [*COMMAND, "--redis-url", redis_url, "--prefix", prefix, *map(str, arguments)]
        started.append(subprocess.Popen(command, stderr=subprocess.PIPE, text=True))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


def _verdicts(path) -> dict[str, tuple]:
    """Verdict by address; every address has one line."""
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    found = {row["url"]: (row["duplicate_of"], row["resemblance"], row["cluster"]) for row in rows}
    assert len(found) == len(rows)
    return found


def test_workers_that_are_killed_leave_the_verdicts_of_an_undisturbed_run(client, options, dedup, tmp_path):
    total = 6000
    _feed(client, options, range(total))
    out = tmp_path / "verdicts.jsonl"
    killed, other = dedup("--out", out, "--batch", 5), dedup("--batch", 5)
    until(lambda: out.exists() and out.stat().st_size > 100_000)
    killed.kill()
    other.kill()
    assert killed.wait() == other.wait() == -signal.SIGKILL
    before = out.read_bytes().count(b"\n")
    assert 0 < before < total
    again = dedup("--out", out, "--until-empty")
    log = again.communicate(timeout=SECONDS)[1]
    assert again.returncode == 0, log
    found = _verdicts(out)
    assert len(found) == total
    assert found == {
        f"http://{number}.example/": ((None, None) if number < 300 else (f"http://{number % 300}.example/", 1.0))
        + (document_id(f"http://{number % 300}.example/").hex(),)
        for number in range(total)
    }
    assert " documents, " in log
    assert "6,000" not in log
    assert "0 waiting" in log


def test_a_worker_waits_for_documents_and_ends_when_it_is_told_to(client, options, dedup, tmp_path):
    out = tmp_path / "verdicts.jsonl"
    worker = dedup("--out", out)
    until(lambda: out.exists() and client.exists(options.key("documents")))
    for number in range(3):
        _feed(client, options, [number])
        until(lambda number=number: out.read_bytes().count(b"\n") == number + 1)
    worker.send_signal(signal.SIGTERM)
    log = worker.communicate(timeout=SECONDS)[1]
    assert worker.returncode == 0
    assert log.endswith("0 waiting, 3 verdicts copied\n")
    assert log.startswith("winnow: 3 documents, 0 near-duplicates, ")


def test_documents_that_were_cut_off_before_they_were_decided_are_an_error(client, options, redis_url, prefix, capsys):
    _feed(client, options, range(4))
    arguments = ["dedup", "--redis-url", redis_url, "--prefix", prefix, "--until-empty"]
    assert main(arguments) == 0
    _feed(client, options, range(4, 10))
    client.xtrim(options.key("documents"), maxlen=2, approximate=False)
    assert main(arguments) == 1
    assert "4 cut off the stream before they were decided" in capsys.readouterr().err


def test_an_outage_is_waited_out_by_a_worker_and_an_empty_server_begins_anew(tcp_server, tmp_path):
    server = tcp_server()
    options = IndexOptions("winnow")
    out = tmp_path / "verdicts.jsonl"
    worker = subprocess.Popen([*COMMAND, "--redis-url", server.url, "--out", out], stderr=subprocess.PIPE, text=True)
    try:
        with redis.Redis.from_url(server.url) as client:
            until(lambda: client.exists(options.key("documents")))
            _feed(client, options, range(3))
            until(lambda: out.read_bytes().count(b"\n") == 3)
            server.signal(signal.SIGKILL)
            assert "Redis is away" in worker.stderr.readline()
            server.start()
            _feed(client, options, range(2, 5))
            until(lambda: out.read_bytes().count(b"\n") == 6)
        worker.send_signal(signal.SIGTERM)
        log = worker.communicate(timeout=SECONDS)[1]
    finally:
        worker.kill()
        worker.communicate()
    assert "Redis is back" in log
    # The server has forgotten all; what it forgot may have been verdicts that were not copied yet.
    assert "may not have been copied" in log
    assert worker.returncode == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--redis-url", "redis://127.0.0.1:1"], "Redis: "),
        (["--redis-url", "nonsense"], "redis://"),
        (["--state-dir", "/nowhere"], "no private server"),
        (["--redis-url", "URL", "--out", "/nowhere/verdicts.jsonl"], "--out /nowhere/verdicts.jsonl: no such file"),
        (["--redis-url", "URL", "--out", __file__], "it holds something else than verdicts"),
        (["--redis-url", "URL", "--batch", "0"], "--batch"),
        (["--redis-url", "URL", "--claim-after", "-1"], "--claim-after"),
        (["--redis-url", "URL", "--resemblance", "2"], "--resemblance"),
    ],
)
def test_a_command_line_that_cannot_work_says_why(arguments, message, redis_url, capsys):
    arguments = [redis_url if argument == "URL" else argument for argument in arguments]
    assert main(["dedup", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_a_key_of_another_kind_in_the_place_of_the_stream_is_an_error(client, options, redis_url, prefix, capsys):
    client.set(options.key("documents"), "text")
    assert main(["dedup", "--redis-url", redis_url, "--prefix", prefix, "--until-empty"]) == 2
    assert "WRONGTYPE" in capsys.readouterr().err


def test_the_rights_in_the_documentation_are_enough(tcp_server, capsys):
    text = (Path(__file__).parents[3] / "docs" / "guides" / "near-duplicates.md").read_text()
    words = text[text.index("ACL SETUSER dedup") :].partition("\n\n")[0].split()[2:]
    server = tcp_server("--user", "dedup", *words[1:])
    options = IndexOptions("winnow", cap=2)
    with redis.Redis.from_url(server.url) as client:
        _feed(client, options, range(5))
        client.xadd(options.key("documents"), {"no": "document"})
    url = server.url.replace("//", "//dedup:password@")
    out = Path(server.folder) / "verdicts.jsonl"
    arguments = ["dedup", "--redis-url", url, "--until-empty", "--cap", "2", "--out", str(out)]
    assert main(arguments) == 0, capsys.readouterr().err
    assert len(_verdicts(out)) == 5
    with redis.Redis.from_url(url) as client, pytest.raises(redis.exceptions.NoPermissionError):
        client.keys("*")
