"""The file that ``winnow dedup --out`` copies verdicts to: each once, whatever was cut off or killed."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scrapy_winnow.duplicates.index import IndexOptions
from scrapy_winnow.duplicates.verdict_file import VerdictFile, VerdictFileError
from scrapy_winnow.duplicates.worker import Worker
from tests.scrapy_winnow.duplicates.documents import story, url
from winnow.duplicates.documents import document_id


def _lines(path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


async def _decided(client, stream, options, numbers) -> Worker:
    worker = Worker(client, options)
    worker.join()
    for number in numbers:
        await stream.add(url(number), story(number // 2), "model-1")
    while worker.decide().taken:
        pass
    return worker


async def test_a_line_says_all_of_a_verdict(client, stream, options, tmp_path):
    worker = await _decided(client, stream, options, range(2))
    await stream.add(url("empty"), story(0)[:0], "model-1")
    while worker.decide().taken:
        pass
    with VerdictFile(tmp_path / "verdicts.jsonl") as file:
        assert file.copy(client, worker.verdicts) == (3, False)
    original, copy, empty = _lines(tmp_path / "verdicts.jsonl")
    assert list(original) == [
        *("verdict", "entry", "id", "url", "host", "label", "duplicate_of", "resemblance", "cluster")
    ]
    assert original["id"] == original["cluster"] == copy["cluster"] == document_id(url(0)).hex()
    assert (original["url"], original["host"], original["label"]) == (url(0), "0.example", "model-1")
    assert (original["duplicate_of"], original["resemblance"]) == (None, None)
    assert (copy["duplicate_of"], copy["resemblance"]) == (url(0), 1.0)
    assert (empty["duplicate_of"], empty["resemblance"], empty["cluster"]) == (None, None, None)


@given(cuts=st.lists(st.integers(0, 3000), max_size=4))
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_file_that_was_cut_anywhere_is_completed_without_a_line_twice(client, prefix, tmp_path, cuts):
    options = IndexOptions(prefix, cap=1000)
    key, path = options.key("verdicts"), tmp_path / "verdicts.jsonl"
    path.unlink(missing_ok=True)
    if not client.exists(key):
        for number in range(12):
            client.xadd(key, {"entry": number, "url": url(number), "resemblance": "", "cluster": "0" * 16})
    for cut in cuts:
        with VerdictFile(path) as file:
            file.copy(client, key)
        with path.open("r+b") as opened:
            opened.truncate(min(cut, path.stat().st_size))
    with VerdictFile(path) as file:
        file.copy(client, key)
    assert [row["entry"] for row in _lines(path)] == [str(number) for number in range(12)]


async def test_verdicts_that_are_gone_before_they_are_copied_are_noticed(client, stream, options, tmp_path):
    worker = await _decided(client, stream, options, range(6))
    with VerdictFile(tmp_path / "verdicts.jsonl") as file:
        assert file.copy(client, worker.verdicts) == (6, False)
        assert file.copy(client, worker.verdicts) == (0, False)
        client.xtrim(worker.verdicts, maxlen=0)
        assert file.copy(client, worker.verdicts) == (0, False)
        await _decided(client, stream, options, range(6, 8))
        assert file.copy(client, worker.verdicts) == (2, True)


def test_a_file_of_something_else_or_in_use_is_left_alone(tmp_path):
    other = tmp_path / "notes.txt"
    for text in ("my notes\n", "[1, 2]\n", '{"url": "x"}\n', "x" * 70_000):
        other.write_text(text)
        with pytest.raises(VerdictFileError, match="something else"):
            VerdictFile(other)
        assert other.read_text() == text
    with VerdictFile(tmp_path / "verdicts.jsonl"), pytest.raises(VerdictFileError, match="another process"):
        VerdictFile(tmp_path / "verdicts.jsonl")
