from functools import cache
from urllib.parse import urlsplit

import pytest

from demo.hosts import BUILDERS
from demo.hosts.parts import DISALLOWED, MISSING
from demo.server import DemoWeb
from tests.demo.browsing import Answer, crawl, get

RULES = (DISALLOWED, "/login", "/cart")


@cache
def crawled(web: DemoWeb, name: str) -> dict[str, Answer]:
    return crawl(web.urls[name], RULES)


@pytest.mark.parametrize("name", BUILDERS)
def test_every_page_of_a_host_is_reachable_from_its_root(web: DemoWeb, name: str) -> None:
    found = {target(url) for url in crawled(web, name)}
    assert {path for path in web.pages(name) if not path.startswith(DISALLOWED) and path != "/404"} <= found


@pytest.mark.parametrize("name", BUILDERS)
def test_every_host_has_forty_articles_and_listings_besides(web: DemoWeb, name: str) -> None:
    kinds = [truth.kind for truth in web.pages(name).values()]
    assert kinds.count("article") >= 40
    assert kinds.count("listing") >= 5


@pytest.mark.parametrize("name", BUILDERS)
def test_only_the_one_dead_link_is_dead(web: DemoWeb, name: str) -> None:
    dead = [target(url) for url, answer in crawled(web, name).items() if answer.status == 404]
    assert dead == [MISSING]


@pytest.mark.parametrize("name", BUILDERS)
def test_a_disallowed_path_is_linked_and_served_and_the_server_knows_who_asked(web: DemoWeb, name: str) -> None:
    forbidden = f"{web.urls[name].rstrip('/')}{DISALLOWED}drafts"
    assert any(
        forbidden in answer.links() for answer in crawled(web, name).values() if answer.is_page() and answer.body
    )
    assert f"Disallow: {DISALLOWED}" in get(web.urls[name] + "robots.txt").body.decode()
    assert forbidden not in crawled(web, name)
    before = web.requests(name).count(f"{DISALLOWED}drafts")  # by other tests of the same web
    assert get(forbidden).status == 200
    assert web.requests(name).count(f"{DISALLOWED}drafts") == before + 1


def target(url: str) -> str:
    parts = urlsplit(url)
    return parts.path + (f"?{parts.query}" if parts.query else "")
