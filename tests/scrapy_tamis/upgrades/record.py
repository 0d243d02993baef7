"""Records what one version of Tamis leaves behind, for the tests of those that follow.

    python -m tests.scrapy_tamis.upgrades.record FOLDER

crawls two made-up hosts with the version that is installed: one until it has settled, whose crawl is stopped before its
end, and one that is still counted. FOLDER gets ``redis.json.gz`` and ``profile.json``.
"""

import base64
import gzip
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from redis import Redis

from scrapy_tamis.commands import main
from scrapy_tamis.storage.embedded import EmbeddedServer
from tests.scrapy_tamis.web import served

PAGES = 24
SETTINGS = {
    "AUTOTHROTTLE_ENABLED": False,
    "CONCURRENT_REQUESTS": 1,
    "TAMIS_STATE_DIR": "state",
    "TAMIS_SETTLE_PAGES": 12,
    "TAMIS_REPORT": "",
}


@contextmanager
def proxy() -> Iterator[str]:
    """The address of a proxy with the pages of both hosts, whose names do not change."""
    with served() as web:
        web.add_articles(PAGES)
        for host in ("stories", "counting"):
            web.pages |= {f"http://{host}.example/{number}": web.pages[f"/{number}"] for number in range(PAGES)}
        yield web.url


def command(folder: Path, *arguments: str, **settings: object) -> list[str]:
    """The command of Scrapy that runs the site spider in a folder, which gets what it takes for that."""
    (folder / "scrapy.cfg").write_text("[settings]\ndefault = scrapy_tamis.project.settings\n")
    options = [word for name, value in {**SETTINGS, **settings}.items() for word in ("-s", f"{name}={value}")]
    return ["crawl", "site", *arguments, *options]


def crawl(folder: Path, proxy: str, *arguments: str, **settings: object) -> None:
    """Run the site spider in a folder."""
    scrapy = [sys.executable, "-m", "scrapy", *command(folder, *arguments, **settings)]
    subprocess.run(scrapy, cwd=folder, env={**os.environ, "http_proxy": proxy}, check=True)


def contents(client: Redis) -> dict[str, str]:
    """All keys of a server with what it dumps of each, in base64."""
    keys = sorted(client.keys())
    return {base64.b64encode(key).decode(): base64.b64encode(client.dump(key)).decode() for key in keys}


def restore(client: Redis, recorded: dict[str, str]) -> None:
    """Put the keys of :func:`contents` into a server."""
    for key, dump in recorded.items():
        client.restore(base64.b64decode(key), 0, base64.b64decode(dump))


def record(folder: Path) -> None:
    """Write a version's state into a folder."""
    folder = folder.resolve()
    with proxy() as address, tempfile.TemporaryDirectory() as temporary:
        there = Path(temporary)
        crawl(there, address, "-a", "url=http://stories.example/0", CLOSESPIDER_ITEMCOUNT=14)
        crawl(there, address, "-a", "url=http://counting.example/0", "-a", "pages=11")
        state = there / ".scrapy" / "state"
        main(["hosts", "--state-dir", str(state), "--export", "stories.example", "-o", str(folder / "profile.json")])
        with EmbeddedServer(state) as embedded, Redis.from_url(embedded.url) as client:
            found = json.dumps(contents(client), indent=1).encode()
    (folder / "redis.json.gz").write_bytes(gzip.compress(found, mtime=0))


if __name__ == "__main__":
    Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
    record(Path(sys.argv[1]))
