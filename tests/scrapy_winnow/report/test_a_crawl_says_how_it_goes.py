import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

CRAWL = Path(__file__).parent.parent / "crawl_process.py"
ALONE = {"WINNOW_SITE_EVIDENCE": False, "WINNOW_DUPLICATES": False}


def in_terminal(folder: Path, *crawls: dict[str, Any]) -> str:
    """Crawl with standard error in a terminal, and return what was written there."""
    plan = json.dumps({"out": str(folder / "crawled.json"), "crawls": crawls})
    terminal, other = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "200", "LINES": "50"}
    with subprocess.Popen([sys.executable, CRAWL, plan], stderr=other, cwd=folder, env=environment) as process:
        os.close(other)
        written = b""
        try:
            while part := os.read(terminal, 65_536):
                written += part
        except OSError:  # a terminal whose other end is closed
            pass
        assert process.wait(240) == 0, written.decode()
    os.close(terminal)
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", written.decode())


def test_in_a_terminal_each_crawl_that_wants_one_has_a_line_below_the_log(web: Any, tmp_path: Path) -> None:
    urls = web.add_articles(6)
    crawls = [{"settings": ALONE, "urls": urls[:number]} for number in (2, 4)]
    silent = {"settings": {**ALONE, "WINNOW_PROGRESS": False}, "urls": urls}
    said = in_terminal(tmp_path, *crawls, silent)
    for number in (2, 4):
        assert re.search(rf"planned  0:\d\d · {number} pages, [\d.]+/s · {number} cleaned · \d+% cut", said)
    assert "· 6 pages, " not in said  # more than the others ever come to, on their way or at their end
    assert said.count("Spider closed (finished)") == 3
