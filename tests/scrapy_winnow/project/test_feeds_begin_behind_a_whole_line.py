"""Items that are appended follow whole ones: half a line, of a machine that died, is cut off first."""

import pytest

from scrapy_winnow.project.feeds import UnbufferedFileStorage


@pytest.mark.parametrize(
    ("before", "kept"),
    [
        (b'{"a": 1}\n{"a": 2}\n', b'{"a": 1}\n{"a": 2}\n'),
        (b'{"a": 1}\n{"a": "ha', b'{"a": 1}\n'),
        (b'{"a": "' + b"x" * 3_000_000, b""),
        (b'{"a": 1}\n{"a": "' + b"x" * 3_000_000, b'{"a": 1}\n'),
        (b"", b""),
    ],
)
def test_half_a_line_is_cut_off(tmp_path, before, kept):
    file = tmp_path / "items.jsonl"
    file.write_bytes(before)
    with UnbufferedFileStorage(str(file), feed_options={"overwrite": False}).open(None) as stream:
        stream.write(b'{"a": 3}\n')
    assert file.read_bytes() == kept + b'{"a": 3}\n'


def test_other_files_are_appended_to_as_they_are(tmp_path):
    file = tmp_path / "items.csv"
    file.write_bytes(b"a\n1")
    with UnbufferedFileStorage(str(file), feed_options={"overwrite": False}).open(None) as stream:
        stream.write(b"\n2\n")
    assert file.read_bytes() == b"a\n1\n2\n"
