import errno
import json
import os
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from scrapy_tamis.inspector.documents import Documents, RulesFile
from scrapy_tamis.inspector.inspector import Inspector
from scrapy_tamis.inspector.server import InspectorServer
from tamis import Rules
from tests.scrapy_tamis.inspector.browsing import request


def test_the_token_and_the_name_of_the_host_are_needed_whatever_it_resolves_to(page_server: InspectorServer) -> None:
    assert request(page_server.url, "")[0] == 200
    assert request(page_server.url, "", Host=f"localhost:{urlsplit(page_server.url).port}")[0] == 200
    assert request(page_server.url, "", Host="evil.example")[0] == 403
    assert request(page_server.url, "/")[0] == 403
    assert request(page_server.url, "/guessed/")[0] == 403
    assert request(page_server.url, "/guessed/state", {})[0] == 403


def test_requests_come_from_its_own_page_as_json(page_server: InspectorServer) -> None:
    assert request(page_server.url, "state", {})[0] == 200
    assert request(page_server.url, "state", {}, Origin="https://evil.example")[0] == 403
    assert request(page_server.url, "state", {}, Content_Type="text/plain")[0] == 404
    assert request(page_server.url, "states", {})[0] == 404


@pytest.mark.parametrize(
    ("what", "body"),
    [
        *(("state", {"threshold": "high"}), ("state", {"favor": "both"}), ("state", {"model": "no-such-model"})),
        *(("state", []), ("weights", {"trial": {}, "blocks": [10_000]}), ("gold", {"trial": {}, "marks": []})),
    ],
)
def test_bad_requests_get_a_reason(page_server: InspectorServer, what: str, body: Any) -> None:
    status, answer = request(page_server.url, what, body)
    assert status == 400
    assert json.loads(answer)["error"]


def test_a_page_that_does_not_exist_is_refused(site_server: InspectorServer) -> None:
    assert request(site_server.url, "?page=13")[0] == 200
    for number, said in (("14", b"there is no page 15"), ("9" * 5_000, b"limit")):
        status, answer = request(site_server.url, f"?page={number}")
        assert status == 400
        assert said in answer


def test_a_click_writes_a_rule_that_holds_from_then_on(site: Path, tmp_path: Path) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text('[[rules]]  # by hand\nsite = "other.example"\ndrop = "p"')
    inspector = Inspector(Documents(str(site), "https://harbour.example/"), rules=RulesFile(rules))
    with InspectorServer(inspector) as server:
        state = json.loads(request(server.url, "state", {})[1])
        section = next(each for each in state["sections"] if each["kind"] == 0)
        status, answer = request(server.url, "rule", {"trial": {}, "element": section["element"], "keep": False})
    after = json.loads(answer)["state"]
    assert status == 200
    assert len(after["text"]) < len(state["text"])
    written = Rules.read(rules)
    (rule,) = written.for_url("https://www.harbour.example/1")
    assert f"rule: {rule.selector}" in {each["reason"] for each in after["sections"]}
    assert "# by hand" in rules.read_text()
    assert written.for_url("https://other.example/")[0].selector == "p"


@pytest.mark.parametrize(
    ("name", "text", "site"),
    [("a.json", '{"rules": [{"drop": "p"}]}', "harbour.example"), ("b.json", '[{"drop": "p"}]', None)],
)
def test_rules_in_json_are_added_to_those_that_are_there(
    tmp_path: Path, name: str, text: str, site: str | None
) -> None:
    file = tmp_path / name
    file.write_text(text)
    RulesFile(file).add(site, "div", keep=True)
    assert [rule.selector for rule in Rules.read(file).for_url("https://harbour.example/")] == ["p", "div"]


@pytest.mark.parametrize(("text", "site"), [('rules = [{drop = "p"}]', None), ('[[rules]]\ndrop = "p"', "::1")])
def test_a_rule_that_would_break_the_file_is_not_written(tmp_path: Path, text: str, site: str | None) -> None:
    file = tmp_path / "rules.toml"
    file.write_text(text)
    with pytest.raises(ValueError, match="rules"):
        RulesFile(file).add(site, "div", keep=True)
    assert file.read_text() == text
    assert list(tmp_path.iterdir()) == [file]


def test_rules_stay_as_they_are_when_the_disk_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: int) -> None:
        raise OSError(errno.ENOSPC, "no space left on device")

    file = tmp_path / "rules.toml"
    file.write_text('[[rules]]\ndrop = "p"')
    rules = RulesFile(file)
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="no space left"):
        rules.add(None, "div", keep=True)
    assert file.read_text() == '[[rules]]\ndrop = "p"'
    assert [rule.selector for rule in rules.rules.for_url(None)] == ["p"]
