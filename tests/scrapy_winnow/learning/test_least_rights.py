"""The rights that the documentation lists are enough, for crawls that teach and for learners."""

import re
from pathlib import Path

import pytest
from redis import Redis

from scrapy_winnow.commands import main
from scrapy_winnow.learning.cards import Card
from scrapy_winnow.learning.examples import FEATURE_VERSION
from scrapy_winnow.learning.learner import Learner, Terms
from scrapy_winnow.learning.priorities import host_priority, page_priority
from scrapy_winnow.learning.published import Published
from scrapy_winnow.learning.teaching import TEACHING_PAGES
from scrapy_winnow.storage.keys import LearningKeys
from scrapy_winnow.storage.lease import Lease
from scrapy_winnow.storage.scripts import Script
from winnow.training.refitting import Moving

DOCS = Path(__file__).parents[3] / "docs"
SALT = bytes(16)


def _words(page: str, user: str) -> list[str]:
    """The rights of a user in the documentation."""
    text = (DOCS / page).read_text(encoding="utf-8")
    (found,) = re.findall(rf"^    ACL SETUSER {user} (.*(?:\n {{8}}.*)*)", text, re.MULTILINE)
    return found.split()


@pytest.fixture
def server(tcp_server):
    crawls = [*_words("reference/settings.md", "winnow"), *_words("guides/learning.md", "winnow")]
    server = tcp_server()
    with Redis.from_url(server.url) as client:
        client.execute_command("ACL", "SETUSER", "winnow", *crawls)
        client.execute_command("ACL", "SETUSER", "learner", *_words("guides/learning.md", "learner"))
    return server


def _url(server, user: str) -> str:
    return server.url.replace("//", f"//{user}:password@")


def test_a_crawl_teaches_with_the_rights_that_are_documented(web, crawl, server):
    urls = web.add_articles(TEACHING_PAGES + 6)
    url = _url(server, "winnow")
    crawled = crawl(
        urls=urls, WINNOW_REDIS_URL=url, WINNOW_REDIS_PREFIX="winnow", WINNOW_LEARN=True, WINNOW_LEARN_PAGES=2
    )
    assert crawled.winnow_stats["winnow/learning/examples"] >= 2
    assert "winnow/redis/failures" not in crawled.winnow_stats


def test_the_script_of_a_full_reservoir_and_a_learner_do_too(server, examples, ignorant, capsys):
    keys = LearningKeys.of("winnow", FEATURE_VERSION)
    with Redis.from_url(_url(server, "winnow")) as client:
        script = Script("learning/take_example").of(client)
        for host, pages in examples.items():
            for number, example in enumerate(pages):
                names = (keys.hosts, keys.sizes, keys.state, keys.examples + host)
                page = page_priority(host, bytes([number]), SALT)
                bounds = (2, 8, 10_000_000, 60)  # pages and hosts go
                script(names, (host, host_priority(host, SALT), page, example, *bounds, keys.examples))
        client.hsetnx(keys.state, "salt", SALT)
        assert client.zcard(keys.hosts) == 8
    with Redis.from_url(server.url) as client:
        client.delete(keys.examples + client.zrange(keys.hosts, 0, 0)[0].decode())  # to be tended
    with Redis.from_url(_url(server, "learner")) as client:
        lease = Lease(client, keys, 60)
        assert lease.take()
        terms = Terms(min_hosts=2, margin=0.0, seed=1, moving=Moving(rate=0.01, steps=150))
        outcome = Learner(client, keys, lease, ignorant, terms, lambda *_: None).learn()
        assert outcome in {"published", "not better"}  # of so few pages, either may come
        published = Published(client, keys)
        card = Card(ignorant.version, "", "", 1, 1, 1, 1, *[0.0] * 8)
        version = published.in_use().version
        assert published.publish(ignorant, card, token=lease.token, compared=version) == "published"
        lease.leave()
    for arguments in (["--status"], ["--rollback"], ["--resume"]):
        assert main(["learn", "--redis-url", _url(server, "learner"), *arguments]) == 0
    assert "7 hosts" in capsys.readouterr().out
