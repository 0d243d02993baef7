from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from demo.__main__ import _clear
from demo.hosts import BUILDERS

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    folder = tmp_path_factory.mktemp("demo")
    command = [sys.executable, "-m", "demo", "--folder", str(folder)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=240, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    return run.stdout, folder


def row(output: str, name: str) -> list[str]:
    return next(line.split() for line in output.splitlines() if line.startswith(f" {name} "))


def test_every_host_has_a_row_with_its_pages_and_what_was_cut(demo: tuple[str, Path]) -> None:
    for name in BUILDERS:
        _, url, pages, share, *_ = row(demo[0], name)
        assert url.startswith("http://127.0.0.1:")
        assert int(pages) >= 24
        assert 5 <= int(share.rstrip("%")) <= 80


def test_the_story_that_several_hosts_carry_is_found(demo: tuple[str, Path]) -> None:
    assert "One story in two templates" in demo[0], demo[0]
    # The thread of the forum has replies besides, so the three others are the same, two of them in any order.
    assert 1 <= sum(int(row(demo[0], name)[4]) for name in ("news", "blog", "forum", "council")) <= 2


def test_content_is_kept_and_template_is_cut(demo: tuple[str, Path]) -> None:
    template, content = map(float, row(demo[0], "all")[-2:])
    assert template >= 0.87
    assert content >= 0.91


def test_items_lie_where_the_demo_says_and_have_text_and_no_error(demo: tuple[str, Path]) -> None:
    output, folder = demo
    assert str(folder / "items.jsonl") in output
    items = [json.loads(line) for line in (folder / "items.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(items) == int(row(output, "all")[1])
    assert all(item["status"] in {"cleaned", "empty", "fallback"} for item in items)
    assert sum(item["status"] == "empty" for item in items) == len(BUILDERS), "the empty page of each host"
    assert " ERROR: " not in (folder / "crawl.log").read_text(encoding="utf-8")


def test_a_folder_with_something_else_is_left_alone_and_a_demo_removes_what_demos_made(tmp_path: Path) -> None:
    for name in ("hosts.txt", "results.jsonl"):
        (tmp_path / name).write_text("mine")
    command = [sys.executable, "-m", "demo", "--folder", str(tmp_path)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=240, check=False)
    assert (run.returncode, run.stdout) == (2, "")
    assert "not of a demo" in run.stderr
    assert sorted(file.name for file in tmp_path.iterdir()) == ["hosts.txt", "results.jsonl"]
    (tmp_path / ".demo").touch()
    (tmp_path / "web").mkdir()
    assert _clear(tmp_path)
    assert sorted(file.name for file in tmp_path.iterdir()) == [".demo", "results.jsonl"]
