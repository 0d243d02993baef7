"""``winnow dedup`` marks or drops near-duplicates in files, with an index in memory or that of the crawls."""

import asyncio
import gzip
import json

import pytest

from scrapy_winnow.commands import main
from scrapy_winnow.storage.connection import Connection
from scrapy_winnow.storage.index import DuplicateIndex
from winnow.duplicates import shingles

STORY = " ".join(f"word{number}" for number in range(40))
OTHER = " ".join(f"other{number}" for number in range(40))


@pytest.fixture
def items(tmp_path):
    """A file of items, two of which tell one story."""
    file = tmp_path / "items.jsonl"
    texts = {"a": STORY, "b": OTHER, "c": f"{STORY} and more", "d": ""}
    rows = [{"url": f"http://{name}.example/", "text": text, "title": "Ü"} for name, text in texts.items()]
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return file


def _rows(text):
    return {row["url"][7]: row for row in map(json.loads, text.splitlines())}


def test_lines_come_out_in_their_order_with_three_more_fields(items, tmp_path, capsys):
    out = tmp_path / "marked.jsonl"
    assert main(["dedup", str(items), "-o", str(out)]) == 0
    assert capsys.readouterr().err == "winnow: 4 documents, 1 near-duplicate\n"
    rows = _rows(out.read_text())
    assert list(rows) == ["a", "b", "c", "d"]
    assert {name: row["duplicate_of"] for name, row in rows.items()} == dict.fromkeys("abd") | {
        "c": "http://a.example/"
    }
    assert rows["c"]["resemblance"] > 0.5
    assert rows["a"]["cluster"] == rows["c"]["cluster"] != rows["b"]["cluster"]
    assert (rows["d"]["cluster"], rows["d"]["title"]) == (None, "Ü")


def test_near_duplicates_are_dropped_over_several_files(items, tmp_path, capsys):
    again = items.read_text().replace("example", "elsewhere") + "no JSON\n[1]\n"
    (tmp_path / "again.jsonl.gz").write_bytes(gzip.compress(again.encode()))
    assert main(["dedup", str(items), str(tmp_path / "again.jsonl.gz"), "--drop", "--sketch", "64"]) == 1
    output = capsys.readouterr()
    assert [row["url"] for row in map(json.loads, output.out.splitlines())] == [
        "http://a.example/",
        "http://b.example/",
        "http://d.example/",
        "http://d.elsewhere/",
    ]
    assert output.err == "winnow: 8 documents, 4 near-duplicates, 4 of them dropped; not documents: 2 lines\n"


async def _enter(redis_url, prefix):
    connection = Connection(redis_url, timeout=10)
    await DuplicateIndex(connection, prefix).find("http://crawled.example/", shingles(STORY))
    await connection.close()


def test_the_index_of_the_crawls_is_used_and_a_second_run_gives_the_same_verdicts(items, redis_url, prefix, capsys):
    asyncio.run(_enter(redis_url, prefix))
    copy = items.with_name("copy.jsonl")
    copy.write_text(json.dumps({"address": "http://copy.example/", "body": STORY}))
    fields = ["--url-field", "address", "--text-field", "body"]
    assert main(["dedup", str(copy), *fields, "--redis-url", redis_url, "--prefix", prefix]) == 0
    assert json.loads(capsys.readouterr().out)["duplicate_of"] == "http://crawled.example/"
    for _ in range(2):
        assert main(["dedup", str(items), "--redis-url", redis_url, "--prefix", prefix]) == 0
        assert _rows(capsys.readouterr().out)["c"]["duplicate_of"] == "http://crawled.example/"
