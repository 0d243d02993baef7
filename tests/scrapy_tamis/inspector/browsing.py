"""Inspectors that are served, tabs that look at them, and the pages of a small site."""

import http.client
import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

from playwright.sync_api import Page as Tab

from demo.screenshots import move_slider
from scrapy_tamis.inspector.documents import Documents, FolderReplay, GoldFile
from scrapy_tamis.inspector.inspector import Inspector
from scrapy_tamis.inspector.server import InspectorServer
from tests.prose import prose
from tests.scrapy_tamis.waiting import SECONDS


def story(number: int) -> str:
    """A page of the site: its menu, teasers and footer, and a story that no other page has."""
    paragraphs = "".join(
        f"<p>In report {number} the {prose(f'{number} {paragraph}', 30)}, said the council.</p>"
        for paragraph in range(5)
    )
    return f"""<!DOCTYPE html><html lang="en"><head><title>Story {number} of the harbour</title>
      <meta name="description" content="What happened {number}">
      <style>nav {{ background: #eee }}</style></head><body>
      <nav><ul><li><a href="/">Home</a></li>
      <li><a href="/weather">Weather</a></li><li><a href="/sport">Sport</a></li></ul>
      </nav>
      <article><h1>Story {number} of the harbour</h1>{paragraphs}
      <div class="box"><p>Our newsletter brings the news of the coast to your letter box on every morning of the week,
      without any advertisements. Order it now, and read the first month without paying anything at all.</p></div>
      </article>
      <footer><a href="/about">About us</a> <a href="/terms">Terms of use</a> © The Harbour News</footer></body>"""


@contextmanager
def inspected(source: Path, gold: Path | None = None) -> Iterator[InspectorServer]:
    """Serve an inspector of a file or folder."""
    documents = Documents(str(source))
    replay = FolderReplay(documents) if source.is_dir() else None
    inspector = Inspector(documents, replay=replay, gold=GoldFile(gold) if gold else None)
    with InspectorServer(inspector) as server:
        yield server


def request(url: str, path: str, body: Any = None, **headers: str) -> tuple[int, bytes]:
    """Get a path relative to an address, or post a body to it."""
    parts = urlsplit(urljoin(url, path))
    sent = {"Host": parts.netloc, "Content-Type": "application/json"}
    sent |= {name.replace("_", "-"): value for name, value in headers.items()}
    with closing(http.client.HTTPConnection(parts.netloc, timeout=SECONDS)) as connection:
        method, data = ("GET", None) if body is None else ("POST", json.dumps(body))
        connection.request(method, f"{parts.path}?{parts.query}", data, sent)
        answer = connection.getresponse()
        return answer.status, answer.read()


def opened(tab: Tab, url: str) -> None:
    """Go to an inspector and wait until the page is drawn and its sections are marked."""
    tab.goto(url)
    tab.wait_for_selector("html[data-boxes]", state="attached")


def slide(tab: Tab, control: str, value: float | str) -> None:
    """Move a slider, or choose and wait for the answer."""
    tab.evaluate("delete document.documentElement.dataset.answered")
    move_slider(tab, control, value)
