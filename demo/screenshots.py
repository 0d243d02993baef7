"""``make screenshots``: the pictures of the documentation, made of the demo web in a browser.

python -m demo.screenshots            docs/images, three pictures
python -m demo.screenshots --hosts    .winnow/demo/shots, an inspector for each of the six hosts as well
"""

from __future__ import annotations

import argparse
import io
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from demo.__main__ import DEFAULT_FOLDER
from demo.hosts import BUILDERS
from scrapy_winnow.inspector.documents import Documents
from scrapy_winnow.inspector.inspector import Inspector
from scrapy_winnow.inspector.replay import FolderReplay
from scrapy_winnow.inspector.server import InspectorServer

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

_IMAGES = Path("docs/images")
_SIZE = {"width": 1280, "height": 800}
_COLOURS = 160
_STORY = 20  # number of a page of the newspaper that has all there is


def main() -> int:
    """Take the pictures; the demo has to have run.

    Returns:
        The exit code: 0, or 1 where there is no demo or no browser.
    """
    parser = argparse.ArgumentParser(prog="python -m demo.screenshots", description=__doc__)
    parser.add_argument("--folder", type=Path, default=DEFAULT_FOLDER, help="folder of the demo (%(default)s)")
    parser.add_argument("--hosts", action="store_true", help="a picture of each host, too")
    options = parser.parse_args()
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    sites, report = options.folder / "web" / "sites", options.folder / "report.html"
    if program is None or not report.exists():
        sys.stderr.write("It takes `make demo` before, and Chromium, which `make chromium` installs.\n")
        return 1
    from playwright.sync_api import sync_playwright  # noqa: PLC0415

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        _IMAGES.mkdir(exist_ok=True)
        with _served(sites / "news") as server:
            tab = _opened(browser, f"{server.url}?page={_STORY}")
            _slide(tab, "seen", 40)
            tab.locator("#panel li.template").first.click()
            tab.wait_for_selector("#card .weights")
            _save(tab, _IMAGES / "inspector.png")
            tab = _opened(browser, f"{server.url}?page={_STORY}", dark=True)
            tab.click("#pin")
            _slide(tab, "threshold", 0.6)
            tab.click("#tab-Text")
            _save(tab, _IMAGES / "inspector-compare.png")
        tab = browser.new_page(viewport=_SIZE)  # type: ignore[arg-type]
        tab.goto(report.resolve().as_uri())
        _save(tab, _IMAGES / "report.png")
        if options.hosts:
            _hosts(browser, sites, options.folder / "shots")
        browser.close()
    return 0


def _hosts(browser: Browser, sites: Path, folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    for name in BUILDERS:
        with _served(sites / name) as server:
            tab = _opened(browser, f"{server.url}?page={_STORY}")
            _slide(tab, "seen", 40)
            _save(tab, folder / f"{name}.png")


def _served(folder: Path) -> InspectorServer:
    documents = Documents(str(folder))
    replay = FolderReplay(documents)
    replay.read()
    return InspectorServer(Inspector(documents, replay=replay))


def _opened(browser: Browser, url: str, *, dark: bool = False) -> Page:
    tab = browser.new_page(viewport=_SIZE, color_scheme="dark" if dark else "light")  # type: ignore[arg-type]
    tab.goto(url)
    tab.wait_for_selector("html[data-boxes]", state="attached")
    return tab


def _slide(tab: Page, control: str, value: float) -> None:
    tab.evaluate(
        "([id, value]) => { const slider = document.getElementById(id); slider.value = value;"
        " slider.dispatchEvent(new Event('input')); }",
        [control, value],
    )
    tab.wait_for_selector("html[data-answered]", state="attached")


def _save(tab: Page, path: Path) -> None:
    """Take a picture, with few colours so that it is small."""
    from PIL import Image  # noqa: PLC0415  (of matplotlib, for development only)

    tab.wait_for_timeout(300)
    with Image.open(io.BytesIO(tab.screenshot())) as picture:
        picture.convert("RGB").quantize(_COLOURS).save(path, optimize=True)
    sys.stdout.write(f"{path}  {path.stat().st_size:,} bytes\n")


if __name__ == "__main__":
    sys.exit(main())
