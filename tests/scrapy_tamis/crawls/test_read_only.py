"""A look at a page with Scrapy's own commands uses what Redis knows and writes nothing."""

import json

import pytest

SPIDER = """
import scrapy


class LookSpider(scrapy.Spider):
    name = "look"

    def parse(self, response):
        yield {"url": response.url, "html": response.text}
"""


@pytest.fixture
def project(tmp_path, redis_url, prefix):
    """A project of somebody's own, with the add-on and nothing else."""
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = looking.settings\n")
    package = tmp_path / "looking"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "settings.py").write_text(
        "SPIDER_MODULES = ['looking.spider']\n"
        "ADDONS = {'scrapy_tamis.Addon': 500}\n"
        "TELNETCONSOLE_ENABLED = False\n"
        f"TAMIS_REDIS_URL = {redis_url!r}\n"
        f"TAMIS_REDIS_PREFIX = {prefix!r}\n"
        "TAMIS_REDIS_TIMEOUT = 10\n"
    )
    (package / "spider.py").write_text(SPIDER)
    return tmp_path


@pytest.fixture
def scrapy(forks, project):
    def run(*arguments):
        done = forks.scrapy(*arguments, folder=project)
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr, done.stderr
        return done

    return run


async def _keys(connection, prefix):
    return await connection.call(lambda client: client.keys(f"{prefix}:*"))


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["shell", "-c", "response.status"], id="shell"),
        pytest.param(["parse", "--pipelines", "--spider", "look"], id="parse"),
    ],
)
async def test_looking_at_a_page_writes_nothing(web, scrapy, connection, prefix, arguments):
    (url,) = web.add_articles(1)
    done = scrapy(*arguments, url)
    assert "scrapy_tamis.middleware.CountNodes" in done.stderr
    assert await _keys(connection, prefix) == []


async def test_a_page_parsed_by_hand_is_cleaned_with_the_counts_of_the_crawl(web, project, scrapy, connection, prefix):
    urls = web.add_articles(20)
    (project / "looking" / "spider.py").write_text(
        SPIDER + f"\n    async def start(self):\n"
        f"        for number in range(20):\n            yield scrapy.Request('{web.url}/' + str(number))\n"
    )
    scrapy("crawl", "look", "-O", "items.json")
    counted = sorted(await _keys(connection, prefix))
    done = scrapy("parse", "--pipelines", "--spider", "look", "--nolinks", "--nocolour", urls[0])
    assert "'label_source': 'site'" in done.stdout, done.stderr
    assert "'evidence_pages': 20" in done.stdout
    assert sorted(await _keys(connection, prefix)) == counted
    assert len(json.loads((project / "items.json").read_text())) == 20


async def test_looking_does_not_start_a_private_server_without_data(web, project, scrapy):
    (url,) = web.add_articles(1)
    scrapy("fetch", "-s", "TAMIS_REDIS_URL=", url)
    assert not (project / ".scrapy" / "tamis").exists()
