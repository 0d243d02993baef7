import http.client
import json
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.scrapy_winnow.inspector.browsing import inspected
from tests.scrapy_winnow.waiting import SECONDS

JSON = {"Content-Type": "application/json"}


def _ask(url: str, path: str, body: Any = None, **headers: str) -> tuple[int, bytes]:
    parts = urlsplit(url)
    with closing(http.client.HTTPConnection(parts.netloc, timeout=SECONDS)) as connection:
        sent = {"Host": parts.netloc} | {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request("GET" if body is None else "POST", path, None if body is None else json.dumps(body), sent)
        answer = connection.getresponse()
        return answer.status, answer.read()


def test_the_token_is_needed(site: Path) -> None:
    with inspected(site / "story-00.html") as server:
        path = urlsplit(server.url).path
        assert _ask(server.url, path)[0] == 200
        assert _ask(server.url, "/")[0] == 403
        assert _ask(server.url, "/guessed/")[0] == 403
        assert _ask(server.url, "/guessed/state", {}, Content_Type="application/json")[0] == 403


def test_another_host_name_is_refused_whatever_it_resolves_to(site: Path) -> None:
    with inspected(site / "story-00.html") as server:
        path = urlsplit(server.url).path
        assert _ask(server.url, path, Host="evil.example")[0] == 403
        assert _ask(server.url, path, Host=f"localhost:{urlsplit(server.url).port}")[0] == 200


def test_questions_come_from_its_own_page_as_json(site: Path) -> None:
    with inspected(site / "story-00.html") as server:
        path = urlsplit(server.url).path + "state"
        assert _ask(server.url, path, {}, Content_Type="application/json")[0] == 200
        assert _ask(server.url, path, {}, Content_Type="application/json", Origin="https://evil.example")[0] == 403
        assert _ask(server.url, path, {}, Content_Type="text/plain")[0] == 404
        assert _ask(server.url, path + "s", {}, Content_Type="application/json")[0] == 404


@pytest.mark.parametrize(
    ("what", "body"),
    [
        ("state", {"penalty": -1}),
        ("state", {"threshold": "high"}),
        ("state", {"favor": "both"}),
        ("state", {"model": "no-such-model"}),
        ("state", []),
        ("weights", {"tried": {}, "blocks": [10_000]}),
        ("gold", {"tried": {}, "marks": []}),
    ],
)
def test_bad_questions_get_a_reason(site: Path, what: str, body: Any) -> None:
    with inspected(site / "story-00.html") as server:
        status, answer = _ask(server.url, urlsplit(server.url).path + what, body, Content_Type="application/json")
        assert status == 400
        assert json.loads(answer)["error"]


def test_a_page_that_is_not_there_is_told_of(site: Path) -> None:
    with inspected(site) as server:
        assert _ask(server.url, urlsplit(server.url).path + "?page=13")[0] == 200
        status, answer = _ask(server.url, urlsplit(server.url).path + "?page=14")
        assert status == 404
        assert "no page 15" in json.loads(answer)["error"]
