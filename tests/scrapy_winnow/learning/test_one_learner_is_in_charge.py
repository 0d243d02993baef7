"""Several learners on one Redis, in processes of their own: one is in charge, and is replaced when it dies."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from scrapy_winnow.learning.cards import Card
from scrapy_winnow.learning.published import Published
from scrapy_winnow.storage.lease import Lease
from tests.scrapy_winnow.waiting import until


class Process:
    """A learner, and the lines that it has written."""

    def __init__(self, plan: dict[str, object]) -> None:
        script = Path(__file__).with_name("learner_process.py")
        self._process = subprocess.Popen(
            [sys.executable, "-W", "error", script, json.dumps(plan)],
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        self.lines: list[str] = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        for line in self._process.stderr:
            self.lines.append(line.strip())

    def wait_for(self, *texts: str) -> None:
        """Wait for lines that begin with the texts."""

        def are_there() -> bool:
            return all(any(line.startswith(text) for line in self.lines) for text in texts)

        until(lambda: are_there() or self._process.poll() is not None)
        assert are_there(), self.lines

    def signal(self, number: int) -> None:
        self._process.send_signal(number)

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        self._reader.join()
        self._process.stderr.close()


@pytest.fixture
def start(redis_url, prefix, fill, ignorant, tmp_path):
    fill()
    model = tmp_path / "own.npz"
    ignorant.save(model)
    started = []

    def process(*, steps: int, held_by: Path | str = "") -> Process:
        plan = {"url": redis_url, "prefix": prefix, "lease": 6.0, "model": str(model), "steps": steps}
        plan["held_by"] = str(held_by)
        started.append(Process(plan))
        return started[-1]

    yield process
    for each in started:
        each.end()


FOREVER = 10_000_000
"""Steps of a refit that does not end before the test does."""


def test_a_learner_killed_in_training_is_replaced_and_one_stopped_past_its_lease_cannot_publish(
    start, client, keys, tmp_path
):
    first = start(steps=FOREVER)
    first.wait_for("This learner is in charge")
    (hold := tmp_path / "hold").touch()
    second = start(steps=300, held_by=hold)
    first.wait_for("networks")
    second.wait_for("Another learner is in charge")
    lease = client.get(keys.lease)
    assert lease.startswith(b"1-")
    left = client.pttl(keys.lease)
    until(lambda: client.pttl(keys.lease) > left)  # it is renewed while the first one trains
    assert client.get(keys.lease) == lease
    first.signal(signal.SIGKILL)
    client.pexpire(keys.lease, 1)  # the rest of its time, without the wait
    second.wait_for("This learner is in charge", "networks")
    assert client.get(keys.lease).startswith(b"2-")

    second.signal(signal.SIGSTOP)
    client.delete(keys.lease)  # what expiry does, without the wait
    third = Lease(client, keys, 600)
    assert third.take()
    second.signal(signal.SIGCONT)
    hold.unlink()
    second.wait_for("The lease was lost")
    assert Published(client, keys).in_use().serial == 0
    assert not any(line.startswith("Published") for line in second.lines)
    third.leave()
    second.wait_for("Published")
    assert Published(client, keys).in_use().serial == 1


def test_a_stale_token_is_refused_by_the_server_itself(client, keys, ignorant):
    stale, successor = Lease(client, keys, 30), Lease(client, keys, 30)
    assert stale.take()
    token = stale.token
    assert not successor.take()
    client.delete(keys.lease)
    assert successor.take()
    from_stale = Published(client, keys)
    card = _card(ignorant.version)
    assert from_stale.publish(ignorant, card, token=token, compared="") == "lost"
    assert from_stale.publish(ignorant, card, token=successor.token, compared="") == "published"
    for lease in (stale, successor):
        lease.leave()
    assert not client.exists(keys.lease)


def test_leaving_does_not_take_the_lease_of_another(client, keys):
    first, second = Lease(client, keys, 30), Lease(client, keys, 30)
    assert first.take()
    client.delete(keys.lease)
    assert second.take()
    first.leave()
    assert client.get(keys.lease) == second.token.encode()
    second.leave()


def _card(version: str):
    return Card(version, "", "", 1, 1, 1, 1, *[0.0] * 8)
