"""Records what one version of Winnow leaves behind, for the tests of those that follow.

    python tests/scrapy_winnow/upgrades/record.py FOLDER

crawls two made-up hosts with the version that is installed: one until it has settled, whose crawl is stopped before its
end, and one that is still counted. FOLDER gets ``redis.json.gz``, ``profile.json``, ``items.jsonl`` and ``job/``.
"""

import base64
import gzip
import json
import os
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random

from redis import Redis

from scrapy_winnow.commands import main
from scrapy_winnow.storage.embedded import EmbeddedServer

WORDS = ["wind", "river", "stone", "glass", "paper", "cloud", "salt", "iron", "lemon", "harbour", "winter"]
PAGES = 24
SETTINGS = {
    "AUTOTHROTTLE_ENABLED": False,
    "CONCURRENT_REQUESTS": 1,
    "WINNOW_STATE_DIR": "state",
    "WINNOW_SETTLE_PAGES": 12,
    "WINNOW_REPORT": "",
}


def page(number: int) -> bytes:
    """A page of either host."""
    chance = Random(number)
    text = "".join(f"<p>{' '.join(chance.choice(WORDS) for _ in range(50))}.</p>" for _ in range(4))
    return (
        f"<html><head><title>Story {number}</title></head><body>"
        "<div class=menu><ul><li><a href=/0>Front page</a></li><li><a href=/about>About us</a></li></ul></div>"
        f"<div class=story><h1>Story {number}</h1>{text}</div>"
        f"<p><a href=/{number + 1}>Next story, number {number + 1}</a></p>"
        "<div class=foot><p>Copyright of the harbour news, all rights are reserved.</p></div></body></html>"
    ).encode()


class Handler(BaseHTTPRequestHandler):
    """Answers as a proxy, so that the hosts have names which do not change."""

    def do_GET(self) -> None:
        number = self.path.rpartition("/")[2]
        known = number.isdecimal() and int(number) < PAGES
        body = page(int(number)) if known else b"no such page"
        self.send_response(200 if known else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Keep quiet."""


def crawl(folder: Path, proxy: str, *arguments: str, **settings: object) -> str:
    """Run the site spider in a folder; returns its log."""
    (folder / "scrapy.cfg").write_text("[settings]\ndefault = scrapy_winnow.project.settings\n")
    options = [word for name, value in {**SETTINGS, **settings}.items() for word in ("-s", f"{name}={value}")]
    command = [sys.executable, "-m", "scrapy", "crawl", "site", *arguments, *options]
    environment = {**os.environ, "http_proxy": proxy}
    done = subprocess.run(command, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True, check=True)
    return done.stderr


def contents(client: Redis) -> dict[str, tuple[str, object]]:
    """All keys of a server with their types and values, in base64."""

    def plain(value: object) -> object:
        if isinstance(value, bytes):
            return base64.b64encode(value).decode()
        if isinstance(value, dict):
            return [[plain(name), plain(one)] for name, one in value.items()]
        return [plain(one) for one in value] if isinstance(value, list | tuple) else value

    readers = {
        b"string": client.get,
        b"hash": client.hgetall,
        b"list": lambda key: client.lrange(key, 0, -1),
        b"zset": lambda key: client.zrange(key, 0, -1, withscores=True),
        b"stream": client.xrange,
    }
    kinds = {key: client.type(key) for key in sorted(client.keys())}
    return {plain(key): (kind.decode(), plain(readers[kind](key))) for key, kind in kinds.items()}


def restore(client: Redis, recorded: dict[str, tuple[str, object]]) -> None:
    """Put the keys of :func:`contents` into a server."""
    raw = base64.b64decode
    for name, (kind, value) in recorded.items():
        key = raw(name)
        if kind == "string":
            client.set(key, raw(value))
        elif kind == "hash":
            client.hset(key, mapping={raw(field): raw(one) for field, one in value})
        elif kind == "list":
            client.rpush(key, *map(raw, value))
        elif kind == "zset":
            client.zadd(key, {raw(member): score for member, score in value})
        else:
            for entry, fields in value:
                client.xadd(key, {raw(field): raw(one) for field, one in fields}, id=raw(entry))


def record(folder: Path) -> None:
    """Write a version's state into a folder."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    proxy = f"http://127.0.0.1:{server.server_port}"
    folder = folder.resolve()
    with tempfile.TemporaryDirectory() as temporary:
        there = Path(temporary)
        stopped = {"JOBDIR": folder / "job", "CLOSESPIDER_ITEMCOUNT": 14}
        crawl(there, proxy, "-a", "url=http://stories.example/0", "-O", str(folder / "items.jsonl"), **stopped)
        crawl(there, proxy, "-a", "url=http://counting.example/0", "-a", "pages=11")
        state = there / ".scrapy" / "state"
        main(["hosts", "--state-dir", str(state), "--export", "stories.example", "-o", str(folder / "profile.json")])
        with EmbeddedServer(state) as embedded, Redis.from_url(embedded.url) as client:
            found = json.dumps(contents(client), indent=1).encode()
    (folder / "redis.json.gz").write_bytes(gzip.compress(found, mtime=0))


if __name__ == "__main__":
    Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
    record(Path(sys.argv[1]))
