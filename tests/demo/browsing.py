"""A small client for the tests of the demo web: fetch, decode and parse as a crawler would."""

import http.client
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

import lxml.html
from lxml.html import HtmlElement

UNSEEN = {"script", "style", "template", "head"}


@dataclass(frozen=True, slots=True)
class Answer:
    url: str
    status: int
    headers: dict[str, str]
    body: bytes

    def charset(self) -> str | None:
        declared = re.search(r"charset=([\w-]+)", self.headers["content-type"])
        in_meta = re.search(rb"charset=\"?([\w-]+)", self.body[:1024])
        if declared:
            return declared[1]
        return in_meta[1].decode() if in_meta else None

    def tree(self) -> HtmlElement:
        text = self.body.decode(self.charset() or "utf-8")
        return lxml.html.document_fromstring(text)


def get(url: str) -> Answer:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=240)
    try:
        connection.request("GET", parts.path + (f"?{parts.query}" if parts.query else ""))
        response = connection.getresponse()
        headers = {name.lower(): value for name, value in response.getheaders()}
        return Answer(url, response.status, headers, response.read())
    finally:
        connection.close()


def text_runs(tree: HtmlElement) -> list[str]:
    """Every non-blank text and tail of the body, in document order, white space normalised."""
    runs: list[str] = []
    stack: list[tuple[HtmlElement, bool]] = [(tree.find("body"), False)]
    while stack:
        element, leaving = stack.pop()
        if leaving:
            runs.append(" ".join((element.tail or "").split()))
            continue
        stack.append((element, True))
        if isinstance(element.tag, str) and element.tag not in UNSEEN:
            runs.append(" ".join((element.text or "").split()))
            stack.extend((child, False) for child in reversed(element))
    return [run for run in runs if run]
