import http.client
import json
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from scrapy_winnow.inspector.documents import Documents, RulesFile
from scrapy_winnow.inspector.inspector import Inspector
from scrapy_winnow.inspector.server import InspectorServer
from tests.scrapy_winnow.waiting import SECONDS
from winnow import Rules

JSON = {"Content-Type": "application/json"}


def _request(url: str, path: str, body: Any = None, **headers: str) -> tuple[int, bytes]:
    parts = urlsplit(url)
    with closing(http.client.HTTPConnection(parts.netloc, timeout=SECONDS)) as connection:
        sent = {"Host": parts.netloc} | {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request("GET" if body is None else "POST", path, None if body is None else json.dumps(body), sent)
        answer = connection.getresponse()
        return answer.status, answer.read()


def test_the_token_is_needed(page_server: InspectorServer) -> None:
    path = urlsplit(page_server.url).path
    assert _request(page_server.url, path)[0] == 200
    assert _request(page_server.url, "/")[0] == 403
    assert _request(page_server.url, "/guessed/")[0] == 403
    assert _request(page_server.url, "/guessed/state", {}, Content_Type="application/json")[0] == 403


def test_another_host_name_is_refused_whatever_it_resolves_to(page_server: InspectorServer) -> None:
    path = urlsplit(page_server.url).path
    assert _request(page_server.url, path, Host="evil.example")[0] == 403
    assert _request(page_server.url, path, Host=f"localhost:{urlsplit(page_server.url).port}")[0] == 200


def test_requests_come_from_its_own_page_as_json(page_server: InspectorServer) -> None:
    path = urlsplit(page_server.url).path + "state"
    assert _request(page_server.url, path, {}, Content_Type="application/json")[0] == 200
    assert _request(page_server.url, path, {}, Content_Type="application/json", Origin="https://evil.example")[0] == 403
    assert _request(page_server.url, path, {}, Content_Type="text/plain")[0] == 404
    assert _request(page_server.url, path + "s", {}, Content_Type="application/json")[0] == 404


@pytest.mark.parametrize(
    ("what", "body"),
    [
        *(("state", {"penalty": -1}), ("state", {"threshold": "high"}), ("state", {"favor": "both"})),
        *(("state", {"model": "no-such-model"}), ("state", []), ("weights", {"trial": {}, "blocks": [10_000]})),
        ("gold", {"trial": {}, "marks": []}),
    ],
)
def test_bad_requests_get_a_reason(page_server: InspectorServer, what: str, body: Any) -> None:
    path = urlsplit(page_server.url).path + what
    status, answer = _request(page_server.url, path, body, Content_Type="application/json")
    assert status == 400
    assert json.loads(answer)["error"]


def test_a_page_that_does_not_exist_is_refused(site_server: InspectorServer) -> None:
    assert _request(site_server.url, urlsplit(site_server.url).path + "?page=13")[0] == 200
    status, answer = _request(site_server.url, urlsplit(site_server.url).path + "?page=14")
    assert status == 404
    assert "no page 15" in json.loads(answer)["error"]


def test_a_click_writes_a_rule_that_holds_from_then_on(site: Path, tmp_path: Path) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text('[[rules]]  # by hand\nsite = "other.example"\ndrop = "p"')
    inspector = Inspector(Documents(str(site), "https://harbour.example/"), rules=RulesFile(rules))
    with InspectorServer(inspector) as server:
        path = urlsplit(server.url).path
        state = json.loads(_request(server.url, path + "state", {}, Content_Type="application/json")[1])
        section = next(each for each in state["sections"] if each["kind"] == 0)
        body = {"trial": {}, "element": section["element"], "keep": False}
        status, answer = _request(server.url, path + "rule", body, Content_Type="application/json")
    after = json.loads(answer)["state"]
    assert status == 200
    assert len(after["text"]) < len(state["text"])
    written = Rules.read(rules)
    (rule,) = written.of("https://www.harbour.example/1")
    assert f"rule: {rule.selector}" in {each["reason"] for each in after["sections"]}
    assert "# by hand" in rules.read_text()
    assert written.of("https://other.example/")[0].selector == "p"
