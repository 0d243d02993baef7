"""Indexes, the stream of documents and a client for it, on the tests' server."""

import pytest
import redis

from scrapy_winnow.duplicates.index import IndexOptions
from scrapy_winnow.duplicates.stream import DocumentStream
from scrapy_winnow.storage.connection import Connection
from tests.scrapy_winnow.duplicates.indexes import InMemory, InRedis


@pytest.fixture(params=["memory", "redis", "cluster"])
async def new_index(request, prefix, redis_url):
    """Makes an index of each kind."""
    address = request.getfixturevalue("cluster_url") if request.param == "cluster" else redis_url
    connection = Connection(address, timeout=10)

    def make(**options):
        return InMemory(**options) if request.param == "memory" else InRedis(connection, prefix, **options)

    yield make
    await connection.close()


@pytest.fixture(params=["memory", "redis"])
def new_bounded_index(request, connection, prefix):
    """Makes an index that forgets one document at a time; that of a cluster forgets by generations."""

    def make(**options):
        return InMemory(**options) if request.param == "memory" else InRedis(connection, prefix, **options)

    return make


@pytest.fixture
def client(redis_url):
    with redis.Redis.from_url(redis_url) as client:
        yield client


@pytest.fixture
def options(prefix):
    return IndexOptions(prefix, cap=1000)


@pytest.fixture
def stream(connection, options):
    return DocumentStream(connection, options)
