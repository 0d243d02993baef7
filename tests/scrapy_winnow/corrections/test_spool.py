"""Pages on disk: they come back as they were, and what a killed crawl has left is swept up."""

import datetime
import random
import signal
import subprocess
import sys
from decimal import Decimal

from scrapy_winnow.corrections.plain_values import packed, unpacked
from scrapy_winnow.corrections.spool import Spool, SpooledPage

HOLDS = """
import sys
from pathlib import Path
from scrapy_winnow.corrections.spool import Spool
spool = Spool(Path(sys.argv[1]), 1_000_000)
print(flush=True)
sys.stdin.read()
"""


def test_pages_come_back_as_they_were(tmp_path):
    pages = [
        SpooledPage("http://a.example/\udc80", "text \udcff", b"12345678", b'{"a": 1}'),
        SpooledPage("", b"\x00\xff", b""),
    ]
    with Spool(tmp_path, 1_000) as spool:
        assert all(spool.put("a", page) for page in pages)
        assert not spool.put("a", SpooledPage("x", random.Random(1).randbytes(1_000), b""))
        assert [spool.take("a"), spool.take("a"), spool.take("a")] == [*pages, None]


def test_what_a_killed_crawl_has_left_is_swept_up_and_what_is_in_use_is_not(tmp_path):
    def start():
        process = subprocess.Popen(
            [sys.executable, "-c", HOLDS, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        process.stdout.readline()
        return process

    alive, killed = start(), start()
    assert len(list(tmp_path.glob("spool-*"))) == 2
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    with Spool(tmp_path, 1_000):
        assert len(list(tmp_path.glob("spool-*"))) == 2
    alive.communicate()
    assert not list(tmp_path.glob("spool-*"))


def test_fields_of_common_types_come_back_as_they_were():
    fields = {
        "text": "\udc80 ü",
        "numbers": [1, 2.5, None, True],
        "nested": {"when": datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.UTC), "price": Decimal("1.10")},
        "day": datetime.date(2026, 1, 2),
        "length": datetime.timedelta(seconds=3),
        "raw": b"\x00\xff",
        "tags": {"a"},
        "like ours": {"__winnow_type__": "nobody", "value": 1},
    }
    data, left_out = packed({**fields, "odd": object(), "loop": [[object()]]})
    assert unpacked(data) == fields
    assert left_out == ["odd", "loop"]
