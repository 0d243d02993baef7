import json
import re
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page as Tab
from playwright.sync_api import expect

from scrapy_tamis.commands import main
from scrapy_tamis.inspector import comparison
from scrapy_tamis.inspector.comparison import Comparison, find_extractors, missing_peers, whole_text
from scrapy_tamis.inspector.documents import Documents, LinesFile
from scrapy_tamis.inspector.server import InspectorServer
from tamis import load_model
from tests.scrapy_tamis.inspector.browsing import request, story


def _comparison(site: Path, votes: Path, **extractors: Any) -> Comparison:
    everyone = find_extractors(load_model())[0] | extractors
    return Comparison(Documents(str(site)), everyone, LinesFile(votes, "page", "vote"), blind=bool(extractors))


def test_votes_on_pages_whose_names_are_no_text_are_kept(tmp_path: Path) -> None:
    LinesFile(tmp_path / "votes.jsonl", "page", "vote").write({"page": "caf\udce9.html", "vote": "tamis"})
    assert list(LinesFile(tmp_path / "votes.jsonl", "page", "vote").rows) == ["caf?.html"]


def test_texts_are_side_by_side_with_differing_words_marked_and_votes_are_kept(
    site: Path, tmp_path: Path, tab: Tab
) -> None:
    votes = tmp_path / "votes.jsonl"
    comparison = _comparison(site, votes)
    with InspectorServer(comparison) as server:
        tab.goto(server.url)
        names = tab.locator(".column .name").all_text_contents()
        assert names[:2] == ["tamis", "trafilatura"]
        expect(tab.locator(".column").first.locator("mark.none").first).to_contain_text("Home")
        for colours in ("light", "dark"):
            tab.emulate_media(color_scheme=colours)
            found = Axe().run(tab, options={"runOnly": ["wcag2a", "wcag2aa", "best-practice"]})
            assert found.response["violations"] == []
        tab.keyboard.press("2")
        expect(tab.locator("#notice")).to_have_text("Votes: trafilatura 1")
        tab.click("button[data-vote='1']")
        expect(tab.locator("button[data-vote='1']")).to_have_attribute("aria-pressed", "true")
        tab.keyboard.press("]")
        expect(tab.locator("#title")).to_have_text("story-01.html")
        tab.keyboard.press("0")
        expect(tab.locator("#notice")).to_have_text("Votes: tamis 1, none is better 1")
    rows = [json.loads(line) for line in votes.read_text().splitlines()]
    assert [row["vote"] for row in rows] == ["tamis", "none is better"]
    assert rows[0]["page"] == "story-00.html"
    assert rows[0]["between"] == names
    assert _comparison(site, votes).tally() == comparison.tally()


def test_a_blind_comparison_names_the_texts_after_the_vote(site: Path, tmp_path: Path) -> None:
    def failing(html: str, url: str | None) -> str:
        raise RuntimeError("cannot <read> this")

    with InspectorServer(_comparison(site, tmp_path / "votes.jsonl", failing=failing)) as server:
        page = request(server.url, "?page=3")[1].decode()
        assert "trafilatura" not in page
        assert "RuntimeError: cannot &lt;read&gt; this" in page
        assert request(server.url, "vote?page=3", {"vote": 1})[0] == 200
        page = request(server.url, "?page=3")[1].decode()
        names = re.findall('<span class="name">(.*?)</span>', page)
        assert set(names) >= {"tamis", "trafilatura", "failing"}
        assert f"Votes: {names[0]} 1</p>" in page
        assert request(server.url, "vote?page=3", {"vote": 9})[0] == 400
        assert request(server.url, "state", {})[0] == 404
        assert request(server.url, "?page=99")[0] == 400


def test_the_terminal_has_a_table_for_each_page_that_can_be_read(
    site: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for page in site.iterdir():
        (tmp_path / page.name).symlink_to(page)
    (tmp_path / "empty.html").touch()
    assert main(["compare", str(tmp_path), "--site", "--terminal"]) == 1
    out, err = capsys.readouterr()
    assert out.count("story-") == 14
    assert "empty.html: is empty" in err
    assert re.search(r"all pages\n +words +only here +ms\ntamis +[\d,]+ +\d+ +[\d.]+\ntrafilatura ", out)
    assert all(name in err for name in missing_peers())
    assert main(["compare", str(site / "none"), "--terminal"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "none: no such file or directory" in err
    (tmp_path / "folder").mkdir()
    assert main(["compare", str(tmp_path / "folder"), "--terminal"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "folder: holds no HTML files" in err
    votes = tmp_path / "votes.jsonl"
    votes.write_text("{}")
    assert main(["compare", str(site), "--votes", str(votes), "--terminal"]) == 2
    assert f"--votes {votes}: line 1 is not a JSON object" in capsys.readouterr().err


def test_an_extractor_that_fails_at_once_is_left_out_with_its_reason(
    site: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_html: str, _url: str | None) -> str:
        raise ImportError("No lxml.\nInstall it.")

    monkeypatch.setitem(comparison._PEERS, "trafilatura", ("json", fail))
    assert main(["compare", str(site), "--terminal"]) == 0
    out, err = capsys.readouterr()
    assert "trafilatura" not in out
    assert err.count("tamis: not compared with trafilatura, which fails: ImportError: No lxml. Install it.\n") == 1


def test_all_text_of_a_page_above_the_limits_is_shown() -> None:
    assert "In report 3" in whole_text(story(3).replace("</footer>", "<i></i>" * 110_000))
