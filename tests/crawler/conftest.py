"""Real servers for the crawler's tests: Redis or Valkey, and a web on loopback."""

import os
import uuid
from collections.abc import AsyncIterator, Iterator

import pytest

from crawler.connection import Connection
from crawler.embedded import EmbeddedServer


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a real server: ``TEST_REDIS_URL`` when it is set, otherwise the embedded one."""
    if url := os.environ.get("TEST_REDIS_URL"):
        yield url
        return
    with EmbeddedServer(tmp_path_factory.mktemp("redis")) as server:
        yield server.url


@pytest.fixture
def prefix() -> str:
    """First part of the keys of one test."""
    return f"test-{uuid.uuid4().hex[:12]}"


@pytest.fixture
async def connection(redis_url: str) -> AsyncIterator[Connection]:
    """A connection that waits long enough for a busy machine."""
    connection = Connection(redis_url, timeout=10)
    yield connection
    await connection.close()
