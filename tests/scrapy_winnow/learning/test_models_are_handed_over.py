"""A model that is published while a crawl runs scores its further pages; one that cannot be used is refused."""

import asyncio
import logging

import pytest

from scrapy_winnow.learning.cards import Card
from scrapy_winnow.learning.handover import MOST_BYTES, PACKAGE, Current, ModelWatch, checked_model
from scrapy_winnow.learning.published import Published, _bytes_of
from scrapy_winnow.storage.connection import Connection
from scrapy_winnow.storage.lease import Lease
from tests.scrapy_winnow.waiting import SECONDS, figures, until
from winnow.models.files import ModelError
from winnow.models.networks import BlockPerceptron

CARD = Card("", "", "", 1, 1, 1, 1, *[0.0] * 8)


@pytest.fixture
def publish(client, keys):
    """Publishes a model in the way that learners do."""

    def put(model: BlockPerceptron) -> str:
        published, lease = Published(client, keys), Lease(client, keys, SECONDS)
        assert lease.take()
        try:
            return published.publish(model, CARD, token=lease.token, compared=published.in_use().version)
        finally:
            lease.leave()

    return put


def test_a_running_crawl_takes_a_model_over_between_pages_and_gives_it_back_after_a_rollback(
    web, start_crawls, publish, client, keys, prefix, ignorant, address
):
    def wait_for_models(number: int) -> None:
        """Wait until the crawl has taken over so many."""
        until(lambda: figures(address)["winnow_learning_models"] == number)

    said = []
    web.do_at(4, lambda: (said.append(publish(ignorant)), wait_for_models(1)))
    web.do_at(9, lambda: (said.append(Published(client, keys).roll_back(PACKAGE)), wait_for_models(2)))
    plan = {"WINNOW_REDIS_PREFIX": prefix, "WINNOW_MODEL": "learned", "WINNOW_MODEL_REFRESH": 0.05}
    plan |= {"CONCURRENT_REQUESTS": 1, "WINNOW_DUPLICATES": False, "WINNOW_METRICS": address}
    (crawled,) = start_crawls({"urls": web.add_articles(14), **plan}).results()
    assert said == ["published", True]
    versions = [item["label_version"] for item in crawled.items]
    own = versions[0]
    assert own != ignorant.version
    first, last = versions.index(ignorant.version), len(versions) - versions[::-1].index(ignorant.version)
    assert versions == [own] * first + [ignorant.version] * (last - first) + [own] * (len(versions) - last)
    assert 0 < first < last < len(versions)
    assert crawled.winnow_stats["winnow/learning/models"] == 2
    assert f"scored by the model {ignorant.version} from now on" in crawled.log


def test_a_crawl_begins_with_the_published_model_unless_it_names_another(web, start_crawls, publish, prefix, ignorant):
    urls = web.add_articles(2)
    publish(ignorant)
    plan = {"urls": urls, "WINNOW_REDIS_PREFIX": prefix, "WINNOW_DUPLICATES": False}
    plans = [
        {"WINNOW_MODEL": "learned"},
        {"WINNOW_LEARN": True},
        {"WINNOW_LEARN": True, "WINNOW_MODEL": "blocks"},
        {},
    ]
    of_each = [
        {item["label_version"] for item in crawled.items}
        for crawled in start_crawls(*({**plan, **more} for more in plans)).results()
    ]
    assert of_each[:2] == [{ignorant.version}] * 2
    assert of_each[2] == of_each[3] != {ignorant.version}


class Watch:
    """A watch, the models that it put to use, and how often it refused one."""

    def __init__(self, connection: Connection, keys, own: BlockPerceptron) -> None:
        self.used: list[str] = []
        self.refusals = 0
        self.watch = ModelWatch(
            connection, keys, own, use=lambda model: self.used.append(model.version), refused=self._refuse
        )

    def _refuse(self) -> None:
        self.refusals += 1


@pytest.mark.parametrize("fault", ["missing", "garbage", "other version", "too large", "other features"])
async def test_what_is_no_model_is_refused_with_one_warning(fault, connection, client, keys, ignorant, opinion, caplog):
    caplog.set_level(logging.WARNING, "scrapy_winnow")
    good, version = _bytes_of(ignorant), ignorant.version
    if fault == "garbage":
        client.hset(keys.models, version, good[: len(good) // 2])
    elif fault == "other version":
        version = "blocks-00000000"
        client.hset(keys.models, version, good)
    elif fault == "too large":
        client.hset(keys.models, version, bytes(MOST_BYTES + 1))
    elif fault == "other features":
        few = opinion(0.0, features=3)
        version = few.version
        client.hset(keys.models, version, _bytes_of(few))
    own = opinion(1.0)
    watch = Watch(connection, keys, own)
    for _ in range(3):
        await watch.watch.follow(Current(1, version))
    assert (watch.used, watch.refusals) == ([], 1)
    (record,) = caplog.records
    assert f"goes on with {own.version}" in record.getMessage()
    client.hset(keys.models, ignorant.version, good)
    await watch.watch.follow(Current(2, ignorant.version))
    assert watch.used == [ignorant.version]


async def test_while_redis_is_away_the_model_stays_and_is_fetched_when_it_is_back(tcp_server, keys, ignorant, opinion):
    server = tcp_server()
    connection = Connection(server.url, timeout=20, retry_interval=0.01)
    own = opinion(1.0)
    watch = Watch(connection, keys, own)
    server.stop()
    await watch.watch.follow(Current(1, ignorant.version))
    assert (watch.used, watch.refusals) == ([], 0)
    server.start()

    async def put(client):
        return await client.hset(keys.models, ignorant.version, _bytes_of(ignorant))

    async with asyncio.timeout(SECONDS):
        while await connection.call(put) is None:  # noqa: ASYNC110 - the breaker has no event to wait for
            await asyncio.sleep(0.02)
    await watch.watch.follow(Current(1, ignorant.version))
    assert watch.used == [ignorant.version]
    await connection.close()


def test_a_file_is_the_model_of_its_version_or_none(ignorant):
    data = _bytes_of(ignorant)
    assert checked_model(data, ignorant.version).version == ignorant.version
    with pytest.raises(ModelError, match="numbers are those of"):
        checked_model(data, "blocks-00000000")
