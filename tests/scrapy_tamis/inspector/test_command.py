import http.client
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from scrapy_tamis.commands import main
from tamis import load_model
from tests.scrapy_tamis.inspector.browsing import story
from tests.scrapy_tamis.waiting import SECONDS
from tests.scrapy_tamis.web import Web


def test_the_server_prints_its_address_and_ends_when_interrupted(site: Path) -> None:
    code = """import signal, sys; from scrapy_tamis.commands import main
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may ignore it
sys.exit(main(sys.argv[1:]))"""
    command = [sys.executable, "-c", code, "inspect", str(site), "--page", "story-01.html", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/[\w-]{32}/\?page=1", address)
        parts = urlsplit(address)
        connection = http.client.HTTPConnection(parts.netloc, timeout=SECONDS)
        connection.request("GET", f"{parts.path}?{parts.query}")
        answer = connection.getresponse()
        assert "Story 1 of the harbour" in answer.read().decode()
        connection.close()
        process.send_signal(signal.SIGINT)
        _, message = process.communicate(timeout=SECONDS)
    assert process.returncode == 130
    assert message == ""


def test_a_page_of_the_web_is_fetched_with_its_charset(web: Web, tmp_path: Path) -> None:
    page = f"<title>Λιμάνι</title>{story(1)}".encode("iso-8859-7", "replace")
    url, out = web.add("/story", page, Content_Type="text/html; charset=iso-8859-7"), tmp_path / "out.html"
    assert main(["inspect", url, "-o", str(out)]) == 0
    assert main(["inspect", f"{web.url}/gone", "-o", str(tmp_path / "none.html")]) == 2
    assert "<title>Λιμάνι · Tamis</title>" in out.read_text(encoding="utf-8")
    assert not (tmp_path / "none.html").exists()


def test_a_file_shows_the_site_the_model_and_the_ways_to_cut_that_were_asked_for(site: Path, tmp_path: Path) -> None:
    model, out = tmp_path / "other.npz", tmp_path / "page.html"
    load_model().save(model)
    how = ["--site", str(site), "--pages", "3", "--model", str(model), "--favor", "recall", "--scope", "page"]
    assert main(["inspect", str(site / "story-00.html"), *how, "-o", str(out)]) == 0
    shown = out.read_text(encoding="utf-8")
    assert f'"trial":{{"model":"{model}","threshold":null,"pages":3,"favor":"recall","scope":"page"}}' in shown
    assert "other.npz</option>" in shown


def test_a_name_that_is_empty_is_not_that_of_the_folder_here(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("inspect", "compare"):
        assert main([command, "", "--no-browser"]) == 2
        assert "no such file or directory (its name is empty)" in capsys.readouterr().err


def test_a_page_whose_name_is_no_text_is_shown(tmp_path: Path) -> None:
    odd = os.fsdecode(b"\xff.html")
    (tmp_path / odd).write_text(story(3), encoding="utf-8")
    assert main(["inspect", str(tmp_path), "--page", odd, "-o", str(tmp_path / "out.html")]) == 0
    assert "Story 3 of the harbour" in (tmp_path / "out.html").read_text(encoding="utf-8")
