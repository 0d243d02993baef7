"""``tamis dedup`` marks or drops near-duplicates in files."""

import gzip
import json
import os

import pytest

from scrapy_tamis.commands import main

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


def test_lines_come_out_in_their_order_with_two_more_fields(items, tmp_path, capsys):
    out = tmp_path / "marked.jsonl"
    assert main(["dedup", str(items), "-o", str(out)]) == 0
    assert capsys.readouterr().err == "tamis: 4 documents, 1 near-duplicate\n"
    rows = _rows(out.read_text())
    assert list(rows) == ["a", "b", "c", "d"]
    assert {name: row["duplicate_of"] for name, row in rows.items()} == dict.fromkeys("abd") | {
        "c": "http://a.example/"
    }
    assert rows["c"]["resemblance"] > 0.9
    assert (rows["a"]["resemblance"], rows["d"]["resemblance"], rows["d"]["title"]) == (None, None, "Ü")


def test_the_array_of_a_json_feed_is_read_as_well_and_a_broken_one_is_named(items, tmp_path, capsys):
    array = tmp_path / "items.json"
    array.write_text(f"[\n{items.read_text().strip().replace(chr(10), ',' + chr(10))}\n]")
    assert main(["dedup", str(array)]) == 0
    assert list(_rows(capsys.readouterr().out)) == ["a", "b", "c", "d"]
    array.write_text(array.read_text()[:-30])
    assert main(["dedup", str(array)]) == 2
    assert f"{array}: " in capsys.readouterr().err


def test_near_duplicates_are_dropped_over_several_files(items, tmp_path, capsys):
    again = items.read_text().replace("example", "elsewhere") + "no JSON\n[1]\n"
    (tmp_path / "again.jsonl.gz").write_bytes(gzip.compress(again.encode()))
    assert main(["dedup", str(items), str(tmp_path / "again.jsonl.gz"), "--drop"]) == 1
    output = capsys.readouterr()
    assert [row["url"] for row in map(json.loads, output.out.splitlines())] == [
        "http://a.example/",
        "http://b.example/",
        "http://d.example/",
        "http://d.elsewhere/",
    ]
    assert output.err == "tamis: 8 documents, 4 near-duplicates, 4 of them dropped; not documents: 2 lines\n"


def test_copies_of_fewer_than_thirty_words_and_those_with_text_of_their_own_are_not_dropped(items, capsys):
    texts = STORY[: STORY.index("word29")], STORY, f"{STORY} {OTHER}"
    rows = [{"url": f"http://{place}.example/", "text": text} for place, text in enumerate([texts[0], *texts])]
    items.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    assert main(["dedup", str(items), "--drop"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 4


def test_texts_and_addresses_may_have_other_names(items, tmp_path, capsys):
    items.write_text(items.read_text().replace('"url"', '"address"').replace('"text"', '"body"'))
    assert main(["dedup", str(items), "--url-field", "address", "--text-field", "body"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[2])["duplicate_of"] == "http://a.example/"


def test_half_a_character_is_written_as_a_question_mark(items, capsys):
    items.write_text(json.dumps({"url": "http://a.example/", "text": f"\ud83c {STORY}"}))
    assert main(["dedup", str(items), "-o", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["text"] == f"? {STORY}"


def test_an_output_that_is_no_file_stays_what_it_is_and_half_a_file_goes(items, tmp_path):
    os.mkfifo(pipe := tmp_path / "pipe")
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    assert main(["dedup", str(items), "-o", str(pipe)]) == 0
    assert os.read(reader, 1 << 16).count(b"\n") == 4
    os.close(reader)
    assert pipe.is_fifo()
    assert main(["dedup", str(items), "absent.jsonl", "-o", str(tmp_path / "out.jsonl")]) == 2
    assert sorted(file.name for file in tmp_path.iterdir()) == ["items.jsonl", "pipe"]
