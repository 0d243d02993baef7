import http.client
import json
from contextlib import closing
from typing import Any
from urllib.parse import urlsplit

import pytest

from scrapy_winnow.inspector.server import InspectorServer
from tests.scrapy_winnow.waiting import SECONDS

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
        ("state", {"penalty": -1}),
        ("state", {"threshold": "high"}),
        ("state", {"favor": "both"}),
        ("state", {"model": "no-such-model"}),
        ("state", []),
        ("weights", {"trial": {}, "blocks": [10_000]}),
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
