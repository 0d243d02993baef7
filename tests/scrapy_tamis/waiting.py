"""To wait for what has to come, for as long as a busy machine may take."""

import subprocess
import time
import urllib.request
from collections.abc import Callable
from typing import Final, TypeVar

from prometheus_client.parser import text_string_to_metric_families

T = TypeVar("T")

SECONDS: Final = 240
"""Time that anything may take; what has not come after that hangs. A test that takes so long is one that fails."""


def until(holds: Callable[[], T]) -> T:
    """Wait until a function returns something true, and return that."""
    deadline = time.monotonic() + SECONDS
    while not (found := holds()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return found


def is_running(process_id: int) -> bool:
    """Whether there is such a process that has not ended."""
    command = ["ps", "-o", "stat=", "-p", str(process_id)]
    state = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    return bool(state) and not state.startswith("Z")


def figures(address: str) -> dict[str, float]:
    """What a crawl or a service that is under way says of itself to Prometheus."""
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=SECONDS) as answer:
        families = text_string_to_metric_families(answer.read().decode())
        return {family.name: family.samples[0].value for family in families}
